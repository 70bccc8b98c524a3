# SPDX-License-Identifier: Apache-2.0
"""Pools and buffers that two processes use: both see the same bytes, and nothing leaks."""

import gc
import multiprocessing
import os
import pickle
import socket
import uuid
from multiprocessing import reduction

import pytest
from cuda.core import Buffer, CUDAError, DeviceMemoryResource, PinnedMemoryResource
from cuda.core._memory._ipc import IPCAllocationHandle, IPCBufferDescriptor

from .peers import PeerError, added, content_of, open_files

pytestmark = pytest.mark.filterwarnings("ignore:the start method:UserWarning")

CLOSE = "buffer.close(stream); stream.sync(); resource.close(); del buffer, resource"


def test_both_processes_read_what_either_writes(peer, resource, buffer, stream):
    content = peer.run("result = content_of(buffer, stream)", resource=resource, buffer=buffer)
    assert content == b"\7" * 1000
    peer.run("buffer.fill(9, stream=stream); stream.sync()")
    assert content_of(buffer, stream) == b"\x09" * 1000
    peer.run(CLOSE)


def test_the_host_reads_pinned_memory_of_another_process(peer, device, stream):
    with PinnedMemoryResource({"ipc_enabled": True}).allocate(64, stream=stream) as buffer:
        stream.sync()
        memoryview(buffer).cast("B")[:] = bytes(range(64))
        source = "stream.sync(); view = memoryview(buffer).cast('B'); result = bytes(view)"
        assert peer.run(source, buffer=buffer) == bytes(range(64))
        peer.run(
            "view[0] = 99; view.release(); buffer.close(stream); stream.sync(); del buffer, view"
        )
        assert memoryview(buffer).cast("B")[0] == 99
        buffer.memory_resource.close()


def test_an_imported_buffer_has_the_imported_resource(peer, resource, buffer):
    source = """
result = (resource.is_mapped, resource.is_ipc_enabled, resource.is_handle_owned, resource.uuid,
          resource.device_id, buffer.is_mapped, buffer.size, buffer.memory_resource is resource,
          buffer.owner, "is_mapped=True" in repr(buffer))
"""
    facts = peer.run(source, resource=resource, buffer=buffer)
    device_id = resource.device_id
    assert facts == (True, True, True, resource.uuid, device_id, True, 1000, True, None, True)
    assert (resource.is_mapped, buffer.is_mapped) == (False, False)
    assert "is_mapped" not in repr(buffer)
    peer.run(CLOSE)


PROPERTIES = """
from cuda.bindings import driver

names = ("ALLOCATION_TYPE", "LOCATION_TYPE", "LOCATION_ID")
attributes = [driver.CUmemPool_attribute[f"CU_MEMPOOL_ATTR_{name}"] for name in names]
results = [driver.cuMemPoolGetAttribute(resource.handle, each) for each in attributes]
result = [(int(code), value if value is None else int(value)) for code, value in results]
"""


def test_an_imported_pool_reports_its_location(peer, resource):
    objects = {"resource": resource}
    exec(PROPERTIES, objects)
    assert peer.run(PROPERTIES, resource=resource) == objects["result"]
    peer.run("resource.close(); del resource")


def test_an_imported_resource_refuses_to_allocate(peer, resource):
    for size in (10, 0):
        with pytest.raises(PeerError, match="Cannot allocate from a mapped IPC-enabled memory"):
            peer.run(f"resource.allocate({size}, stream=stream)", resource=resource)
    peer.run("resource.close(); del resource")


def test_a_second_import_has_the_same_address(peer, resource, buffer, stream):
    source = """
from cuda.core import Buffer
second = Buffer.from_ipc_descriptor(resource, descriptor, stream=stream)
result = second.handle == buffer.handle and second == buffer and second.ipc_descriptor == descriptor
buffer.close(stream)
stream.sync()
result = result and content_of(second, stream) == bytes([7]) * 1000
second.close(stream); stream.sync(); resource.close(); del second, buffer, resource
"""
    objects = {"resource": resource, "buffer": buffer, "descriptor": buffer.ipc_descriptor}
    assert peer.run(source, **objects)


