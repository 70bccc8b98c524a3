# SPDX-License-Identifier: Apache-2.0
"""Graph: launches, updates, views of nodes, closing; graph memory."""

import ctypes
import gc
import pickle

from cuda.core import (
    Device,
    GraphMemoryResource,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    ObjectCode,
    launch,
)
from cuda.core.graph import Graph, GraphDefinition

device = Device(0)
device.set_current()
stream = device.create_stream()
pinned = LegacyPinnedMemoryResource()
PTX = b"""
.version 8.0
.target sm_75
.address_size 64
.visible .entry f(.param .u64 out, .param .u32 value)
{
    .reg .u64 %rd<2>;
    .reg .u32 %r<3>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [value];
    ld.global.u32 %r2, [%rd1];
    add.u32 %r2, %r2, %r1;
    st.global.u32 [%rd1], %r2;
    ret;
}
"""
kernel = ObjectCode.from_ptx(PTX).get_kernel("f")
ONE = LaunchConfig(grid=1, block=1)
numbers, other_numbers = pinned.allocate(64), pinned.allocate(64)


def definition(value=1, buffer=numbers):
    graph = GraphDefinition()
    return graph, graph.launch(ONE, kernel, buffer, value)


def read(buffer=numbers):
    return int.from_bytes(ctypes.string_at(int(buffer.handle), 4), "little")


def run(graph, times=1):
    numbers.fill(0, stream=stream)
    other_numbers.fill(0, stream=stream)
    for _ in range(times):
        graph.launch(stream)
    stream.sync()
    return read(), read(other_numbers)


def shown():
    graph = definition()[0].instantiate()
    return type(graph), type(graph.handle), int(graph.handle) != 0


def updated_from_another():
    graph = definition(1)[0].instantiate()
    graph.update(definition(5, other_numbers)[0])
    return run(graph, 2)


def updated_from_a_builder():
    graph = definition(1)[0].instantiate()
    builder = device.create_graph_builder().begin_building()
    launch(builder, ONE, kernel, numbers, 7)
    graph.update(builder.end_building())
    return run(graph)


def updated_from_another_shape():
    graph = definition()[0].instantiate()
    other, node = definition()
    node.join()
    return graph.update(other)


def updated_from_another_kind():
    other = GraphDefinition()
    other.memset(numbers, 1, 4)
    return definition()[0].instantiate().update(other)


def changed_definition():
    graph, node = definition(1)
    before = graph.instantiate()
    node.update(args=(other_numbers, 3))
    return run(before), run(graph.instantiate())


def changed_config():
    graph, node = definition(1)
    node.update(config=LaunchConfig(grid=1, block=4))
    facts = [node.block, node.grid]
    node.update(config=ONE, kernel=kernel, args=(numbers, 2))
    return facts, node.block, run(graph.instantiate())


def through_a_view():
    graph, node = definition(1)
    first, second = graph.instantiate(), graph.instantiate()
    first[node].update(config=ONE, kernel=kernel, args=(other_numbers, 9))
    return run(first), run(second), type(first[node])


def switched():
    graph, node = definition(1)
    result = graph.instantiate()
    view = result[node]
    facts = [view.is_enabled, view.disable(), view.is_enabled, run(result)]
    view.enable()
    return [*facts, view.is_enabled, run(result)]


def operands_closed():
    buffer = pinned.allocate(64)
    graph = GraphDefinition()
    graph.memset(buffer, 7, 4)
    result = graph.instantiate()
    buffer.close()
    del graph, buffer
    gc.collect()
    return run(result)


def closed(use):
    graph = definition()[0].instantiate()
    graph.close()
    graph.close()
    return use(graph)


def memory_of_a_capture():
    builder = device.create_graph_builder().begin_building()
    buffer = GraphMemoryResource(device).allocate(64, stream=builder)
    buffer.fill(1, stream=builder)
    buffer.copy_to(numbers, stream=builder)
    buffer.close(builder)
    graph = builder.end_building().complete()
    graph.launch(stream)
    stream.sync()
    return buffer.size, type(buffer.memory_resource), read()


def memory_attributes():
    attributes = GraphMemoryResource(device).attributes
    names = ("reserved_mem_current", "reserved_mem_high", "used_mem_current", "used_mem_high")
    return [type(getattr(attributes, name)) for name in names]


CASES = [
    shown,
    lambda: run(definition(4)[0].instantiate(), 3),
    updated_from_another,
    updated_from_a_builder,
    updated_from_another_shape,
    updated_from_another_kind,
    changed_definition,
    changed_config,
    through_a_view,
    switched,
    operands_closed,
    lambda: definition()[0].instantiate().upload(stream),
    lambda: definition()[0].instantiate().upload(3),
    lambda: definition()[0].instantiate().launch(3),
    lambda: definition()[0].instantiate().launch(),
    lambda: definition()[0].instantiate().update(3),
    lambda: definition()[0].instantiate().update(device.create_graph_builder()),
    lambda: definition()[0].instantiate()[3],
    lambda: definition()[0].instantiate()[definition()[1]],
    lambda: definition()[1].update(kernel=kernel),
    lambda: definition()[1].update(args=(numbers,)),
    lambda: definition()[1].update(config=3),
    lambda: definition()[1].update(),
    lambda: definition()[1].update(3),
    lambda: Graph(),
    lambda: closed(lambda g: int(g.handle)),
    lambda: closed(lambda g: g.launch(stream)),
    lambda: closed(lambda g: g.upload(stream)),
    lambda: closed(lambda g: g.update(definition()[0])),
    lambda: closed(lambda g: g[definition()[1]]),
    lambda: pickle.dumps(definition()[0].instantiate()),
    lambda: definition()[0].instantiate(3),
    memory_of_a_capture,
    memory_attributes,
    lambda: GraphMemoryResource(0) is GraphMemoryResource(device),
    lambda: GraphMemoryResource(device).trim(),
    lambda: GraphMemoryResource(device).allocate(64, stream=stream),
    lambda: GraphMemoryResource("x"),
    lambda: GraphMemoryResource(device).device_id,
    lambda: GraphMemoryResource(device).is_device_accessible,
    lambda: GraphMemoryResource(device).is_host_accessible,
]
