# SPDX-License-Identifier: Apache-2.0
"""Every operation of the object layer, for tests that watch the driver calls of all of them."""

import ctypes
import threading
from contextlib import suppress

import pytest
from cuda.bindings import driver
from cuda.core import (
    Buffer,
    CUDAError,
    Device,
    DeviceMemoryResource,
    Event,
    EventOptions,
    GraphMemoryResource,
    Kernel,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    ManagedMemoryResource,
    ObjectCode,
    PinnedMemoryResource,
    Stream,
    StreamOptions,
    VirtualMemoryResource,
    host_launch,
    launch,
)
from cuda.core._memory import _SynchronousMemoryResource

ONE = LaunchConfig(grid=1, block=1)
PTX = """
.version 8.0
.target sm_75
.address_size 64
.visible .global .align 4 .b8 variable[16];
.visible .entry kernel(.param .u64 p) { ret; }
"""


class Fixtures:
    """Objects that the operations use, created before the driver is watched."""

    def __init__(self, device):
        self.device = device
        self.stream = device.create_stream()
        self.other = device.create_stream()
        self.event = device.create_event({"timing_enabled": True})
        self.pool = DeviceMemoryResource(device)
        self.synchronous = _SynchronousMemoryResource(device.device_id)
        self.pinned = LegacyPinnedMemoryResource()
        self.code = ObjectCode.from_ptx(PTX)
        self.kernel = self.code.get_kernel("kernel")
        launch(self.stream, ONE, self.kernel, 0)
        self.stream.sync()

    def close(self):
        self.stream.close()
        self.other.close()


def streams(t):
    t.device.create_stream().close()
    t.device.create_stream(options=StreamOptions(nonblocking=False, priority=-1))
    Stream()
    Stream.from_handle(int(t.stream.handle)).close()
    t.stream.wait(t.other)
    t.device.default_stream.wait(t.stream)
    t.stream.wait(Stream._per_thread_default())
    assert t.stream.is_done in (True, False)
    t.stream.sync()
    foreign = Stream.from_handle(2)
    assert (foreign.priority, foreign.is_nonblocking, foreign.device) is not None
    assert foreign.context is not None


def events(t):
    early, late = (t.stream.record(options=EventOptions(timing_enabled=True)) for _ in range(2))
    t.stream.record(late)
    late.sync()
    assert late.is_done
    assert late - early >= 0
    t.device.create_event().close()
    t.stream.record()
    t.other.wait(late)


def host_functions(t):
    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)
    t.stream.launch_host(lambda: None)
    t.stream.launch_host(callback, user_data=b"text")
    host_launch(t.stream, lambda: None)
    t.stream.sync()


def pool_memory(t):
    own_pool = DeviceMemoryResource(t.device, {"max_size": 1 << 22})
    for resource in (t.pool, own_pool):
        for stream in (t.stream, t.device.default_stream, Stream._per_thread_default()):
            resource.allocate(64, stream=stream).close()
            resource.allocate(64, stream=stream)  # destroyed by collection
    last = own_pool.allocate(64, stream=t.stream)
    assert repr(own_pool.attributes)
    own_pool.attributes.reset_high_water_marks()
    own_pool.release_threshold = 0
    own_pool.trim()
    with suppress(CUDAError):
        own_pool.allocate(1 << 45, stream=t.stream)
    del own_pool
    del last
    t.device.allocate(64, stream=t.stream)


def memory_freed_on_another_thread(t):
    buffers = [t.pool.allocate(64, stream=Stream._per_thread_default()) for _ in range(2)]
    buffers[1].set_deallocation_stream(t.stream)
    thread = threading.Thread(target=lambda: [buffer.close() for buffer in buffers])
    thread.start()
    thread.join()


def memory_that_outlives_its_stream(t):
    stream = t.device.create_stream()
    buffer = t.pool.allocate(64, stream=stream)
    stream.close()
    del stream
    buffer.close()


def synchronous_memory(t):
    for resource in (t.synchronous, t.pinned):
        resource.allocate(64, stream=t.stream).close()
        resource.allocate(64, stream=t.stream).close(t.stream)
        resource.allocate(64, stream=t.stream)  # destroyed by collection
    _SynchronousMemoryResource(t.device)


def located_memory(t):
    of_a_node = PinnedMemoryResource({"numa_id": 0})
    for resource in (PinnedMemoryResource({}), of_a_node, ManagedMemoryResource({})):
        resource.allocate(64, stream=t.stream).close()
        resource.allocate(64, stream=t.stream)  # destroyed by collection
        resource.close()
    virtual = VirtualMemoryResource(t.device)
    virtual.allocate(64).close()
    virtual.allocate(64)  # destroyed by collection
    with virtual.allocate(64) as grown:
        virtual.modify_allocation(grown, 2 * grown.size)


def memory_of_graphs(t):
    resource = GraphMemoryResource(t.device)
    builder = t.device.create_graph_builder().begin_building()
    resource.allocate(64, stream=builder).close(builder)
    with builder.end_building().complete() as graph:
        graph.launch(t.stream)
        t.stream.sync()
    builder.close()
    resource.trim()
    assert resource.attributes.used_mem_current >= 0