def test_memory_is_unmapped_after_the_last_of_several_streams(peer, resource, buffer):
    source = """
from cuda.core import Buffer
other = device.create_stream()
second = Buffer.from_ipc_descriptor(resource, descriptor, stream=other)
second.fill(5, stream=other)
second.close()
buffer.fill(6, stream=stream)
buffer.close(stream); stream.sync(); other.close(); resource.close()
del buffer, second, other, resource
"""
    peer.run(source, resource=resource, buffer=buffer, descriptor=buffer.ipc_descriptor)


AGAIN = """
from cuda.core import Buffer, CUDAError, emulation
buffer.close(stream)
stream.sync()
answer = "imported"
with emulation.inject(
    "cuMemPoolImportPointer", times=times, error="CUDA_ERROR_ALREADY_MAPPED"
) as rule:
    try:
        Buffer.from_ipc_descriptor(resource, descriptor, stream=stream).close(stream)
    except CUDAError as error:
        answer = error.name
result = answer, rule.hits
stream.sync()
resource.close()
del buffer, resource
"""


@pytest.mark.parametrize(
    ("times", "answer"), [(3, "imported"), (63, "imported"), (65, "CUDA_ERROR_ALREADY_MAPPED")]
)
def test_an_import_is_tried_64_times_while_the_memory_is_mapped(
    peer, emulation, resource, buffer, times, answer
):
    objects = {"resource": resource, "buffer": buffer, "descriptor": buffer.ipc_descriptor}
    assert peer.run(AGAIN, **objects, times=times) == (answer, min(times, 64))


LAST_FREE = """
from cuda.core import Buffer, CUDAError, emulation
streams = [device.create_stream() for _ in range(count)]
for each in [*streams, *streams]:
    Buffer.from_ipc_descriptor(resource, descriptor, stream=each).close(each)
result = None
with emulation.inject(
    "cuStreamWaitEvent", nth=nth, error="CUDA_ERROR_UNKNOWN", optional=True
):
    try:
        buffer.close(stream)
    except CUDAError as error:
        result = error.where
stream.sync()
for each in streams:
    each.close()
resource.close()
del buffer, resource, each, streams
"""


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("is_further", [False, True])
def test_the_last_free_waits_once_for_each_stream_of_the_earlier_ones(
    peer, emulation, resource, buffer, count, is_further
):
    objects = {"resource": resource, "buffer": buffer, "descriptor": buffer.ipc_descriptor}
    refused = peer.run(LAST_FREE, count=count, nth=count + is_further, **objects)
    assert refused == (None if is_further else "cuStreamWaitEvent")


def test_a_buffer_sent_back_refers_to_the_same_memory(peer, resource, buffer, stream):
    back = peer.run("result = buffer", resource=resource, buffer=buffer)
    assert back == buffer
    assert not back.is_mapped
    assert back.memory_resource is resource
    peer.run(CLOSE.replace("del", "result = None; del"))
    buffer.close()
    assert content_of(back, stream) == b"\7" * 1000
    back.close()


def test_a_resource_sent_back_is_the_same_object(peer, resource):
    assert peer.run("result = resource", resource=resource) is resource
    peer.run("result = None; resource.close(); del resource")


def test_a_third_process_imports_from_the_second(peer, new_peer, resource, buffer):
    third = new_peer()
    handle, descriptor = peer.run(
        "result = resource.allocation_handle, buffer.ipc_descriptor",
        resource=resource,
        buffer=buffer,
    )
    source = f"""
from cuda.core import Buffer, {type(resource).__name__} as Resource
device_args = (device,) if {resource.device_id >= 0} else ()
resource = Resource.from_allocation_handle(*device_args, handle)
handle.close()
buffer = Buffer.from_ipc_descriptor(resource, descriptor, stream=stream)
result = content_of(buffer, stream)
{CLOSE}
"""
    assert third.run(source, handle=handle, descriptor=descriptor) == b"\7" * 1000
    handle.close()
    peer.run(CLOSE)
    assert third.end() == 0


