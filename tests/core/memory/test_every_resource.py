# SPDX-License-Identifier: Apache-2.0
"""Properties of memory that hold for every resource."""

import gc
import sys

import pytest
from cuda.core import (
    Buffer,
    CUDAError,
    DeviceMemoryResource,
    GraphMemoryResource,
    LegacyPinnedMemoryResource,
    ManagedMemoryResource,
    MemoryResource,
    OutOfMemoryError,
    PinnedMemoryResource,
    VirtualMemoryResource,
)
from cuda.core._memory import _SynchronousMemoryResource
from cuda.core.utils import StridedMemoryView

# name -> factory, and the driver call that allocates its memory
RESOURCES = {
    "device pool": (lambda d: DeviceMemoryResource(d, {}), "cuMemAllocFromPoolAsync"),
    "current pool": (lambda d: DeviceMemoryResource(d), "cuMemAllocFromPoolAsync"),
    "pinned": (lambda d: PinnedMemoryResource({}), "cuMemAllocFromPoolAsync"),
    "node of the host": (lambda d: PinnedMemoryResource({"numa_id": 0}), "cuMemAllocFromPoolAsync"),
    "managed": (lambda d: ManagedMemoryResource({}), "cuMemAllocFromPoolAsync"),
    "legacy pinned": (lambda d: LegacyPinnedMemoryResource(), "cuMemAllocHost"),
    "synchronous": (lambda d: _SynchronousMemoryResource(d.device_id), "cuMemAlloc"),
    "virtual": (lambda d: VirtualMemoryResource(d), "cuMemCreate"),
}
POOLS = [name for name, (_, call) in RESOURCES.items() if "Pool" in call]


@pytest.fixture(params=RESOURCES, name="name")
def resource_name(request):
    return request.param


@pytest.fixture
def resource(name, device):
    resource = RESOURCES[name][0](device)
    yield resource
    if name in POOLS:
        resource.close()


def test_a_view_has_the_resource_of_its_buffer(resource, stream):
    with resource.allocate(64, stream=stream) as buffer, buffer.resize_view(8, 8) as view:
        assert view.memory_resource is buffer.memory_resource is resource


def test_host_only_memory_belongs_to_no_device(run_python):
    code = """
import ctypes
from cuda.core import Buffer, Device
assert len(Device.get_all_devices()) > 0
for each in Device.get_all_devices():
    each.set_current()
    block = ctypes.create_string_buffer(64)
    with Buffer.from_handle(ctypes.addressof(block), 64, owner=block) as buffer:
        assert (buffer.device_id, buffer.is_host_accessible) == (-1, True)
        assert buffer.is_device_accessible is False
"""
    run_python(code, HALFWARP_EMULATOR_DEVICES="3")


def test_a_pointer_is_described_before_a_context_exists(run_python):
    code = """
import ctypes
from cuda.core import Buffer
block = ctypes.create_string_buffer(64)
buffer = Buffer.from_handle(ctypes.addressof(block), 64)
assert (buffer.is_host_accessible, buffer.is_device_accessible, buffer.device_id) == (
    True, False, -1)
from cuda.bindings import driver
error, context = driver.cuCtxGetCurrent()
assert error == 0 and int(context) == 0
"""
    run_python(code)


@pytest.mark.parametrize("name", POOLS)
def test_attributes_are_available_after_the_resource_was_closed(resource, stream):
    attributes = resource.attributes
    with resource.allocate(1 << 20, stream=stream):
        resource.close()
        assert attributes.used_mem_current >= 1 << 20
        assert attributes.reserved_mem_high >= 1 << 20


def test_zero_page_locked_bytes_have_no_address(device):
    buffer = LegacyPinnedMemoryResource().allocate(0)
    assert (buffer.handle, buffer.size, buffer.is_closed) == (0, 0, False)
    buffer.close()
    buffer.close()
    assert buffer.is_closed


class Failing(MemoryResource):
    """Memory at an invalid address; `allocate` and `deallocate` raise the given error."""

    is_device_accessible = is_host_accessible = False
    device_id = -1

    def __init__(self, error):
        self.error = error

    def allocate(self, size, *, stream=None):
        if stream is not None:
            raise self.error
        return Buffer.from_handle(4096, size, mr=self)

    def deallocate(self, ptr, size, *, stream):
        raise self.error


@pytest.mark.parametrize("kind", [KeyError, MemoryError, OutOfMemoryError, KeyboardInterrupt])
def test_exceptions_of_a_user_resource_propagate(device, stream, kind):
    error = kind("mine")
    failing = Failing(error)
    before = device.memory_resource
    device.memory_resource = failing
    try:
        for call in (device.allocate, failing.allocate):
            with pytest.raises(kind) as caught:
                call(16, stream=stream)
            assert caught.value is error
    finally:
        device.memory_resource = before


