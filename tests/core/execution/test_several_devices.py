# SPDX-License-Identifier: Apache-2.0
"""Two devices: each works in its own context, and the current one stays current."""

import pytest

START = """
import threading
from cuda.bindings import driver
from cuda.core import Device, LEGACY_DEFAULT_STREAM, Stream
first, second = Device.get_all_devices()
def current():
    return int(driver.cuCtxGetCurrent()[1])
"""

CASES = {
    "devices differ": """
assert first != second and hash(first) != hash(second) and first.uuid != second.uuid
assert (int(first), int(second)) == (0, 1)
assert first.can_access_peer(second) in (True, False)
assert first.properties is not second.properties
""",
    "the current device follows the context": """
assert Device() is first
second.set_current()
assert Device() is second
first.set_current()
assert Device() is first
""",
    "one device is initialised, the other is not": """
first.set_current()
try:
    second.create_stream()
except Exception as error:
    assert "Device 1 is not yet initialized" in str(error), error
else:
    raise AssertionError
""",
    "streams and events belong to the device that makes them": """
first.set_current(); second.set_current()
before = current()
stream, event = first.create_stream(), first.create_event()
assert stream.device is first and event.device is first
assert stream.context == first.context != second.context
assert stream.record().device is first
assert current() == before
assert Stream().device is second
""",
    "a stream waits for the stream of another device": """
first.set_current(); second.set_current()
order, gate = [], threading.Event()
one, two = first.create_stream(), second.create_stream()
one.launch_host(lambda: (gate.wait(10), order.append(1)))
two.wait(one)
two.launch_host(lambda: order.append(2))
gate.set()
two.sync()
two.wait(one.record())
assert order == [1, 2]
assert current() == int(second.context.handle)
""",
    "sync waits for its own device": """
first.set_current(); second.set_current()
gate, done = threading.Event(), []
stream = first.create_stream()
stream.launch_host(lambda: (gate.wait(10), done.append(1)))
second.sync()
assert done == []
gate.set()
first.sync()
assert done == [1]
assert current() == int(second.context.handle)
""",
    "memory of the own device": """
first.set_current(); second.set_current()
assert first.memory_info.total == first.total_memory
assert current() == int(second.context.handle)
""",
    "a context of the other device is refused": """
first.set_current(); second.set_current()
try:
    first.set_current(second.context)
except RuntimeError as error:
    assert "the provided context was created on the device with id=1" in str(error), error
else:
    raise AssertionError
assert Device() is second
assert second.set_current(second.context) is second.context
""",
    "setting a context gives the one of the other device back": """
first.set_current()
mine = first.context
second.set_current()
before = second.context
back = first.set_current(mine)
assert back == before and Device() is first
""",
    "a default stream follows the current device": """
first.set_current(); second.set_current()
assert LEGACY_DEFAULT_STREAM.device is second
assert LEGACY_DEFAULT_STREAM.record().device is second
first.set_current()
assert LEGACY_DEFAULT_STREAM.device is first
""",
    "a copy between devices needs no access": """
first.set_current(); second.set_current()
near, far = first.create_stream(), second.create_stream()
here, there = first.allocate(64, stream=near), second.allocate(64, stream=far)
for current in (first, second):
    for stream in (near, far):
        for source, target in ((here, there), (there, here)):
            current.set_current()
            here.fill(17, stream=near); there.fill(42, stream=far)
            near.sync(); far.sync()
            source.copy_to(target, stream=stream)
            stream.sync()
            seen = bytearray(64)
            target.copy_to(seen, stream=near if target is here else far)
            (near if target is here else far).sync()
            assert set(seen) == {17 if source is here else 42}, (current, stream, seen)
""",
    "memory is copied in its stream while the other device is current": """
first.set_current(); second.set_current()
stream = first.create_stream()
memory, seen = first.allocate(64, stream=stream), bytearray(64)
assert Device() is second
memory.copy_from(bytes(range(64)), stream=stream)
memory.copy_to(seen, stream=stream)
stream.sync()
assert seen == bytes(range(64))
assert Device() is second
""",
    "memory is copied through a stream of the other device": """
from cuda.core import PinnedMemoryResource
first.set_current(); second.set_current()
mine, other = second.create_stream(), first.create_stream()
memory, again = (second.allocate(64, stream=mine) for _ in range(2))
page_locked, seen = PinnedMemoryResource().allocate(64, stream=mine), bytearray(64)
mine.sync()
for device in first, second:
    device.set_current()
    memory.copy_from(bytes(range(64)), stream=other)
    again.copy_from(memory, stream=other)
    again.copy_to(page_locked, stream=other)
    again.copy_to(seen, stream=other)
    other.sync()
    assert seen == memoryview(page_locked).tobytes() == bytes(range(64))
    assert Device() is device
""",
    "a captured copy between devices needs access": """
from cuda.core import CUDAError, DeviceMemoryResource
first.set_current(); second.set_current()
stream = first.create_stream()
pool = DeviceMemoryResource(second, {})
here, there = first.allocate(64, stream=stream), pool.allocate(64, stream=second.create_stream())
def begin():
    return stream.create_graph_builder().begin_building()
builder = begin()
try:
    here.copy_to(there, stream=builder)
except CUDAError as error:
    assert "peer_accessible_by.add(0)" in error.__notes__[-1], error.__notes__
else:
    raise AssertionError
here.fill(5, stream=builder)  # the capture goes on
builder.end_building().complete().launch(stream)
pool.peer_accessible_by.add(first)
builder = begin()
here.copy_to(there, stream=builder)
builder.end_building().complete().launch(stream)
stream.sync()
seen = bytearray(64)
there.copy_to(seen, stream=stream)
stream.sync()
assert set(seen) == {5}
there.close()
""",
    "a fill of memory without access says whose it is": """
first.set_current(); second.set_current()
mine, order = second.create_stream(), first.create_stream()
memory = second.allocate(64, stream=mine)
try:
    memory.fill(0, stream=order)
except Exception as error:
    told = "\\n".join([str(error), *error.__notes__])
    assert "belongs to device 1, the stream to device 0" in told, told
    assert "peer_accessible_by.add(0)" in told, told
else:
    raise AssertionError
""",
    "each thread has both": """
seen = []
thread = threading.Thread(target=lambda: seen.extend(Device.get_all_devices()))
thread.start(); thread.join()
assert seen == [first, second] and seen[0] is not first
""",
}