def test_a_descriptor_sent_over_a_socket_is_sufficient(peer, resource, buffer):
    local_socket, remote_socket = socket.socketpair(socket.AF_UNIX)
    with local_socket, remote_socket:
        source = f"""
import socket
from cuda.core import Buffer, {type(resource).__name__} as Resource
_, [descriptor], _, _ = socket.recv_fds(theirs, 1, 1)
device_args = (device,) if {resource.device_id >= 0} else ()
resource = Resource.from_allocation_handle(*device_args, descriptor)
first = resource.uuid, resource.is_mapped
same = resource.register(uuid) is resource and Resource.from_registry(uuid) is resource
import os
os.close(descriptor)
buffer = Buffer.from_ipc_descriptor(resource, named, stream=stream)
result = first, same, content_of(buffer, stream)
theirs.close()
{CLOSE}; del theirs
"""
        socket.send_fds(local_socket, [b"x"], [int(resource.allocation_handle)])
        first, same, content = peer.run(
            source, theirs=remote_socket, named=buffer.ipc_descriptor, uuid=resource.uuid
        )
    assert (first, same, content) == ((None, True), True, b"\7" * 1000)


def test_buffers_outlive_their_resources_on_both_sides(peer, device, stream):
    resource = DeviceMemoryResource(device, {"ipc_enabled": True})
    buffer = resource.allocate(16, stream=stream)
    buffer.fill(3, stream=stream)
    stream.sync()
    peer.run("resource.close()", resource=resource, buffer=buffer)
    resource.close()
    assert peer.run("result = content_of(buffer, stream), buffer.is_mapped") == (b"\3" * 16, True)
    peer.run("buffer.close(stream); stream.sync(); del buffer, resource")
    assert content_of(buffer, stream) == b"\3" * 16
    buffer.close()


def test_a_view_of_a_buffer_is_shared_from_its_start(peer, resource, buffer, stream):
    with buffer.resize_view(0, 10) as part:
        assert peer.run("result = part.size", part=part) == 10
        peer.run("part.close(stream); stream.sync(); del part")
    with (
        buffer.resize_view(4, 10) as inner,
        pytest.raises(ValueError, match="begins inside an allocation"),
    ):
        _ = inner.ipc_descriptor


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_process_pool_imports_the_resource_once(method, device, stream):
    """The workers import two buffers of one pool, and send one back."""
    with multiprocessing.get_context(method).Pool(2) as pool:
        resource = DeviceMemoryResource(device, {"ipc_enabled": True})
        buffers = [resource.allocate(8, stream=stream) for _ in range(4)]
        for number, each in enumerate(buffers):
            each.fill(number, stream=stream)
        stream.sync()
        contents = pool.starmap(read_both, zip(buffers[:2], buffers[2:], strict=True))
        assert contents == [(b"\0" * 8, b"\2" * 8, True), (b"\1" * 8, b"\3" * 8, True)]
        pool.close()
        pool.join()
    for each in buffers:
        each.close()
    resource.close()


def read_both(first, second):
    from cuda.core import Device

    device = Device(0)
    device.set_current()
    with device.create_stream() as stream:
        is_once = first.memory_resource is second.memory_resource
        result = content_of(first, stream), content_of(second, stream), is_once
        first.close(stream)
        second.close(stream)
        stream.sync()
    return result


class Nested:
    """An argument that pickles its content by itself, so that pickle cannot merge the content."""

    def __init__(self, content):
        self.content = content

    def __reduce__(self):
        return pickle.loads, (bytes(reduction.ForkingPickler.dumps(self.content)),)


def import_all(pipe, arguments):
    from cuda.core import Device

    device = Device(0)
    device.set_current()
    handles = [each for each in arguments if isinstance(each, IPCAllocationHandle)]
    kind = type(next(each for each in arguments if hasattr(each, "is_ipc_enabled")))
    for handle in handles:
        place = (handle,) if kind is PinnedMemoryResource else (device, handle)
        kind.from_allocation_handle(*place)
        handle.close()
    pipe.send([each.is_closed for each in arguments])


