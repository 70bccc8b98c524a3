# SPDX-License-Identifier: Apache-2.0
"""GraphBuilder: its stages, branches, bodies, callbacks, and calls that invalidate a capture."""

import pickle

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode, launch
from cuda.core.graph import GraphBuilder, GraphCompleteOptions, GraphDebugPrintOptions

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
numbers = pinned.allocate(64)


def begun(*arguments):
    return device.create_graph_builder().begin_building(*arguments)


def ended(*values):
    builder = begun()
    for value in values:
        launch(builder, ONE, kernel, numbers, value)
    return builder.end_building()


def number():
    return int.from_bytes(bytes(memoryview(pinned_bytes()))[:4], "little")


def pinned_bytes():
    import ctypes

    return ctypes.string_at(int(numbers.handle), 64)


def run(builder):
    numbers.fill(0, stream=stream)
    graph = builder.complete()
    graph.launch(stream)
    stream.sync()
    return number()


def stages():
    builder = device.create_graph_builder()
    facts = [(builder.is_building, builder.is_join_required)]
    facts.append(builder.begin_building() is builder)
    facts.append((builder.is_building, builder.is_join_required))
    facts.append(builder.end_building() is builder)
    facts.append((builder.is_building, builder.is_join_required))
    builder.close()
    builder.close()
    return facts


def wrong_order(*names):
    builder = device.create_graph_builder()
    facts = []
    for name in names:
        try:
            facts.append(type(getattr(builder, name)()))
        except Exception as error:
            facts.append(type(error).__name__)
    builder.close()
    return facts


def branches():
    first, second, third = begun().split(3)
    flags = [(each.is_building, each.is_join_required) for each in (first, second, third)]
    for value, each in enumerate((first, second, third), 1):
        launch(each, ONE, kernel, numbers, value)
        first = GraphBuilder.join(first, each) if each is not first else first
    return flags, first.is_join_required, len(first.end_building().graph_definition.nodes())


def joined_forks():
    first, second, third = begun().split(3)
    root = GraphBuilder.join(second, third)
    facts = [root is second, root.is_join_required]
    return [*facts, GraphBuilder.join(first, root).end_building().is_building]


def unjoined():
    first, second = begun().split(2)
    launch(second, ONE, kernel, numbers, 1)
    try:
        first.end_building()
    except Exception as error:
        result = type(error).__name__
    for each in (second, first):
        each.close()
    return result


def of_a_stream():
    builder = stream.create_graph_builder().begin_building()
    launch(builder, ONE, kernel, numbers, 1)
    builder.end_building()
    sum_ = run(builder)
    builder.close()
    return builder.stream is stream, sum_, int(stream.handle) != 0


def conditional(name, value, *extra):
    builder = begun()
    bodies_of_condition = getattr(builder, name)(builder.create_condition(value), *extra)
    bodies = (
        bodies_of_condition if isinstance(bodies_of_condition, tuple) else (bodies_of_condition,)
    )
    for place, body in enumerate(bodies, 1):
        body.begin_building()
        launch(body, ONE, kernel, numbers, place)
        body.end_building()
    return len(bodies), type(bodies_of_condition), run(builder.end_building())


def embedded():
    child, builder = ended(1, 2), begun()
    launch(builder, ONE, kernel, numbers, 4)
    builder.embed(child)
    return run(builder.end_building()), len(builder.graph_definition.nodes())


def called_back(arguments):
    calls, builder = [], begun()
    builder.callback(lambda: calls.append(arguments))
    run(builder.end_building())
    return calls


def broken():
    builder = device.create_graph_builder().begin_building()
    facts = []
    for call in (device.sync, builder.stream.sync, builder.end_building, builder.complete):
        try:
            facts.append(repr(call()))
        except Exception as error:
            facts.append(type(error).__name__)
    builder.close()
    return facts


def completed_twice():
    builder = ended(3)
    graphs = builder.complete(), builder.complete()
    numbers.fill(0, stream=stream)
    for each in graphs:
        each.launch(stream)
    stream.sync()
    return number(), graphs[0].handle == graphs[1].handle, graphs[0] is graphs[1]


def after_close(use):
    builder = ended(1)
    builder.close()
    return use(builder)


CASES = [
    stages,
    lambda: wrong_order("end_building"),
    lambda: wrong_order("complete"),
    lambda: wrong_order("begin_building", "begin_building"),
    lambda: wrong_order("begin_building", "complete"),
    lambda: wrong_order("begin_building", "end_building", "end_building"),
    lambda: wrong_order("begin_building", "end_building", "begin_building"),
    branches,
    joined_forks,
    unjoined,
    of_a_stream,
    lambda: conditional("if_then", 1),
    lambda: conditional("if_then", 0),
    lambda: conditional("if_else", 1),
    lambda: conditional("if_else", 0),
    lambda: conditional("switch", 2, 3),
    lambda: conditional("switch", 7, 3),
    lambda: conditional("while_loop", 0),
    embedded,
    lambda: called_back(5),
    broken,
    completed_twice,
    lambda: run(ended()),
    lambda: run(ended(1, 2, 3)),
    lambda: begun("relaxed").end_building().is_building,
    lambda: begun("global").end_building().is_building,
    lambda: begun("thread_local").end_building().is_building,
    lambda: begun("other"),
    lambda: begun(3),
    lambda: GraphBuilder(),
    lambda: begun().split(1),
    lambda: begun().split(0),
    lambda: begun().split("2"),
    lambda: ended().split(2),
    lambda: GraphBuilder.join(begun()),
    lambda: GraphBuilder.join(),
    lambda: GraphBuilder.join(3, 4),
    lambda: begun().embed(3),
    lambda: begun().embed(begun()),
    lambda: ended().embed(ended()),
    lambda: begun().callback(3),
    lambda: ended().callback(len),
    lambda: ended().create_condition(1),
    lambda: ended().if_then(3),
    lambda: begun().if_then(3),
    lambda: ended(1).complete(GraphCompleteOptions(auto_free_on_launch=True)).handle != 0,
    lambda: ended(1).complete(GraphCompleteOptions(upload_stream=stream)).handle != 0,
    lambda: ended(1).complete(GraphCompleteOptions(use_node_priority=True)).handle != 0,
    lambda: ended(1).complete({"auto_free_on_launch": True}).handle != 0,
    lambda: ended(1).complete(3),
    lambda: GraphCompleteOptions(),
    lambda: GraphDebugPrintOptions(),
    lambda: ended().debug_dot_print("/nowhere/at/all.dot"),
    lambda: type(ended().graph_definition),
    lambda: begun().graph_definition,
    lambda: after_close(lambda b: b.complete()),
    lambda: after_close(lambda b: b.begin_building()),
    lambda: after_close(lambda b: b.end_building()),
    lambda: after_close(lambda b: b.is_building),
    lambda: after_close(lambda b: b.split(2)),
    lambda: after_close(lambda b: b.callback(len)),
    lambda: after_close(lambda b: b.graph_definition),
    lambda: after_close(lambda b: launch(b, ONE, kernel, numbers, 1)),
    lambda: pickle.dumps(ended()),
    lambda: type(ended().stream),
]
