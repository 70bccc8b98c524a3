# SPDX-License-Identifier: Apache-2.0
"""Programs of several streams that miss an order, each beside a correct twin.

Each is a function of a `Program` and of `is_ordered`.
"""

from typing import NamedTuple

from cuda.bindings import driver
from cuda.core import GraphBuilder, LaunchConfig, ManagedMemoryResource, launch

SIZE = 4096
SOURCE = """
extern "C" __global__ void write(int* p) { p[threadIdx.x] = threadIdx.x; }
extern "C" __global__ void read(const int* p, int* to) { to[threadIdx.x] = p[threadIdx.x]; }
extern "C" __global__ void add(int* p) { atomicAdd(p, 1); }
"""


class Kernels(NamedTuple):
    write: object
    read: object
    add: object


class Program:
    """Two streams, and kernels that use a part of a buffer."""

    def __init__(self, device, kernels):
        self.device, self.kernels = device, kernels
        self.first, self.second = (device.create_stream() for _ in range(2))
        self.buffer = device.allocate(SIZE, stream=self.first)
        self.buffer.fill(0, stream=self.first)
        self.first.sync()

    def write(self, stream, buffer=None, offset=0):
        launch(stream, LaunchConfig(grid=1, block=64), self.kernels.write, self.at(buffer, offset))

    def read(self, stream, buffer=None, offset=0):
        target = self.at(buffer, offset)
        launch(stream, LaunchConfig(grid=1, block=64), self.kernels.read, target, target + 1024)

    def add(self, stream):
        launch(stream, LaunchConfig(grid=1, block=64), self.kernels.add, self.at(None, 0))

    def at(self, buffer, offset):
        return int((buffer or self.buffer).handle) + offset

    def close(self):
        self.device.sync()
        self.buffer.close(self.first)
        self.device.sync()


def kernel_after_kernel(program, is_ordered):
    program.write(program.first)
    if is_ordered:
        program.second.wait(program.first)
    program.read(program.second)


def write_over_a_write(program, is_ordered):
    """The second covers the first, so that readers need an order after the second only."""
    program.write(program.first, offset=4)
    config = LaunchConfig(grid=1, block=64)  # from another line than the first
    launch(program.first, config, program.kernels.write, program.at(None, 4))
    if is_ordered:
        program.second.wait(program.first)
    program.read(program.second, offset=4)


def event_before_the_kernel(program, is_ordered):
    event = program.device.create_event()
    if not is_ordered:
        program.first.record(event)
    program.write(program.first)
    if is_ordered:
        program.first.record(event)
    program.second.wait(event)
    program.read(program.second)


def event_recorded_again(program, is_ordered):
    event = program.first.record()
    if not is_ordered:
        program.second.wait(event)
    program.write(program.first)
    program.first.record(event)
    if is_ordered:
        program.second.wait(event)
    program.read(program.second)


def default_stream(program, is_ordered):
    default = program.device.default_stream
    program.write(default)
    if is_ordered:
        program.first.wait(default)
    program.read(program.first)


def memset_beside_kernel(program, is_ordered):
    program.write(program.first)
    program.buffer.fill(0, stream=program.first if is_ordered else program.second)


def two_copies(program, is_ordered):
    other = program.device.allocate(SIZE, stream=program.first)
    program.first.sync()
    program.buffer.copy_to(other, stream=program.first)
    program.buffer.fill(1, stream=program.first if is_ordered else program.second)
    program.device.sync()
    other.close(program.first)


def freed_on_other_stream(program, is_ordered):
    buffer = program.device.allocate(SIZE, stream=program.first)
    program.write(program.first, buffer)
    if is_ordered:
        program.second.wait(program.first)
    buffer.close(program.second)


def allocated_on_other_stream(program, is_ordered):
    buffer = program.device.allocate(SIZE, stream=program.first)
    if is_ordered:
        program.second.wait(program.first)
    program.write(program.second, buffer)
    program.device.sync()
    buffer.close(program.second)


def atomic_beside_plain(program, is_ordered):
    program.add(program.first)
    if is_ordered:
        program.add(program.second)
    else:
        program.write(program.second)


def parts_of_a_buffer(program, is_ordered):
    program.write(program.first)
    program.write(program.second, offset=256 if is_ordered else 252)


def pinned_copy(program, is_ordered):
    host = driver.cuMemAllocHost(SIZE)[1]
    address = int(program.buffer.handle)
    driver.cuMemcpyHtoDAsync(address, host, SIZE, program.first.handle)
    if is_ordered:
        program.first.sync()
    driver.cuMemcpyDtoHAsync(host, address + 64, 64, program.second.handle)
    program.device.sync()
    driver.cuMemFreeHost(host)