COMBINATIONS = {
    "a handle and its resource": lambda pool, buffer: (pool.allocation_handle, pool),
    "a resource and its handle": lambda pool, buffer: (pool, pool.allocation_handle),
    "a handle, its resource and a buffer": lambda pool, buffer: (
        pool.allocation_handle,
        pool,
        buffer,
    ),
    "separate pickles": lambda pool, buffer: (
        Nested(pool.allocation_handle),
        pool,
        Nested(pool),
        Nested(buffer),
        pool.allocation_handle,
    ),
}


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
@pytest.mark.parametrize("combination", COMBINATIONS)
def test_a_new_process_receives_a_handle_and_its_resource(method, combination, resource, buffer):
    context = multiprocessing.get_context(method)
    arguments = COMBINATIONS[combination](resource, buffer)
    path = os.readlink(f"/proc/self/fd/{int(resource.allocation_handle)}")
    count = open_files().count(path)
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=import_all, args=(sender, arguments))
    process.start()
    sender.close()
    is_closed = receiver.recv()
    process.join()
    receiver.close()
    assert process.exitcode == 0
    assert is_closed == [
        isinstance(each, IPCAllocationHandle) for each in map(content_or, arguments)
    ]
    del process
    gc.collect()
    assert open_files().count(path) == count


def content_or(argument):
    return argument.content if isinstance(argument, Nested) else argument


def test_no_descriptor_is_left_open(peer, device, stream):
    def once():
        resource = DeviceMemoryResource(device, {"ipc_enabled": True})
        with resource.allocate(64, stream=stream) as buffer:
            peer.run(CLOSE, resource=resource, buffer=buffer)
        resource.close()
        stream.sync()

    once()
    gc.collect()  # left by earlier tests
    before, peer_files = open_files(), peer.run("import gc; gc.collect(); result = open_files()")
    for _ in range(20):
        once()
    gc.collect()
    assert added(before, open_files()) == []
    assert added(peer_files, peer.run("import gc; gc.collect(); result = open_files()")) == []


def is_open(descriptor):
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def test_a_handle_owns_its_descriptor(resource):
    handle = resource.allocation_handle
    assert resource.allocation_handle is handle
    assert (handle.handle, handle.uuid, handle.is_closed) == (int(handle), resource.uuid, False)
    number = int(handle)
    assert is_open(number)
    handle.close()
    handle.close()
    assert (handle.handle, handle.is_closed, handle.uuid) == (-1, True, resource.uuid)
    assert not is_open(number)
    with pytest.raises(ValueError, match="Cannot convert IPCAllocationHandle to int.*is closed"):
        int(handle)
    new_handle = resource.allocation_handle
    assert not new_handle.is_closed
    del handle, new_handle
    number = int(resource.allocation_handle)
    resource.close()
    assert not is_open(number)


def test_plain_pickles_name_registered_objects(resource, buffer, stream):
    assert pickle.loads(pickle.dumps(resource)) is resource
    unpickled = pickle.loads(pickle.dumps(buffer))
    assert unpickled == buffer
    unpickled.close()
    assert content_of(buffer, stream) == b"\7" * 1000
    descriptor = buffer.ipc_descriptor
    assert buffer.ipc_descriptor is descriptor
    assert descriptor.size == 1000
    assert pickle.loads(pickle.dumps(descriptor)) == descriptor
    assert hash(pickle.loads(pickle.dumps(descriptor))) == hash(descriptor)


