# SPDX-License-Identifier: Apache-2.0
"""Programs with other objects than streams and events that miss an order, each beside a twin.

Each is a function of a `Program` of `hazards` and of `is_ordered`.
"""

import ctypes
import threading

from cuda.bindings import driver
from cuda.core import (
    Device,
    GraphBuilder,
    GraphMemoryResource,
    ManagedMemoryResource,
    PinnedMemoryResource,
)

from .hazards import SIZE

UNITS = 256
HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def copy_of_rows(program, is_ordered):
    """Copy rows of 128 bytes in one stream, and fill the bytes behind 64 or 128 in another."""
    address, half = int(program.buffer.handle), SIZE // 2
    copy = driver.CUDA_MEMCPY2D()
    kind = driver.CUmemorytype.CU_MEMORYTYPE_DEVICE
    copy.srcMemoryType = copy.dstMemoryType = kind
    copy.srcDevice, copy.dstDevice = address + half, address
    copy.srcPitch = copy.dstPitch = UNITS
    copy.WidthInBytes, copy.Height = 128, 4
    driver.cuMemcpy2DAsync(copy, int(program.first.handle))
    start = address + (128 if is_ordered else 64)
    driver.cuMemsetD2D8Async(start, UNITS, 1, 64, 4, int(program.second.handle))


def child_graph(program, is_ordered):
    """Read beside a child graph that writes, or after it."""
    child = program.device.create_graph_builder().begin_building()
    program.write(child)
    child.end_building()
    builder = program.device.create_graph_builder().begin_building()
    if is_ordered:
        builder.embed(child)
        program.read(builder)
        graph = builder.end_building().complete()
    else:
        first, second = builder.split(2)
        first.embed(child)
        program.read(second)
        graph = type(builder).join(first, second).end_building().complete()
    graph.launch(program.first)


def body_beside_a_stream(program, is_ordered):
    """Read in one stream what the body of a conditional node writes in another."""
    builder = program.device.create_graph_builder().begin_building()
    body = builder.if_then(builder.create_condition(1)).begin_building()
    program.write(body)
    body.end_building()
    graph = builder.end_building().complete()
    graph.launch(program.first)
    if is_ordered:
        program.second.wait(program.first)
    program.read(program.second)
    program.device.sync()
    graph.close()


def branches_of_a_body(program, is_ordered):
    """Write the same bytes in two branches of the body of a conditional node."""
    builder = program.device.create_graph_builder().begin_building()
    body = builder.if_then(builder.create_condition(1)).begin_building()
    first, second = body.split(2)
    program.write(first)
    program.write(first if is_ordered else second)
    GraphBuilder.join(first, second).end_building()
    graph = builder.end_building().complete()
    graph.launch(program.first)
    program.first.sync()
    driver.cuMemcpyDtoH(bytearray(SIZE), int(program.buffer.handle), SIZE)
    graph.close()


def graph_after_a_free(program, is_ordered):
    """Free memory in a stream while a graph in another one uses it."""
    buffer = program.device.allocate(SIZE, stream=program.first)
    program.first.sync()
    builder = program.device.create_graph_builder().begin_building()
    program.write(builder, buffer)
    graph = builder.end_building().complete()
    graph.launch(program.first)
    if is_ordered:
        program.second.wait(program.first)
    buffer.close(program.second)


def pinned_source(program, is_ordered):
    """Copy from pinned memory in one stream while a kernel in another one writes it."""
    pinned = PinnedMemoryResource().allocate(SIZE, stream=program.first)
    program.first.sync()
    program.write(program.first, pinned)
    if is_ordered:
        program.second.wait(program.first)
    program.buffer.copy_from(pinned, stream=program.second)
    program.device.sync()
    pinned.close(program.first)


def two_copies_to_the_host(program, is_ordered):
    """Copy to the same pinned bytes in two streams."""
    pinned = PinnedMemoryResource().allocate(SIZE, stream=program.first)
    program.buffer.fill(0, stream=program.first)
    program.device.sync()
    program.buffer.copy_to(pinned, stream=program.first)
    if is_ordered:
        program.second.wait(program.first)
    program.buffer.copy_to(pinned, stream=program.second)
    program.device.sync()
    pinned.close(program.first)


def event_of_an_earlier_round(program, is_ordered):
    """Wait for an event that the first of two rounds recorded."""
    event = program.device.create_event()
    for turn in range(2):
        program.write(program.first)
        if is_ordered or turn == 0:
            program.first.record(event)
        program.second.wait(event)
        program.read(program.second)
        program.first.wait(program.second)


def legacy_stream_and_a_nonblocking_one(program, is_ordered):
    """Use the legacy default stream beside a stream that does not wait for it."""
    address = int(program.buffer.handle)
    flags = driver.CUstream_flags
    flag = flags.CU_STREAM_DEFAULT if is_ordered else flags.CU_STREAM_NON_BLOCKING
    stream = driver.cuStreamCreate(flag)[1]
    driver.cuMemsetD8Async(address, 1, SIZE, 1)
    driver.cuMemsetD8Async(address, 2, SIZE, stream)
    driver.cuStreamSynchronize(stream)
    driver.cuStreamDestroy(stream)


def wait_for_the_wrong_stream(program, is_ordered):
    """Wait for a third stream, which waits for the writer or for nobody."""
    third = program.device.create_stream()
    program.write(program.first)
    if is_ordered:
        third.wait(program.first)
    program.second.wait(third)
    program.read(program.second)
    program.device.sync()
    third.close()