# A block of 1024 threads fills a processor of 7.5, and half of one of 9.0.
LIMIT_OF_THE_STREAMS_DEVICE = """
from cuda.core import LaunchConfig, ObjectCode, launch
assert second.properties.max_threads_per_multiprocessor == 1024
assert first.properties.max_threads_per_multiprocessor == 2048
ptx = b".version 8.0\\n.target sm_75\\n.address_size 64\\n.visible .entry k() { ret; }"
kernel = ObjectCode.from_ptx(ptx).get_kernel("k")
first.set_current(); second.set_current()
streams = {1: second.create_stream(), 2: first.create_stream()}
for current in (first, second):
    current.set_current()
    for blocks, stream in streams.items():
        limit = blocks * stream.device.properties.multiprocessor_count
        launch(stream, LaunchConfig(grid=limit, block=1024, is_cooperative=True), kernel)
        try:
            launch(stream, LaunchConfig(grid=limit + 1, block=1024, is_cooperative=True), kernel)
        except ValueError as error:
            assert f"exceeds the limit of {limit} blocks" in str(error), error
        else:
            raise AssertionError(f"{limit + 1} blocks were taken")
"""


def test_a_cooperative_grid_is_limited_by_the_device_of_its_stream(run_python):
    """Whichever device is current, and unlike the other one."""
    emulated = {"HALFWARP_EMULATOR_DEVICES": "2", "HALFWARP_EMULATOR_CC": "9.0,7.5"}
    run_python(START + LIMIT_OF_THE_STREAMS_DEVICE, HALFWARP_BACKEND="emulator", **emulated)


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_two_devices(run_python, two_devices, code):
    run_python(START + code, **two_devices)