class TestRegistry:
    def test_a_registered_resource_is_found(self, resource):
        cls = type(resource)
        assert cls.from_registry(resource.uuid) is resource
        assert resource.register(resource.uuid) is resource

    def test_an_unknown_resource_is_not_found(self, resource):
        unknown = uuid.uuid4()
        with pytest.raises(RuntimeError, match=f"Memory resource {unknown} was not found"):
            type(resource).from_registry(unknown)

    def test_a_closed_resource_is_not_found(self, resource):
        identity = resource.uuid
        resource.close()
        assert resource.uuid is None
        with pytest.raises(RuntimeError, match="was not found"):
            type(resource).from_registry(identity)
        with pytest.raises(RuntimeError, match="has been closed"):
            resource.register(identity)

    def test_a_collected_resource_is_not_found(self, device):
        resource = DeviceMemoryResource(device, {"ipc_enabled": True})
        identity = resource.uuid
        del resource
        gc.collect()
        with pytest.raises(RuntimeError, match="was not found"):
            DeviceMemoryResource.from_registry(identity)

    def test_another_class_is_refused(self, device, resource):
        other = {DeviceMemoryResource: PinnedMemoryResource}.get(
            type(resource), DeviceMemoryResource
        )
        text = f"Registry contains a {type(resource).__name__} for uuid .* {other.__name__} was"
        with pytest.raises(TypeError, match=text):
            other.from_registry(resource.uuid)
        device_args = (device,) if other is DeviceMemoryResource else ()
        with pytest.raises(TypeError, match=text):
            other.from_allocation_handle(*device_args, resource.allocation_handle)

    def test_a_second_identity_is_refused(self, resource):
        own = resource.uuid
        with pytest.raises(ValueError, match=f"already has the uuid {own}"):
            resource.register(uuid.uuid4())
        with pytest.raises(TypeError, match=r"uuid must be a uuid\.UUID, got str"):
            resource.register("x")


