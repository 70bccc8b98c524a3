# SPDX-License-Identifier: Apache-2.0
"""Buffers of VirtualMemoryResource in other processes: by multiprocessing and by descriptors."""

import copy
import gc
import multiprocessing
import os
import pickle
import resource as limits
import socket

import pytest
from cuda.core import (
    Buffer,
    CUDAError,
    DeviceMemoryResource,
    VirtualMemoryResource,
    VirtualMemoryResourceOptions,
    emulation,
)
from cuda.core._sharing import VirtualMemoryIPCBufferDescriptor

from .peers import PeerError, added, content_of, files_now, open_files

from_fds = VirtualMemoryIPCBufferDescriptor.from_fds


@pytest.fixture
def resource(device):
    if not device.properties.virtual_memory_management_supported:
        pytest.skip("the device has no virtual memory management")
    return VirtualMemoryResource(device)


@pytest.fixture
def buffer(resource, stream):
    with resource.allocate(1, stream=stream) as buffer:
        buffer.fill(7, stream=stream)
        stream.sync()
        yield buffer


@pytest.fixture
def grown(resource, stream):
    """A buffer of three physical allocations, whose bytes are 1, 2 and 3."""
    with resource.allocate(1, stream=stream) as buffer:
        unit = buffer.size
        for value in (1, 2, 3):
            resource.modify_allocation(buffer, value * unit)
            with Buffer.from_handle(buffer.handle + (value - 1) * unit, unit) as part:
                part.fill(value, stream=stream)
        stream.sync()
        yield buffer


def thirds(content):
    unit = len(content) // 3
    return [set(content[start : start + unit]) for start in (0, unit, 2 * unit)]


IMPORT = """
from cuda.core import Buffer, VirtualMemoryResource
own = VirtualMemoryResource(device)
buffer = Buffer.from_ipc_descriptor(own, descriptor, stream)
"""
CLOSE = "buffer.close(); del buffer; descriptor = None; import gc; gc.collect()"
IS_OPEN = "/proc/self/fd/{}"