def peer_copy(program, is_ordered):
    """Read on one device what a copy from another one writes."""
    other = Device(1)
    other.set_current()
    stream = other.create_stream()
    source = other.allocate(SIZE, stream=stream)
    source.fill(1, stream=stream)
    stream.sync()
    program.device.set_current()
    target = int(program.buffer.handle)
    contexts = [driver.cuDevicePrimaryCtxRetain(n)[1] for n in (0, 1)]
    driver.cuMemcpyPeerAsync(
        target, contexts[0], int(source.handle), contexts[1], SIZE, int(stream.handle)
    )
    if is_ordered:
        program.first.wait(stream)
    program.read(program.first)
    program.device.sync()
    stream.sync()
    source.close(stream)
    stream.sync()
    for n in (0, 1):
        driver.cuDevicePrimaryCtxRelease(n)


def memory_of_a_graph(program, is_ordered):
    """Use memory of a graph in another stream than its launch, without a wait."""
    resource = GraphMemoryResource(program.device)
    builder = program.device.create_graph_builder().begin_building()
    buffer = resource.allocate(SIZE, stream=builder)
    program.write(builder, buffer)
    graph = builder.end_building().complete()
    graph.launch(program.first)
    if is_ordered:
        program.second.wait(program.first)
    program.read(program.second, buffer)
    program.device.sync()
    buffer.close(program.second)
    program.device.sync()


def host_call_on_managed_memory(program, is_ordered):
    """Read managed memory by a blocking copy while a kernel writes it."""
    buffer = ManagedMemoryResource().allocate(SIZE, stream=program.first)
    program.first.sync()
    program.write(program.first, buffer)
    if is_ordered:
        program.first.sync()
    driver.cuMemcpyDtoH(bytearray(256), int(buffer.handle), 256)
    program.device.sync()
    buffer.close(program.first)


def memset_of_managed_memory(program, is_ordered):
    """Fill managed memory by a blocking call while a kernel reads it."""
    buffer = ManagedMemoryResource().allocate(SIZE, stream=program.first)
    buffer.fill(0, stream=program.first)
    program.first.sync()
    program.read(program.first, buffer)
    if is_ordered:
        program.device.sync()
    driver.cuMemsetD8(int(buffer.handle), 1, 64)
    program.device.sync()
    buffer.close(program.first)


def managed_memory_of_two_devices(program, is_ordered):
    """Write managed memory on one device while a kernel of another one reads it."""
    buffer = ManagedMemoryResource().allocate(SIZE, stream=program.first)
    program.first.sync()
    program.write(program.first, buffer)
    other = Device(1)
    other.set_current()
    stream = other.create_stream()
    if is_ordered:
        stream.wait(program.first)
    driver.cuMemsetD8Async(int(buffer.handle), 1, 64, int(stream.handle))
    stream.sync()
    program.device.set_current()
    program.device.sync()
    buffer.close(program.first)


def told_by_a_host_function(program, is_ordered):
    """Wait for a host function behind the writer, or for one of another stream."""
    called = threading.Event()
    function = HOST_FUNCTION(lambda _: called.set())
    program.write(program.first)
    address = ctypes.cast(function, ctypes.c_void_p).value
    stream = program.first if is_ordered else program.second
    driver.cuLaunchHostFunc(int(stream.handle), address, 0)
    called.wait()
    program.read(program.second)
    program.device.sync()


def told_by_a_node_of_a_graph(program, is_ordered):
    """Wait for a host node behind the writer of a graph, or beside it."""
    called = threading.Event()
    builder = program.device.create_graph_builder().begin_building()
    first, second = builder.split(2)
    program.write(first)
    (first if is_ordered else second).callback(called.set)
    graph = GraphBuilder.join(first, second).end_building().complete()
    graph.launch(program.first)
    called.wait()
    program.read(program.second)
    program.device.sync()
    graph.close()


def host_function_before_the_writer(program, is_ordered):
    """Wait for a host function of the same stream, before or behind the writer."""
    called = threading.Event()
    function = HOST_FUNCTION(lambda _: called.set())
    address = ctypes.cast(function, ctypes.c_void_p).value
    if not is_ordered:
        driver.cuLaunchHostFunc(int(program.first.handle), address, 0)
    program.write(program.first)
    if is_ordered:
        driver.cuLaunchHostFunc(int(program.first.handle), address, 0)
    called.wait()
    program.read(program.second)
    program.device.sync()


def halves_of_a_staging_buffer(program, is_ordered):
    """Upload to the half that a kernel of the round before the last may still read."""
    host, address = driver.cuMemAllocHost(SIZE)[1], int(program.buffer.handle)
    events = [program.device.create_event() for _ in range(2)]
    for turn in range(4):
        half, event = turn % 2, events[turn % 2]
        if is_ordered and turn > 1:
            program.first.wait(event)
        driver.cuMemcpyHtoDAsync(address + UNITS * half, host, UNITS, program.first.handle)
        program.second.wait(program.first)
        program.read(program.second, offset=UNITS * half)
        program.second.record(event)
    program.device.sync()
    driver.cuMemFreeHost(host)


CASES = {
    each.__name__: each
    for each in (
        copy_of_rows, child_graph, body_beside_a_stream, branches_of_a_body, graph_after_a_free,
        pinned_source, two_copies_to_the_host, event_of_an_earlier_round,
        legacy_stream_and_a_nonblocking_one, wait_for_the_wrong_stream,
        peer_copy, memory_of_a_graph, host_call_on_managed_memory, memset_of_managed_memory,
        managed_memory_of_two_devices, told_by_a_host_function, told_by_a_node_of_a_graph,
        host_function_before_the_writer, halves_of_a_staging_buffer,
    )
}  # fmt: skip