class TestWrongCalls:
    def test_objects_that_are_not_shared(self, device, stream):
        resource = DeviceMemoryResource(device)
        assert resource.uuid is None
        text = "Memory resource is not IPC-enabled"
        with resource.allocate(8, stream=stream) as buffer:
            for wrong in (
                lambda: resource.allocation_handle,
                lambda: resource.register(uuid.uuid4()),
                lambda: pickle.dumps(resource),
                lambda: buffer.ipc_descriptor,
                lambda: pickle.dumps(buffer),
                lambda: Buffer.from_ipc_descriptor(
                    resource, IPCBufferDescriptor._init(bytes(64), 8), stream=stream
                ),
            ):
                with pytest.raises(RuntimeError, match=text):
                    wrong()
        with pytest.raises(RuntimeError, match=text):
            _ = Buffer.from_handle(1, 1, owner=object()).ipc_descriptor

    def test_classes_cannot_be_called(self):
        for cls in (IPCAllocationHandle, IPCBufferDescriptor):
            with pytest.raises(RuntimeError, match="cannot be instantiated directly"):
                cls()

    def test_arguments_of_other_types(self, resource, buffer, stream):
        descriptor = buffer.ipc_descriptor
        with pytest.raises(TypeError, match="Argument 'ipc_descriptor' has incorrect type"):
            Buffer.from_ipc_descriptor(resource, b"x", stream=stream)
        with pytest.raises(TypeError, match="Cannot convert int to a memory resource"):
            Buffer.from_ipc_descriptor(5, descriptor, stream=stream)
        with pytest.raises(TypeError, match="stream is required"):
            Buffer.from_ipc_descriptor(resource, descriptor, stream=None)
        for reserved, size in (("x", 1), (b"x", "1")):
            with pytest.raises(TypeError):
                IPCBufferDescriptor._init(reserved, size)
        with pytest.raises(ValueError, match=r"\(fd\) -1: must be non-negative"):
            IPCAllocationHandle._init(-1, None)
        with pytest.raises(TypeError, match="expected int, got str"):
            IPCAllocationHandle._init("x", None)

    def test_the_stream_can_be_omitted_or_positional(self, resource, buffer, stream):
        descriptor = buffer.ipc_descriptor
        with Buffer.from_ipc_descriptor(resource, descriptor, stream) as positional:
            assert positional == buffer
        with (
            pytest.warns(DeprecationWarning, match="without a stream"),
            Buffer.from_ipc_descriptor(resource, descriptor) as without,
        ):
            assert without == buffer

    def test_a_short_descriptor(self, resource, stream):
        short = IPCBufferDescriptor._init(b"x", 3)
        with pytest.raises(ValueError, match="payload is 1 bytes; expected at least 64"):
            Buffer.from_ipc_descriptor(resource, short, stream=stream)

    def test_more_bytes_than_the_allocation(self, peer, resource, buffer, stream):
        payload = pickle.loads(pickle.dumps(buffer.ipc_descriptor)).__reduce__()[1][0]
        longer = IPCBufferDescriptor._init(payload, 1 << 40)
        text = r"descriptor size \(1099511627776\) exceeds mapped allocation extent"
        with pytest.raises(ValueError, match=text):
            Buffer.from_ipc_descriptor(resource, longer, stream=stream)
        source = """
from cuda.core import Buffer
Buffer.from_ipc_descriptor(resource, longer, stream=stream)
"""
        with pytest.raises(PeerError, match=text):
            peer.run(source, resource=resource, longer=longer)
        peer.run("resource.close(); del resource")

    def test_an_empty_buffer(self, resource, stream):
        with (
            resource.allocate(0, stream=stream) as empty,
            pytest.raises(ValueError, match="empty buffer"),
        ):
            _ = empty.ipc_descriptor

    def test_closed_objects(self, resource, device, stream):
        buffer = resource.allocate(8, stream=stream)
        handle = resource.allocation_handle
        handle.close()
        device_args = (device,) if resource.device_id >= 0 else ()
        with pytest.raises(RuntimeError, match="IPCAllocationHandle has been closed"):
            type(resource).from_allocation_handle(*device_args, handle)
        buffer.close()
        for wrong in (lambda: buffer.ipc_descriptor, lambda: pickle.dumps(buffer)):
            with pytest.raises(RuntimeError, match="Buffer has been closed"):
                wrong()
        alive = resource.allocate(8, stream=stream)
        descriptor = alive.ipc_descriptor
        resource.close()
        for wrong in (
            lambda: resource.allocation_handle,
            lambda: pickle.dumps(alive),
            lambda: Buffer.from_ipc_descriptor(resource, descriptor, stream=stream),
        ):
            with pytest.raises(RuntimeError, match=f"{type(resource).__name__} has been closed"):
                wrong()
        alive.close()

    def test_descriptors_that_refer_to_no_pool(self, device, tmp_path):
        with pytest.raises(OSError, match="Bad file descriptor"):
            DeviceMemoryResource.from_allocation_handle(device, -1)
        with open(tmp_path / "file", "w") as file, pytest.raises(CUDAError):
            DeviceMemoryResource.from_allocation_handle(device, file.fileno())
        with pytest.raises(TypeError, match="IPCAllocationHandle or the int of a file descriptor"):
            DeviceMemoryResource.from_allocation_handle(device, "x")

    def test_bytes_that_refer_to_no_allocation(self, peer, device):
        resource = DeviceMemoryResource(device, {"ipc_enabled": True})
        source = """
from cuda.core import Buffer
Buffer.from_ipc_descriptor(resource, garbage, stream=stream)
"""
        garbage = IPCBufferDescriptor._init(b"x" * 64, 8)
        with pytest.raises(PeerError, match="CUDAError"):
            peer.run(source, resource=resource, garbage=garbage)
        peer.run("resource.close(); del resource")
        resource.close()

    def test_the_descriptor_of_another_pool(self, peer, device, stream):
        first, second = (DeviceMemoryResource(device, {"ipc_enabled": True}) for _ in range(2))
        with first.allocate(8, stream=stream) as buffer:
            source = """
from cuda.core import Buffer
Buffer.from_ipc_descriptor(resource, descriptor, stream=stream)
"""
            with pytest.raises(PeerError, match="CUDA_ERROR_INVALID_VALUE"):
                peer.run(source, resource=second, descriptor=buffer.ipc_descriptor)
        peer.run("resource.close(); del resource")
        first.close()
        second.close()