class TestMultiprocessing:
    def test_a_process_reads_and_writes_the_memory(self, peer, buffer, stream):
        source = """
result = set(content_of(buffer, stream)), buffer.is_mapped, buffer.size, buffer.device_id
buffer.fill(9, stream=stream)
stream.sync()
"""
        seen = peer.run(source, buffer=buffer)
        assert seen == ({7}, True, buffer.size, 0)
        assert set(content_of(buffer, stream)) == {9}
        assert not buffer.is_mapped
        peer.run(CLOSE)

    def test_a_grown_buffer_is_one_range(self, peer, grown):
        assert len(grown.ipc_descriptor.handles) == 3
        content = peer.run("result = content_of(buffer, stream)", buffer=grown)
        assert thirds(content) == [{1}, {2}, {3}]
        peer.run(CLOSE)

    def test_a_moved_buffer_is_shared(self, peer, resource, grown):
        from cuda.bindings import driver

        unit = grown.size // 3
        error, reserved = driver.cuMemAddressReserve(unit, 0, grown.handle + grown.size, 0)
        assert not error
        old = grown.handle
        resource.modify_allocation(grown, 4 * unit)
        assert driver.cuMemAddressFree(reserved, unit)[0] == 0
        assert grown.handle != old or not emulation.is_active()
        content = peer.run("result = content_of(buffer, stream)", buffer=grown)
        assert thirds(content[: 3 * unit]) == [{1}, {2}, {3}]
        peer.run(CLOSE)

    def test_growth_after_the_import_is_not_shared(self, peer, resource, grown):
        peer.run("pass", buffer=grown)
        resource.modify_allocation(grown, grown.size + 1)
        source = "result = buffer.size, thirds(content_of(buffer, stream))"
        size, content = peer.run(source, thirds=thirds)
        assert (size, content) == (grown.size // 4 * 3, [{1}, {2}, {3}])
        peer.run(CLOSE)

    def test_the_memory_outlives_its_exporter(self, peer, resource, stream):
        buffer = resource.allocate(1, stream=stream)
        buffer.fill(5, stream=stream)
        stream.sync()
        peer.run("pass", buffer=buffer)
        buffer.close()
        assert peer.run("result = set(content_of(buffer, stream))") == {5}
        peer.run(CLOSE)

    def test_one_resource_is_restored_for_all_buffers(self, peer, resource, buffer):
        options = {"self_access": "rw", "granularity": "minimum", "peers": [0]}
        other = VirtualMemoryResource(0, options)
        with other.allocate(1) as second:
            source = """
first, second, third = buffers
result = (
    first.memory_resource is third.memory_resource,
    first.memory_resource is second.memory_resource,
    second.memory_resource.config.granularity, tuple(second.memory_resource.config.peers),
    [each.close() for each in buffers][0],
)
del first, second, third, each, buffers
"""
            source = source.replace("del first, second, third, each", "del first, second, third")
            same, different, granularity, peers, _ = peer.run(
                source, buffers=[buffer, second, resource.allocate(1)]
            )
        assert (same, different, granularity, peers) == (True, False, "minimum", (0,))

    def test_a_resource_is_sent_by_itself(self, peer, resource):
        source = """
with received.allocate(1) as own:
    result = type(received).__name__, received.device_id, own.size > 0, own.is_mapped
"""
        answer = peer.run(source, received=resource)
        assert answer == ("VirtualMemoryResource", 0, True, False)
        assert pickle.loads(pickle.dumps(resource)) is resource

    def test_it_returns_to_its_exporter_as_another_mapping(self, peer, buffer, stream):
        peer.send("result = buffer", buffer=buffer)
        returned = peer.receive()
        assert returned.memory_resource is buffer.memory_resource
        assert returned.handle != buffer.handle
        returned.fill(4, stream=stream)
        stream.sync()
        assert set(content_of(buffer, stream)) == {4}
        returned.close()
        assert set(content_of(buffer, stream)) == {4}
        peer.run(CLOSE)

    @pytest.mark.parametrize("method", ["spawn", "forkserver"])
    def test_a_process_receives_it_as_an_argument(self, method, grown):
        context = multiprocessing.get_context(method)
        ours, theirs = context.Pipe()
        process = context.Process(target=answer_with_thirds, args=(theirs, grown))
        process.start()
        assert ours.poll(60)
        assert ours.recv() == [{1}, {2}, {3}]
        process.join(60)
        assert process.exitcode == 0

    def test_a_forked_process_that_has_not_used_the_driver_receives_it(self, run_python):
        run_python(
            """
import multiprocessing
def serve(pipe):
    from cuda.core import Device
    buffer = pipe.recv()
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    content = bytearray(buffer.size)
    buffer.copy_to(content, stream=stream)
    stream.sync()
    buffer.close()
    pipe.send(set(content))
context = multiprocessing.get_context("fork")
ours, theirs = context.Pipe()
process = context.Process(target=serve, args=(theirs,))
process.start()
from cuda.core import Device, VirtualMemoryResource
device = Device(0)
device.set_current()
stream = device.create_stream()
buffer = VirtualMemoryResource(device).allocate(1, stream=stream)
buffer.fill(6, stream=stream)
stream.sync()
multiprocessing.set_start_method("spawn")
ours.send(buffer)
assert ours.recv() == {6}
process.join(60)
assert process.exitcode == 0
"""
        )

    def test_a_subclass_is_restored_without_its_constructor(self, peer, device):
        source = """
result = type(received).__name__, received.device_id, received.is_ipc_enabled
"""
        assert peer.run(source, received=Named(device, "x")) == ("Named", 0, True)


class Named(VirtualMemoryResource):
    def __init__(self, device, name):
        super().__init__(device)
        self.name = name


def answer_with_thirds(pipe, buffer):
    from cuda.core import Device

    device = Device(0)
    device.set_current()
    with device.create_stream() as stream:
        pipe.send(thirds(content_of(buffer, stream)))
        buffer.close()


class TestDescriptor:
    def test_it_describes_each_allocation(self, grown):
        descriptor = grown.ipc_descriptor
        unit = grown.size // 3
        assert (descriptor.size, descriptor.sizes) == (grown.size, (unit,) * 3)
        assert descriptor.handle_type == "posix_fd"
        assert [int(each) for each in descriptor.handles] == list(descriptor.fds)
        assert repr(descriptor).startswith("<VirtualMemoryIPCBufferDescriptor size=")
        assert grown.ipc_descriptor is not descriptor

    def test_a_socket_transfers_it(self, peer, grown):
        ours, theirs = socket.socketpair()
        descriptor = grown.ipc_descriptor
        source = f"""
import os
import socket
from cuda.core._sharing import VirtualMemoryIPCBufferDescriptor
channel = socket.socket(fileno=pipe.detach())
_, fds, _, _ = socket.recv_fds(channel, 1, 9)
descriptor = VirtualMemoryIPCBufferDescriptor.from_fds(fds, sizes, size=size)
for each in fds:
    os.close(each)
channel.close()
{IMPORT}
result = content_of(buffer, stream)
"""
        peer.send(
            source,
            pipe=multiprocessing.reduction.DupFd(theirs.fileno()),
            sizes=descriptor.sizes,
            size=descriptor.size,
        )
        socket.send_fds(ours, [b"x"], descriptor.fds)
        assert thirds(peer.receive()) == [{1}, {2}, {3}]
        peer.run(CLOSE)
        ours.close()
        theirs.close()

    def test_a_part_from_the_start_is_shared(self, peer, grown):
        unit = grown.size // 3
        with grown.resize_view(0, unit + 1) as part:
            descriptor = part.ipc_descriptor
            assert (descriptor.size, descriptor.sizes) == (unit + 1, (unit, unit))
            source = IMPORT + "result = buffer.size, set(content_of(buffer, stream))"
            assert peer.run(source, descriptor=descriptor) == (unit + 1, {1, 2})
            del descriptor
        peer.run(CLOSE)
        with (
            grown.resize_view(4, 10) as inner,
            pytest.raises(ValueError, match="begins inside an allocation"),
        ):
            _ = inner.ipc_descriptor

    def test_it_owns_its_descriptors(self, grown):
        before = open_files()
        descriptor = grown.ipc_descriptor
        numbers = descriptor.fds
        assert len(added(before, open_files())) == 3
        descriptor.handles[1].close()
        assert not os.path.exists(IS_OPEN.format(numbers[1]))
        with pytest.raises(ValueError, match="is closed"):
            _ = descriptor.fds
        with open(os.devnull) as other:  # reuses the number
            assert other.fileno() == numbers[1]
            del descriptor
            assert os.path.exists(IS_OPEN.format(numbers[1]))
        assert added(before, open_files()) == []

    def test_the_caller_of_from_fds_still_owns_the_descriptors(self, grown):
        before = open_files()
        first = grown.ipc_descriptor
        second = from_fds(first.fds, first.sizes)
        assert set(first.fds).isdisjoint(second.fds)
        del second
        assert len(added(before, open_files())) == 3
        del first
        assert added(before, open_files()) == []

    def test_it_keeps_the_memory_allocated(self, resource, stream):
        with resource.allocate(1) as buffer:
            buffer.fill(8, stream=stream)
            stream.sync()
            descriptor = buffer.ipc_descriptor
        with Buffer.from_ipc_descriptor(resource, descriptor, stream) as second:
            assert set(content_of(second, stream)) == {8}

    def test_plain_pickle_and_copies_are_refused(self, buffer):
        for refused in (pickle.dumps, copy.copy):
            with pytest.raises(TypeError, match=r"cannot be pickled.*from_fds\(\)"):
                refused(buffer.ipc_descriptor)
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(buffer)
        with pytest.raises(RuntimeError, match="Please use Buffer.ipc_descriptor or from_fds"):
            VirtualMemoryIPCBufferDescriptor()

    @pytest.mark.parametrize(
        ("sizes", "size", "text"),
        [
            ([], None, "1 file descriptors and 0 sizes"),
            ([1, 1], None, "1 file descriptors and 2 sizes"),
            ([0], None, "a size must not be 0"),
            ([8], 9, "size=9: the size of the buffer must be from 1 to 8"),
            ([8], 0, "size=0: the size of the buffer must be from 1 to 8"),
        ],
    )
    def test_invalid_sizes_are_refused(self, buffer, sizes, size, text):
        descriptor = buffer.ipc_descriptor
        before = open_files()
        with pytest.raises(ValueError, match=text):
            from_fds(descriptor.fds, sizes, size=size)
        gc.collect()
        assert added(before, open_files()) == []

    def test_invalid_descriptors_are_refused(self):
        with pytest.raises(OSError, match="Bad file descriptor"):
            from_fds([9999], [8])
        with pytest.raises(TypeError, match="int of a file descriptor, got str"):
            from_fds(["x"], [8])
        with pytest.raises(OverflowError):
            from_fds([0], [-1])
        with pytest.raises(OverflowError):
            from_fds([0, 1], [2**64 - 1, 2**64 - 1])


class TestRefusals:
    def import_(self, resource, descriptor, device):
        return Buffer.from_ipc_descriptor(resource, descriptor, device.default_stream)

    @pytest.mark.parametrize(
        ("options", "is_enabled"),
        [
            ({}, True),
            ({"handle_type": None}, False),
            ({"handle_type": "fabric"}, False),
            ({"location_type": "host"}, False),
            ({"location_type": "host_numa"}, True),
        ],
    )
    def test_the_options_enable_sharing(self, device, options, is_enabled):
        resource = VirtualMemoryResource(device, VirtualMemoryResourceOptions(**options))
        assert resource.is_ipc_enabled is is_enabled

    def test_a_resource_without_sharing_names_the_option(self, device, buffer):
        text = "not IPC-enabled.*handle_type='posix_fd'"
        plain = VirtualMemoryResource(device, {"handle_type": None})
        with plain.allocate(1) as unshared:
            for call in (lambda: unshared.ipc_descriptor, lambda: pickle.dumps(plain)):
                with pytest.raises(RuntimeError, match=text):
                    call()
        with pytest.raises(RuntimeError, match=text):
            self.import_(plain, buffer.ipc_descriptor, device)
        plain.config.handle_type = "posix_fd"

    def test_memory_made_before_the_option_changed_names_the_call(self, device):
        resource = VirtualMemoryResource(device, {"handle_type": None})
        with resource.allocate(1) as buffer:
            resource.config.handle_type = "posix_fd"
            with pytest.raises(CUDAError, match="cuMemExportToShareableHandle") as raised:
                _ = buffer.ipc_descriptor
        assert "created with handle_type='posix_fd'" in raised.value.__notes__[-1]

    def test_another_kind_of_resource_or_descriptor_is_refused(self, device, resource, buffer):
        with pytest.raises(TypeError, match="expected VirtualMemoryIPCBufferDescriptor, got int"):
            self.import_(resource, 3, device)
        with DeviceMemoryResource(device, {"ipc_enabled": True}).allocate(
            1, stream=device.default_stream
        ) as pooled:
            with pytest.raises(TypeError, match="expected VirtualMemoryIPCBufferDescriptor"):
                self.import_(resource, pooled.ipc_descriptor, device)
            with pytest.raises(TypeError, match="expected IPCBufferDescriptor"):
                self.import_(pooled.memory_resource, buffer.ipc_descriptor, device)

    @pytest.mark.parametrize("wrong", ["size", "kind", "closed"])
    def test_a_failed_import_leaves_nothing(self, device, resource, grown, emulation, wrong):
        before, leaks = open_files(), len(emulation.leaks())
        descriptor = grown.ipc_descriptor
        unit = grown.size // 3
        if wrong == "size":
            descriptor = from_fds(descriptor.fds, [unit, 2 * unit, unit])
        elif wrong == "kind":
            with open(os.devnull) as other:
                fds = [*descriptor.fds[:2], other.fileno()]
                descriptor = from_fds(fds, descriptor.sizes)
        else:
            descriptor.handles[2].close()
        with pytest.raises((CUDAError, RuntimeError)) as raised:
            self.import_(resource, descriptor, device)
        if wrong == "closed":
            assert "IPCAllocationHandle has been closed" in str(raised.value)
        else:
            assert f"allocation {1 if wrong == 'size' else 2} of 3" in raised.value.__notes__[-1]
        del descriptor, raised
        gc.collect()
        assert added(before, open_files()) == []
        assert len(emulation.leaks()) == leaks

    def test_the_private_constructor_imports_too(self, device, resource, buffer):
        for stream in (None, device.default_stream):
            arguments = (resource, buffer.ipc_descriptor)
            with Buffer._init(None, None, *arguments, stream=stream) as second:
                assert second.is_mapped
                assert (second.size, second.memory_resource) == (buffer.size, resource)

    def test_another_location_is_refused(self, device, resource, buffer, emulation):
        leaks = len(emulation.leaks())
        host = VirtualMemoryResource(device, {"location_type": "host_numa"})
        with pytest.raises(ValueError, match="maps host memory.*refers to device memory"):
            self.import_(host, buffer.ipc_descriptor, device)
        with host.allocate(1) as on_host:
            with pytest.raises(ValueError, match="maps device memory.*refers to host memory"):
                self.import_(resource, on_host.ipc_descriptor, device)
            memoryview(on_host).cast("B")[:3] = b"abc"
            with self.import_(host, on_host.ipc_descriptor, device) as second:
                assert bytes(memoryview(second)[:3]) == b"abc"
        assert len(emulation.leaks()) == leaks

    def test_an_import_cannot_grow(self, device, resource, grown):
        with self.import_(resource, grown.ipc_descriptor, device) as second:
            with pytest.raises(ValueError, match="only that process can grow it"):
                resource.modify_allocation(second, grown.size + 1)
            assert resource.modify_allocation(second, 1) is second
            with second.resize_view(0, 5) as part:
                assert part.is_mapped
        assert not second.is_mapped

    @pytest.mark.parametrize(
        "function",
        ["cuMemAddressReserve", "cuMemImportFromShareableHandle", "cuMemMap", "cuMemSetAccess",
         "cuMemGetAllocationPropertiesFromHandle"],
    )  # fmt: skip
    @pytest.mark.parametrize("nth", [1, 3])
    def test_a_failure_of_the_driver_is_undone(
        self, device, resource, grown, emulation, function, nth
    ):
        before, leaks = open_files(), len(emulation.leaks())
        failed = False
        with emulation.inject(function, nth=nth, error="CUDA_ERROR_UNKNOWN", optional=True):
            try:
                self.import_(resource, grown.ipc_descriptor, device).close()
            except CUDAError as error:
                failed = function in str(error)
        assert failed or (nth == 3 and function in ("cuMemAddressReserve", "cuMemSetAccess"))
        gc.collect()
        assert added(before, open_files()) == []
        assert len(emulation.leaks()) == leaks

    @pytest.mark.parametrize(
        "function",
        ["cuMemRetainAllocationHandle", "cuMemExportToShareableHandle", "cuMemRelease"],
    )
    def test_a_failed_export_is_undone(self, device, grown, emulation, function):
        before, leaks = open_files(), len(emulation.leaks())
        with emulation.inject(function, nth=2, error="CUDA_ERROR_UNKNOWN"):
            try:
                descriptor = grown.ipc_descriptor
            except CUDAError as error:
                assert function in str(error)
            else:
                assert function == "cuMemRelease"  # repeated
                del descriptor
        gc.collect()
        assert added(before, open_files()) == []
        assert len(emulation.leaks()) == leaks
        grown.ipc_descriptor.handles[0].close()


class TestExhaustion:
    def test_a_process_without_free_descriptors_leaks_none(self, grown, device, resource):
        """Each number of free file descriptors, until the message can be sent and received."""
        ours, theirs = multiprocessing.Pipe()
        ours.send(grown)  # starts the sharing thread
        theirs.recv().close()
        before = open_files()
        soft, hard = limits.getrlimit(limits.RLIMIT_NOFILE)
        succeeded, refusals = 0, []
        try:
            for free in range(40):
                used = max(map(int, os.listdir("/proc/self/fd"))) + 1
                limits.setrlimit(limits.RLIMIT_NOFILE, (used + free, hard))
                try:
                    ours.send(grown)
                except (CUDAError, OSError):
                    continue
                try:
                    theirs.recv().close()
                    succeeded += 1
                except (CUDAError, OSError, EOFError, RuntimeError) as error:
                    refusals.append(type(error))
                finally:
                    limits.setrlimit(limits.RLIMIT_NOFILE, (soft, hard))
                gc.collect()
        finally:
            limits.setrlimit(limits.RLIMIT_NOFILE, (soft, hard))
        assert succeeded and len(refusals) < 40
        gc.collect()
        assert added(before, open_files()) == []

    def test_many_buffers_leave_no_descriptor(self, peer, grown):
        def once():
            peer.run(CLOSE, buffer=grown)

        once()
        gc.collect()
        count = "import gc; gc.collect(); result = open_files()"
        before, peer_files = open_files(), peer.run(count)
        for _ in range(20):
            once()
        gc.collect()
        assert added(before, open_files()) == []
        assert added(peer_files, peer.run(count)) == []

    def test_more_allocations_than_one_message_carries(self, peer, resource, stream):
        with resource.allocate(1, stream=stream) as buffer:
            unit = buffer.size
            for number in range(2, 262):
                resource.modify_allocation(buffer, number * unit)
            buffer.fill(3, stream=stream)
            stream.sync()
            source = """
ends = buffer.resize_view(0, 1), buffer.resize_view(buffer.size - 1, 1)
result = [content_of(each, stream) for each in ends] + [each.close() for each in ends]
del ends
"""
            assert peer.run(source, buffer=buffer) == [b"\3", b"\3", None, None]
            peer.run(CLOSE)

    def test_a_peer_that_ends_before_it_fetches_leaks_none(self, new_peer, grown, emulation):
        gc.collect()
        before = open_files()
        peer = new_peer()
        connection, other = multiprocessing.Pipe()
        connection.send(grown)
        peer.kill()
        other.close()
        connection.close()
        # multiprocessing keeps what nobody fetched until its sharing thread stops.
        assert len([each for each in added(before, files_now()) if "physical" in each]) == 3
        gc.collect()
        assert [each for each in added(before, open_files()) if "physical" in each] == []

    def test_a_message_in_a_dead_process_names_the_cause(self, peer, buffer):
        message = multiprocessing.reduction.ForkingPickler.dumps(buffer)
        multiprocessing.resource_sharer.stop()
        with pytest.raises(PeerError, match="Error"):
            peer.run("import pickle; result = pickle.loads(message)", message=bytes(message))
