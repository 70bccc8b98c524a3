# SPDX-License-Identifier: Apache-2.0
"""Two devices: each works in its own context, and the current device stays current."""

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
    "one device is initialized, the other is not": """
first.set_current()
try:
    second.create_stream()
except Exception as error:
    assert "Device 1 is not yet initialized" in str(error), error
else:
    raise AssertionError
""",
    "streams and events belong to the device that creates them": """
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
producer, consumer = first.create_stream(), second.create_stream()
producer.launch_host(lambda: (gate.wait(60), order.append(1)))
consumer.wait(producer)
consumer.launch_host(lambda: order.append(2))
gate.set()
consumer.sync()
consumer.wait(producer.record())
assert order == [1, 2]
assert current() == int(second.context.handle)
""",
    "sync waits for its own device": """
first.set_current(); second.set_current()
gate, done = threading.Event(), []
stream = first.create_stream()
stream.launch_host(lambda: (gate.wait(60), done.append(1)))
second.sync()
assert done == []
gate.set()
first.sync()
assert done == [1]
assert current() == int(second.context.handle)
""",
    "memory of a device that is not current": """
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
    "setting a context returns the previous one of the other device": """
first.set_current()
first_context = first.context
second.set_current()
before = second.context
previous = first.set_current(first_context)
assert previous == before and Device() is first
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
near_memory, far_memory = first.allocate(64, stream=near), second.allocate(64, stream=far)
for current in (first, second):
    for stream in (near, far):
        for source, target in ((near_memory, far_memory), (far_memory, near_memory)):
            current.set_current()
            near_memory.fill(17, stream=near); far_memory.fill(42, stream=far)
            near.sync(); far.sync()
            source.copy_to(target, stream=stream)
            stream.sync()
            content = bytearray(64)
            target.copy_to(content, stream=near if target is near_memory else far)
            (near if target is near_memory else far).sync()
            assert set(content) == {17 if source is near_memory else 42}, (current, stream, content)
""",
    "memory is copied in its stream while the other device is current": """
first.set_current(); second.set_current()
stream = first.create_stream()
memory, content = first.allocate(64, stream=stream), bytearray(64)
assert Device() is second
memory.copy_from(bytes(range(64)), stream=stream)
memory.copy_to(content, stream=stream)
stream.sync()
assert content == bytes(range(64))
assert Device() is second
""",
    "memory is copied through a stream of the other device": """
from cuda.core import PinnedMemoryResource
first.set_current(); second.set_current()
own_stream, other_stream = second.create_stream(), first.create_stream()
memory, duplicate = (second.allocate(64, stream=own_stream) for _ in range(2))
page_locked, content = PinnedMemoryResource().allocate(64, stream=own_stream), bytearray(64)
own_stream.sync()
for device in first, second:
    device.set_current()
    memory.copy_from(bytes(range(64)), stream=other_stream)
    duplicate.copy_from(memory, stream=other_stream)
    duplicate.copy_to(page_locked, stream=other_stream)
    duplicate.copy_to(content, stream=other_stream)
    other_stream.sync()
    assert content == memoryview(page_locked).tobytes() == bytes(range(64))
    assert Device() is device
""",
    "a captured copy between devices needs access": """
from cuda.core import CUDAError, DeviceMemoryResource
first.set_current(); second.set_current()
stream = first.create_stream()
pool = DeviceMemoryResource(second, {})
source, target = first.allocate(64, stream=stream), pool.allocate(64, stream=second.create_stream())
def begin():
    return stream.create_graph_builder().begin_building()
builder = begin()
try:
    source.copy_to(target, stream=builder)
except CUDAError as error:
    assert "peer_accessible_by.add(0)" in error.__notes__[-1], error.__notes__
else:
    raise AssertionError
source.fill(5, stream=builder)  # the capture continues
builder.end_building().complete().launch(stream)
pool.peer_accessible_by.add(first)
builder = begin()
source.copy_to(target, stream=builder)
builder.end_building().complete().launch(stream)
stream.sync()
content = bytearray(64)
target.copy_to(content, stream=stream)
stream.sync()
assert set(content) == {5}
target.close()
""",
    "a fill of memory without access names its device": """
first.set_current(); second.set_current()
own_stream, other_stream = second.create_stream(), first.create_stream()
memory = second.allocate(64, stream=own_stream)
try:
    memory.fill(0, stream=other_stream)
except Exception as error:
    message = "\\n".join([str(error), *error.__notes__])
    assert "belongs to device 1, the stream to device 0" in message, message
    assert "peer_accessible_by.add(0)" in message, message
else:
    raise AssertionError
""",
    "each thread has both devices": """
devices = []
thread = threading.Thread(target=lambda: devices.extend(Device.get_all_devices()))
thread.start(); thread.join()
assert devices == [first, second] and devices[0] is not first
""",
}

# A block of 1024 threads fills a multiprocessor of 7.5, and half of a multiprocessor of 9.0.
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
            raise AssertionError(f"{limit + 1} blocks were accepted")
"""


def test_a_cooperative_grid_is_limited_by_the_device_of_its_stream(run_python):
    """The limit does not depend on the current device."""
    emulated = {"HALFWARP_EMULATOR_DEVICES": "2", "HALFWARP_EMULATOR_CC": "9.0,7.5"}
    run_python(START + LIMIT_OF_THE_STREAMS_DEVICE, HALFWARP_BACKEND="emulator", **emulated)


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_two_devices(run_python, two_devices, code):
    run_python(START + code, **two_devices)