def test_exceptions_at_collection_are_reported_and_not_raised(capfd, device):
    buffer = Failing(KeyError("mine")).allocate(16)
    del buffer
    gc.collect()
    text = "Warning: mr.deallocate() failed during Buffer destruction: 'mine'"
    assert text in capfd.readouterr().err


@pytest.mark.parametrize("ordinal", ["gpu", None, 2**40, -(2**40)], ids=repr)
def test_a_wrong_ordinal_of_a_user_resource_is_named(device, ordinal):
    failing = Failing(KeyError())
    failing.is_device_accessible, failing.device_id = True, ordinal
    buffer = failing.allocate(16)
    error = OverflowError if isinstance(ordinal, int) else TypeError
    for call in (
        buffer.__dlpack_device__,
        lambda: buffer.__dlpack__(stream=-1),
        lambda: StridedMemoryView.from_buffer(buffer, (16,), itemsize=1).device_id,
    ):
        with pytest.raises(error, match=f"^device_id of the memory resource .* got {ordinal!r}"):
            call()
    with pytest.raises(KeyError):
        buffer.close()


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_exceptions_that_end_programs_end_none_at_collection(device, monkeypatch, capfd, kind):
    reported = []
    monkeypatch.setattr(sys, "unraisablehook", lambda report: reported.append(report.exc_type))
    buffer = Failing(kind(3)).allocate(16)
    del buffer
    gc.collect()
    assert reported == [kind] and capfd.readouterr().err == ""


@pytest.mark.parametrize("error", ["CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_UNKNOWN"])
def test_a_failed_allocation_has_no_lasting_effect(
    name, resource, device, stream, emulation, error
):
    kind = OutOfMemoryError if error.endswith("MEMORY") else CUDAError
    gc.collect()
    emulation.settle()
    before, free = len(emulation.leaks()), device.memory_info.free
    for _ in range(3):
        with emulation.inject(RESOURCES[name][1], error=error), pytest.raises(kind) as caught:
            resource.allocate(4096, stream=stream)
        assert RESOURCES[name][1] in str(caught.value)
    assert (len(emulation.leaks()), device.memory_info.free) == (before, free)
    with resource.allocate(4096, stream=stream) as buffer:
        if name != "virtual":
            assert buffer.size == 4096
        buffer.fill(7, stream=stream)
        stream.sync()
    stream.sync()


@pytest.mark.parametrize(
    "name", ["device pool", "current pool", "pinned", "synchronous", "virtual"]
)
def test_an_oversized_request_leaves_the_stream_usable(resource, device, stream):
    with pytest.raises(OutOfMemoryError):
        resource.allocate(1 << 46, stream=stream)
    with resource.allocate(64, stream=stream) as buffer:
        buffer.fill(1, stream=stream)
        stream.sync()


def test_a_failed_graph_allocation_leaves_the_builder_usable(device, stream, emulation):
    resource = GraphMemoryResource(device)
    builder = stream.create_graph_builder().begin_building()
    with (
        emulation.inject(
            "cuMemAllocFromPoolAsync", error="CUDA_ERROR_OUT_OF_MEMORY", optional=True
        ),
        emulation.inject("cuMemAllocAsync", error="CUDA_ERROR_OUT_OF_MEMORY", optional=True),
        pytest.raises(OutOfMemoryError),
    ):
        resource.allocate(64, stream=builder)
    resource.allocate(64, stream=builder).close(builder)
    graph = builder.end_building().complete()
    graph.launch(stream)
    stream.sync()
    graph.close()
    builder.close()


@pytest.mark.parametrize("shared", ["event", "resource", "resource.allocation_handle"])
def test_pickling_warns_about_the_fork_start_method(run_python, shared):
    code = f"""
import multiprocessing, pickle, warnings
from multiprocessing.reduction import ForkingPickler
from cuda.core import Device, DeviceMemoryResource, EventOptions
device = Device(0)
device.set_current()
stream = device.create_stream()
multiprocessing.set_start_method("fork")
resource = DeviceMemoryResource(device, {{"ipc_enabled": True}})
event = stream.record(options=EventOptions(ipc_enabled=True))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    ForkingPickler.dumps({shared})
[warning] = caught
assert "start method of multiprocessing is" in str(warning.message)
assert warning.category is UserWarning
"""
    run_python(code)


def test_a_buffer_of_a_user_resource_requires_no_device(run_python):
    """The reference required a context to free memory of the host."""
    code = """
import ctypes
from cuda.core import Buffer, MemoryResource
class Host(MemoryResource):
    is_device_accessible, is_host_accessible, device_id = False, True, -1
    def allocate(self, size, *, stream=None):
        self.block = ctypes.create_string_buffer(size)
        return Buffer.from_handle(ctypes.addressof(self.block), size, mr=self)
    def deallocate(self, ptr, size, *, stream):
        assert ptr == ctypes.addressof(self.block)
        self.block = None
resource = Host()
buffer = resource.allocate(16)
memoryview(buffer).cast("B")[0] = 3
buffer.close()
assert resource.block is None
"""
    run_python(code)
