# SPDX-License-Identifier: Apache-2.0
"""A device that is reset under live objects: objects of the old context are not freed again."""

import pytest

# Live objects at the reset of the device. Each runs in its own process, since a driver may crash on
# a double free.
HOLDERS = {
    "stream": "device.create_stream()",
    "event": "device.create_stream().record()",
    "pool buffer": "device.allocate(64, stream=device.create_stream())",
    "buffer of a default stream": "device.allocate(64, stream=device.default_stream)",
    "buffer of an own pool": "DeviceMemoryResource(device, {}).allocate(64, stream=stream)",
    "own pool": "DeviceMemoryResource(device, {})",
    "shared pool": "DeviceMemoryResource(device, {'ipc_enabled': True})",
    "shared buffer": "shared()",
    "shared event": "stream.record(options={'ipc_enabled': True})",
    "buffer of pinned memory": "PinnedMemoryResource({}).allocate(64, stream=stream)",
    "buffer of managed memory": "ManagedMemoryResource({}).allocate(64, stream=stream)",
    "pinned buffer": "LegacyPinnedMemoryResource().allocate(64)",
    "buffer without a pool": "_SynchronousMemoryResource(0).allocate(64, stream=stream)",
    "kernel": "ObjectCode.from_ptx(PTX).get_kernel('k')",
    "context": "device.context",
    "array": "device.create_opaque_array(ARRAY)",
    "mipmapped array": "device.create_mipmapped_array(ARRAY | {'num_levels': 1})",
    "level": "device.create_mipmapped_array(ARRAY | {'num_levels': 1}).get_level(0)",
    "texture": "device.create_texture_object(resource=OF(), options=None)",
    "surface": "device.create_surface_object(resource=OF())",
}
START = """
import gc
from cuda.bindings import driver, runtime
from cuda.core import (
    Device, DeviceMemoryResource, LegacyPinnedMemoryResource, ManagedMemoryResource, ObjectCode,
    PinnedMemoryResource)
from cuda.core._memory import _SynchronousMemoryResource
from cuda.core.texture import ResourceDescriptor
ARRAY = {"shape": (4,), "format": "uint8", "num_channels": 1, "is_surface_load_store": True}
OF = lambda: ResourceDescriptor.from_opaque_array(device.create_opaque_array(ARRAY))
PTX = b".version 8.0\\n.target sm_75\\n.address_size 64\\n.visible .entry k() { ret; }"
device = Device(0)
device.set_current()
stream = device.create_stream()
def shared():
    buffer = DeviceMemoryResource(device, {'ipc_enabled': True}).allocate(64, stream=stream)
    assert buffer.ipc_descriptor.size == 64
    return buffer
held = %s
stream.sync()
%s
"""
RESETS = {
    "driver": "assert driver.cuDevicePrimaryCtxReset(0)[0] == 0",
    "runtime": "assert runtime.cudaDeviceReset()[0] == 0",
}
ANEW = """
assert driver.cuCtxSetCurrent(driver.cuDevicePrimaryCtxRetain(0)[1])[0] == 0
other = driver.cuStreamCreate(1)[1]
"""
ENDS = {
    # A new context is current at the address of the old one, and cannot be closed while current.
    "close": "driver.cuCtxSetCurrent(None); held.close() if hasattr(held, 'close') else None",
    "collection": "del held, stream; gc.collect()",
    "exit": "",
}


# Objects created after a reset. Each is destroyed, and none may remain.
MADE_LATER = {
    "stream": "device.create_stream().close()",
    "event": "device.create_event().close()",
    "recorded event": "s = device.create_stream(); s.record().close(); s.close()",
    "event of a default stream": "device.default_stream.record().close()",
    "pool buffer": "device.allocate(64, stream=device.default_stream).close()",
    "per-thread order": "device.allocate(64, stream=Stream._per_thread_default()).close()",
    "pinned buffer": "LegacyPinnedMemoryResource().allocate(64).close()",
    "buffer without a pool": "_SynchronousMemoryResource(0).allocate(64, stream=S()).close()",
    "record that fails": "fails(stream.record)",
}
COUNT_AFTER = """
from cuda.core import CUDAError, Stream, emulation
S = lambda: device.default_stream
def fails(call):
    try:
        call()
    except CUDAError:
        return
    raise AssertionError("a stream of a destroyed context was usable")
device.set_current()
before = {(each.kind, each.id) for each in emulation.leaks()}
%s
gc.collect()
emulation.settle()
print([each for each in emulation.leaks() if (each.kind, each.id) not in before])
"""


class TestReset:
    @pytest.mark.parametrize("reset", RESETS.values(), ids=RESETS)
    def test_a_device_can_be_made_current_again(self, run_python, reset):
        text = START % ("None", reset) + "device.set_current(); device.create_stream().sync()"
        run_python(text)

    @pytest.mark.parametrize("reset", RESETS.values(), ids=RESETS)
    @pytest.mark.parametrize("make", MADE_LATER.values(), ids=MADE_LATER)
    def test_objects_created_afterwards_are_destroyed(self, run_python, emulation, make, reset):
        """The new context has the address of the destroyed one, but is a different context."""
        text = START % ("None", reset) + COUNT_AFTER % make
        allowed = ["destroyed-handle", "  hint: "]
        assert run_python(text, allowed=allowed) == "[]\n"

    @pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
    @pytest.mark.parametrize("restart", ["", ANEW], ids=["inactive", "made anew"])
    @pytest.mark.parametrize("reset", RESETS.values(), ids=RESETS)
    @pytest.mark.parametrize("make", HOLDERS.values(), ids=HOLDERS)
    def test_objects_of_the_old_context_are_destroyed_silently(
        self, run_python, make, reset, restart, end
    ):
        """The emulator would report a use of a destroyed handle on stderr."""
        run_python(START % (make, reset) + restart + end)

    def test_memory_of_a_pool_outlives_the_context_and_is_freed_later(self, run_python):
        code = """
pool = device.memory_resource
used = pool.attributes.used_mem_current
held.close()
assert pool.attributes.used_mem_current == used
"""
        later = """
new_device = Device(0)
later = new_device.allocate(1 << 20, stream=new_device.create_stream())
later.close()
assert driver.cuCtxSynchronize()[0] == 0
print(pool.attributes.used_mem_current)
"""
        make = "device.allocate(1 << 20, stream=device.create_stream())"
        text = START % (make, RESETS["driver"]) + code + ANEW + later
        assert run_python(text) == "0\n"