# The start of a capture was not measured; it is one step with the builder's record of it.
memory_of_graphs.unmeasured = frozenset({"cuStreamBeginCapture"})


def memory_for_other_processes(t):
    for shared in (
        DeviceMemoryResource(t.device, {"ipc_enabled": True}),
        PinnedMemoryResource({"ipc_enabled": True}),
    ):
        assert shared.allocation_handle.uuid == shared.uuid
        with shared.allocate(64, stream=t.stream) as buffer:
            Buffer.from_ipc_descriptor(shared, buffer.ipc_descriptor, stream=t.stream).close()
        shared.close()
    with t.stream.record(options={"ipc_enabled": True}) as event:
        event.sync()
        Event.from_ipc_descriptor(event.ipc_descriptor).close()


def copies(t):
    first, second = (t.pool.allocate(64, stream=t.stream) for _ in range(2))
    with t.pinned.allocate(64) as host:
        first.fill(1, stream=t.stream)
        first.fill(b"\1\2", stream=t.stream)
        first.fill(b"\1\2\3\4", stream=t.stream)
        first.copy_to(second, stream=t.stream)
        first.copy_to(stream=t.stream)
        first.copy_to(bytearray(64), stream=t.stream)
        first.copy_from(bytes(64), stream=t.stream)
        first.copy_from(memoryview(host), stream=t.stream)
        t.stream.sync()
        first.copy_from(OrderedArray(second, t.other), stream=t.stream)
        t.stream.sync()
        first.copy_from(bytes(64), stream=t.stream)


class OrderedArray:
    """Memory of a device, with the stream to wait for."""

    def __init__(self, memory, stream):
        self.__cuda_array_interface__ = {
            **memory.__cuda_array_interface__,
            "stream": int(stream.handle),
        }


def exports(t):
    buffer = t.pool.allocate(64, stream=t.stream)
    buffer.__dlpack__(stream=int(t.other.handle))
    foreign = Buffer.from_handle(buffer.handle, 64)
    assert foreign.is_device_accessible
    assert foreign.device_id == t.device.device_id


def code(t):
    code = ObjectCode.from_ptx(PTX)
    kernel = code.get_kernel("kernel")
    assert code.kernels() == ["kernel"]
    assert code.get_global("variable").size == 16
    assert code.get_module()
    with suppress(CUDAError):
        code.get_kernel("missing")
    with suppress(CUDAError):
        ObjectCode.from_ptx(PTX.replace("ret;", "stop;")).get_kernel("kernel")
    assert kernel.num_arguments == 1
    assert Kernel.from_handle(int(kernel.handle)) == kernel
    assert kernel.attributes.num_regs >= 0
    kernel.attributes.max_dynamic_shared_size_bytes = 1024
    # a handle that was read keeps it loaded
    assert driver.cuLibraryUnload(code.handle) == (driver.CUresult.CUDA_SUCCESS,)


def occupancy(t):
    query = t.kernel.occupancy
    clusters = LaunchConfig(grid=1, block=1)
    assert query.max_active_blocks_per_multiprocessor(32, 0) > 0
    assert query.available_dynamic_shared_memory_per_block(1, 32) > 0
    assert query.max_potential_block_size(0, 0)
    assert query.max_potential_block_size(lambda threads: threads, 0)
    for function in (query.max_potential_cluster_size, query.max_active_clusters):
        with suppress(CUDAError):
            function(clusters, stream=t.stream)


def launches(t):
    launch(t.stream, ONE, t.kernel, 0)
    launch(t.stream, ONE, ObjectCode.from_ptx(PTX).get_kernel("kernel"), 0)
    launch(t.stream, LaunchConfig(grid=1, block=1, is_cooperative=True), t.kernel, 0)
    large = LaunchConfig(grid=1, block=1, shmem_size=60 * 1024)
    launch(t.stream, large, ObjectCode.from_ptx(PTX).get_kernel("kernel"), 0)
    prepared = t.kernel.prepare(ONE, 0)
    prepared(t.stream)
    prepared(t.device.default_stream)
    with pytest.raises(ValueError, match="shmem_size"):
        launch(t.stream, LaunchConfig(grid=1, block=1, shmem_size=1 << 30), t.kernel, 0)
    t.stream.sync()


def devices(t):
    properties = t.device.properties.as_dict()
    assert properties["warp_size"] == 32
    assert all((t.device.name, t.device.uuid, t.device.pci_bus_id, t.device.total_memory))
    assert t.device.memory_info.total
    assert t.device.can_access_peer(0)
    t.device.set_current(t.device.set_current(t.device.context) or t.device.context)
    t.device.sync()


def devices_of_another_thread(t):
    def work():
        device = Device(0)
        device.set_current()
        device.create_stream().record()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


OPERATIONS = (
    streams,
    events,
    host_functions,
    pool_memory,
    memory_freed_on_another_thread,
    memory_that_outlives_its_stream,
    synchronous_memory,
    located_memory,
    memory_of_graphs,
    memory_for_other_processes,
    copies,
    exports,
    code,
    occupancy,
    launches,
    devices,
    devices_of_another_thread,
)
