# SPDX-License-Identifier: Apache-2.0
"""Every documented form of a stream argument: type checkers accept it, and it runs."""

import numpy as np
from cuda.core import (
    CallbackMemoryResource,
    Device,
    DeviceMemoryResource,
    GraphMemoryResource,
    Host,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    LimitingMemoryResource,
    LoggingMemoryResource,
    ManagedMemoryResource,
    ObjectCode,
    PinnedMemoryResource,
    StatisticsMemoryResource,
    Stream,
    TrackingMemoryResource,
    VirtualMemoryResource,
    host_launch,
    interop,
    launch,
)
from cuda.core.graph import GraphBuilder
from cuda.core.typing import IsStreamType
from cuda.core.utils import (
    CopyOptions,
    StridedMemoryView,
    copy_batch,
    discard_batch,
    discard_prefetch_batch,
    prefetch_batch,
)

PTX = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry empty() { ret; }\n"


class Foreign:
    """A stream of another library."""

    def __init__(self, stream: Stream) -> None:
        self.address = int(stream.handle)

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.address


def allocations(device: Device, order: Stream | GraphBuilder | IsStreamType) -> None:
    pinned = LegacyPinnedMemoryResource().allocate(64, stream=order)
    memory = device.allocate(64, stream=order)
    other = device.allocate(64, stream=order)
    memory.fill(1, stream=order)
    memory.copy_to(pinned, stream=order)
    memory.copy_from(pinned, stream=order)
    other.copy_from(memory, stream=order)
    view, target = (StridedMemoryView.from_dlpack(b, stream_ptr=-1) for b in (memory, other))
    view.copy_to(target, stream=order)
    view.copy_from(target, stream=order)
    other.set_deallocation_stream(order)
    other.close(stream=order)
    memory.close(order)


def launches(device: Device, order: Stream | GraphBuilder | IsStreamType) -> None:
    config = LaunchConfig(grid=1, block=1)
    kernel = ObjectCode.from_ptx(PTX).get_kernel("empty")
    launch(order, config, kernel)
    kernel.prepare(config)(order)
    kernel.occupancy.max_potential_cluster_size(config, stream=order)
    kernel.occupancy.max_active_clusters(config, stream=order)


def deallocations(
    resource: GraphMemoryResource
    | LegacyPinnedMemoryResource
    | VirtualMemoryResource
    | PinnedMemoryResource,
    order: Stream | GraphBuilder | IsStreamType,
) -> None:
    """Is type-checked only: a Buffer frees its memory itself."""
    resource.deallocate(0, 64, stream=order)


def in_a_graph(device: Device, builder: GraphBuilder) -> None:
    resource = GraphMemoryResource(device)
    memory = resource.allocate(64, stream=builder)
    memory.close(builder)
    assert GraphMemoryResource(device.device_id) is resource


def outside_of_graphs(device: Device, order: Stream | IsStreamType) -> None:
    virtual = VirtualMemoryResource(device)
    for resource in (DeviceMemoryResource(device), PinnedMemoryResource(), virtual):
        memory = resource.allocate(64, stream=order)
        memory.close(order)
    host_launch(order, lambda: None)
    stream = device.create_stream()
    stream.wait(order)
    managed = ManagedMemoryResource().allocate(4096, stream=stream)
    managed.prefetch(device, stream=order)
    managed.discard(stream=order)
    managed.discard_prefetch(Host(), stream=order)
    prefetch_batch(order, [managed], [Host(numa_id=0)])
    discard_prefetch_batch(order, [managed], device)
    discard_batch(order, [managed])


def adaptors(device: Device, log: list[object]) -> None:
    pool = device.memory_resource
    stream = device.create_stream()
    CallbackMemoryResource(lambda size, stream: 0, lambda ptr, size, stream: None).close()
    resources = [
        StatisticsMemoryResource(pool),
        LimitingMemoryResource(pool, 1 << 20),
        LoggingMemoryResource(pool, log.append),
        TrackingMemoryResource(pool, stacks=False),
    ]
    for resource in resources:
        buffer = resource.allocate(64, stream=stream)
        buffer.close()
        resource.close()
    library, allocate, free = interop.torch_allocator(pool)
    print(library + allocate + free)


def copies(device: Device, stream: Stream) -> None:
    options = CopyOptions(src_access_order="during_api_call", dst_location_hint=device)
    CopyOptions(src_access_order="any", overlap_mode="prefer_overlap_with_compute")
    first, second = (device.allocate(64, stream=stream) for _ in range(2))
    first.copy_from(np.zeros(16, np.float32), stream=stream, options=options)
    copy_batch(stream, [first], [second])


def main() -> None:
    device = Device()
    device.set_current()
    stream = device.create_stream()
    for order in (stream, Foreign(stream)):
        allocations(device, order)
        outside_of_graphs(device, order)
    launches(device, stream)
    builder = device.create_graph_builder().begin_building()
    allocations(device, builder)
    launches(device, builder)
    in_a_graph(device, builder)
    graph = builder.end_building().complete()
    graph.upload(stream)
    graph.launch(stream)
    adaptors(device, [])
    copies(device, stream)
    stream.sync()


if __name__ == "__main__":
    main()