def graph_without_edge(program, is_ordered):
    graph = program.device.create_graph_builder()
    graph.begin_building()
    first, second = graph.split(2)
    program.write(first)
    program.write(first if is_ordered else second)
    GraphBuilder.join(first, second).end_building().complete().launch(program.first)


def graph_beside_stream(program, is_ordered):
    builder = program.device.create_graph_builder().begin_building()
    program.write(builder)
    graph = builder.end_building().complete()
    graph.launch(program.first)
    program.read(program.first if is_ordered else program.second)
    program.device.sync()
    graph.close()


def two_graphs(program, is_ordered):
    graphs = []
    for _ in range(2):
        builder = program.device.create_graph_builder().begin_building()
        program.write(builder)
        graphs.append(builder.end_building().complete())
    graphs[0].launch(program.first)
    graphs[1].launch(program.first if is_ordered else program.second)
    program.device.sync()


def wait_value(program, is_ordered):
    address = driver.cuMemAlloc(SIZE)[1]
    if is_ordered:
        driver.cuStreamWriteValue32(program.first.handle, address, 1, 0)
    else:
        driver.cuMemsetD8Async(address, 1, SIZE, program.first.handle)
    driver.cuStreamWaitValue32(program.second.handle, address, 0, 0)
    program.device.sync()
    driver.cuMemFree(address)


def order_in_the_wrong_direction(program, is_ordered):
    program.write(program.first)
    if is_ordered:
        program.second.wait(program.first)
    else:
        program.first.wait(program.second)
    program.write(program.second)


def sync_of_the_other_stream(program, is_ordered):
    program.write(program.first)
    (program.first if is_ordered else program.second).sync()
    program.read(program.second)


def managed_memory(program, is_ordered):
    resource = ManagedMemoryResource()
    buffer = resource.allocate(SIZE, stream=program.first)
    program.first.sync()
    program.write(program.first, buffer)
    program.read(program.first if is_ordered else program.second, buffer)
    program.device.sync()
    buffer.close(program.first)


def chain_of_three_streams(program, is_ordered):
    third = program.device.create_stream()
    program.write(program.first)
    program.second.wait(program.first)
    third.wait(program.second if is_ordered else third.record())
    program.read(third)


def reader_before_writer(program, is_ordered):
    program.write(program.first)
    program.first.sync()
    program.read(program.first)
    if is_ordered:
        program.second.wait(program.first)
    program.write(program.second)


def reader_of_what_a_reader_writes(program, is_ordered):
    """Read what a kernel of another stream writes in the memory that it also reads."""
    program.read(program.first)  # bytes 0 to 256, which it copies to byte 1024 and after
    if is_ordered:
        program.second.wait(program.first)
    program.read(program.second, offset=1024)


def two_readers(program, _):
    program.write(program.first)
    program.first.sync()
    program.add(program.first)
    program.add(program.second)


def poll_until_done(program, _):
    program.write(program.first)
    event = program.first.record()
    while not event.is_done:
        pass
    program.read(program.second)


def blocking_streams_and_the_default(program, _):
    stream = driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_DEFAULT)[1]
    address = int(program.buffer.handle)
    driver.cuMemsetD8Async(address, 1, SIZE, stream)
    driver.cuMemsetD8Async(address, 2, SIZE, 1)
    driver.cuMemsetD8Async(address, 3, SIZE, stream)
    driver.cuStreamSynchronize(stream)
    driver.cuStreamDestroy(stream)


def memory_freed_and_allocated_again(program, _):
    for stream in (program.first, program.second) * 3:
        buffer = program.device.allocate(SIZE, stream=stream)
        program.write(stream, buffer)
        buffer.close(stream)


def graph_launched_in_two_streams(program, _):
    builder = program.device.create_graph_builder().begin_building()
    program.write(builder)
    graph = builder.end_building().complete()
    graph.launch(program.first)
    graph.launch(program.second)
    program.device.sync()


CASES = {
    each.__name__: each
    for each in (
        kernel_after_kernel, event_before_the_kernel, event_recorded_again, default_stream,
        memset_beside_kernel, two_copies, freed_on_other_stream, allocated_on_other_stream,
        atomic_beside_plain, parts_of_a_buffer, pinned_copy, graph_without_edge,
        graph_beside_stream, two_graphs, wait_value, order_in_the_wrong_direction,
        sync_of_the_other_stream, managed_memory, chain_of_three_streams, reader_before_writer,
        reader_of_what_a_reader_writes,
    )
}  # fmt: skip

CORRECT = {
    each.__name__: each
    for each in (
        two_readers, poll_until_done, blocking_streams_and_the_default,
        memory_freed_and_allocated_again, graph_launched_in_two_streams,
    )
}  # fmt: skip

# The interleaving determines the number of reports.
OTHERS = {"write_over_a_write": write_over_a_write}
