# SPDX-License-Identifier: Apache-2.0
"""GraphDefinition: nodes of each kind, edges, conditions, identity, rejected calls."""

import ctypes
import gc
import pickle

from cuda.core import Device, EventOptions, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode
from cuda.core.graph import GraphCondition, GraphDefinition

device = Device(0)
device.set_current()
stream = device.create_stream()
pinned = LegacyPinnedMemoryResource()
PTX = b"""
.version 8.0
.target sm_75
.address_size 64
.visible .entry f(.param .u64 out, .param .u32 value) { ret; }
.visible .entry none() { ret; }
"""
code = ObjectCode.from_ptx(PTX)
kernel, none = code.get_kernel("f"), code.get_kernel("none")
ONE = LaunchConfig(grid=1, block=1)
memory = pinned.allocate(256)
ADDRESS = int(memory.handle)
another = GraphDefinition()
kept_condition = another.create_condition(1)


def graph_of(*kinds):
    """A chain of nodes."""
    graph = place = GraphDefinition()
    for kind in kinds:
        place = kind(place)
    return graph, place


def launched(place):
    return place.launch(ONE, kernel, memory, 1)


def filled(place):
    return place.memset(memory, 1, 64)


def copied(place):
    return place.memcpy(memory, ADDRESS + 128, 64)


def called(place):
    return place.callback(len)


def recorded(place):
    return place.record(device.create_event())


def waited(place):
    return place.wait(device.create_event())


def embedded(place):
    return place.embed(graph_of(filled)[0])


def allocated(place):
    return place.allocate(64)


KINDS = [launched, filled, copied, called, recorded, waited, embedded, allocated]


def conditional(name, *extra):
    graph = GraphDefinition()
    return getattr(graph, name)(graph.create_condition(1), *extra)


def shown(node):
    return type(node), node.type, repr(node)


def every_kind():
    return [shown(graph_of(kind)[1]) for kind in KINDS]


def every_kind_met_again():
    facts = []
    for kind in KINDS:
        graph, _ = graph_of(kind)
        gc.collect()
        (node,) = graph.nodes()
        facts.append(shown(node))
    return facts


def of_a_kernel():
    node = graph_of(lambda g: g.launch(LaunchConfig((2, 3), None, 4, 16), kernel, memory, 1))[1]
    return node.grid, node.block, node.shmem_size, node.kernel == kernel, node.config


def of_a_memset(**arguments):
    node = graph_of(lambda g: g.memset(memory, b"\1\2", 4, **arguments))[1]
    return (
        node.dptr == ADDRESS,
        node.value,
        node.element_size,
        node.width,
        node.height,
        node.pitch,
    )


def of_a_memcpy():
    node = graph_of(copied)[1]
    return node.dst == ADDRESS, node.src == ADDRESS + 128, node.size


def of_an_allocation(**arguments):
    node = graph_of(lambda g: g.allocate(64, **arguments))[1]
    return node.bytesize, node.device_id, node.memory_type, node.peer_access, node.dptr > 0


def of_a_free():
    _, node = graph_of(allocated)
    freed = node.deallocate(node.dptr)
    return shown(freed), freed.dptr == node.dptr, freed.pred == {node}


def of_an_event():
    event = device.create_event(EventOptions(timing_enabled=True))
    node = graph_of(lambda g: g.record(event))[1]
    return node.event == event, node.event.is_timing_enabled, type(node.event)


def of_a_callback():
    node = graph_of(called)[1]
    return node.callback is len, node.callback


def of_a_child():
    graph, node = graph_of(embedded)
    child = node.child_graph
    facts = [child.is_valid, len(child.nodes()), child == node.child_graph]
    node.destroy()
    return [*facts, child.is_valid, len(graph.nodes())]


def of_conditions():
    facts = []
    for name, extra in (("if_then", ()), ("if_else", ()), ("while_loop", ()), ("switch", (3,))):
        node = conditional(name, *extra)
        facts.append((shown(node), node.cond_type, len(node.branches), type(node.condition)))
    return facts


def bodies():
    either = conditional("if_else")
    loop = conditional("while_loop")
    return (
        type(either.then),
        either.then in either.branches,
        either.else_ in either.branches,
        either.then == either.else_,
        loop.body == loop.branches[0],
    )


def equality():
    graph = GraphDefinition()
    a, b = graph.empty(), graph.empty()
    (only,) = [node for node in graph.nodes() if node == a]
    return a == b, a is only, a == 3, len({a, b, only}), graph == a.graph, graph is a.graph


def of_edges():
    graph = GraphDefinition()
    a = graph.empty()
    b, c = a.join(), a.join()
    d = b.join(c)
    edges = {(a, b), (a, c), (b, d), (c, d)}
    return (
        graph.edges() == edges,
        a.succ == {b, c},
        d.pred == {b, c},
        len(d.pred),
        a.pred == set(),
        b in a.succ,
        3 in a.succ,
        repr(a.pred),
        type(a.succ),
        sorted(map(len, (a.succ, b.succ))),
    )


def changed_edges():
    graph = GraphDefinition()
    a, b, c = graph.empty(), graph.empty(), graph.empty()
    facts = []
    for change in (
        lambda: c.pred.add(a),
        lambda: c.pred.update([a, b]),
        lambda: c.pred.discard(a),
        lambda: c.pred.discard(a),
        lambda: c.pred.remove(a),
        lambda: a.succ.add(c),
        lambda: a.succ.clear(),
        lambda: setattr(c, "pred", {a}),
        lambda: setattr(c, "pred", ()),
        lambda: c.pred.add(3),
        lambda: c.pred.add(GraphDefinition().empty()),
        lambda: c.pred.add(c),
        lambda: graph.add_edge(a, b) if hasattr(graph, "add_edge") else a.succ.add(b),
    ):
        try:
            change()
        except Exception as error:
            facts.append(type(error).__name__)
        facts.append((len(c.pred), len(a.succ)))
    return facts


def operators_give():
    graph = GraphDefinition()
    a = graph.empty()
    b = a.join()
    return [
        type(a.succ | set()),
        type(a.succ & {b}),
        type(a.succ - {b}),
        a.succ ^ {b},
        a.succ <= {b},
        a.succ.isdisjoint({a}),
    ]


def destroyed():
    graph, node = graph_of(launched)
    later = node.join()
    node.destroy()
    node.destroy()
    facts = [node.is_valid, node.type, node.handle, repr(node), len(graph.nodes())]
    return [*facts, later.pred == set(), isinstance(hash(node), int), node == node, node == later]


def used_after_the_end(use):
    _, node = graph_of(launched)
    node.destroy()
    return use(node)


def with_ctypes(prototype, **arguments):
    return shown(graph_of(lambda g: g.callback(prototype(lambda *a: None), **arguments))[1])


def from_two_graphs():
    return GraphDefinition().empty().join(GraphDefinition().empty())


CASES = [
    every_kind,
    every_kind_met_again,
    of_a_kernel,
    of_a_memset,
    lambda: of_a_memset(height=3, pitch=16),
    lambda: of_a_memset(pitch=16),
    of_a_memcpy,
    of_an_allocation,
    lambda: of_an_allocation(device=0),
    lambda: of_an_allocation(device=device),
    lambda: of_an_allocation(memory_type="managed"),
    lambda: of_an_allocation(memory_type="pinned"),
    lambda: of_an_allocation(peer_access=[0]),
    lambda: graph_of(lambda g: g.allocate(-1)),
    lambda: graph_of(lambda g: g.allocate("64")),
    of_a_free,
    of_an_event,
    of_a_callback,
    of_a_child,
    of_conditions,
    bodies,
    equality,
    of_edges,
    changed_edges,
    operators_give,
    destroyed,
    lambda: used_after_the_end(lambda n: n.launch(ONE, none)),
    lambda: used_after_the_end(lambda n: n.join()),
    lambda: used_after_the_end(lambda n: n.succ == set()),
    lambda: used_after_the_end(lambda n: list(n.pred)),
    lambda: used_after_the_end(lambda n: n.pred.add(n)),
    lambda: used_after_the_end(lambda n: n.update(args=(memory, 1))),
    lambda: used_after_the_end(lambda n: n.graph.nodes()),
    from_two_graphs,
    lambda: GraphDefinition(3),
    lambda: GraphDefinition().handle != GraphDefinition().handle,
    lambda: type(GraphDefinition().handle),
    lambda: repr(GraphDefinition()),
    lambda: (GraphDefinition().nodes(), GraphDefinition().edges()),
    lambda: GraphDefinition() == 3,
    lambda: pickle.dumps(GraphDefinition()),
    lambda: type(graph_of(launched)[1])(),
    lambda: GraphCondition(),
    lambda: type(GraphDefinition().create_condition()),
    lambda: type(GraphDefinition().create_condition().handle),
    lambda: GraphDefinition().create_condition(-1),
    lambda: GraphDefinition().create_condition("1"),
    lambda: GraphDefinition().if_then(3),
    lambda: GraphDefinition().if_then(kept_condition),
    lambda: conditional("switch", 0),
    lambda: conditional("switch", -1),
    lambda: conditional("switch", "2"),
    lambda: GraphDefinition().launch(ONE, kernel),
    lambda: GraphDefinition().launch(ONE, kernel, memory, "x"),
    lambda: GraphDefinition().launch(ONE, 3),
    lambda: GraphDefinition().launch(3, kernel, memory, 1),
    lambda: GraphDefinition().launch(kernel, ONE, memory, 1),
    lambda: GraphDefinition().memset(memory, 256, 1),
    lambda: GraphDefinition().memset(memory, -1, 1),
    lambda: GraphDefinition().memset(memory, b"", 1),
    lambda: GraphDefinition().memset(memory, b"123", 1),
    lambda: GraphDefinition().memset(memory, 1, -1),
    lambda: GraphDefinition().memset("x", 1, 1),
    lambda: GraphDefinition().memset(ADDRESS, 1, 1, dst_owner=memory).width,
    lambda: GraphDefinition().memset(memory, 1, 1, dst_owner=memory),
    lambda: GraphDefinition().memcpy(memory, memory, 16).size,
    lambda: GraphDefinition().memcpy(memory, memory, -1),
    lambda: GraphDefinition().memcpy(memory, "x", 1),
    lambda: GraphDefinition().callback(3),
    lambda: GraphDefinition().callback(len, user_data=b"x"),
    lambda: with_ctypes(ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    lambda: with_ctypes(ctypes.CFUNCTYPE(None, ctypes.c_void_p), user_data=b"x"),
    lambda: with_ctypes(ctypes.CFUNCTYPE(None, ctypes.c_void_p), user_data=7),
    lambda: with_ctypes(ctypes.CFUNCTYPE(None, ctypes.c_void_p), user_data="x"),
    lambda: with_ctypes(ctypes.CFUNCTYPE(None)),
    lambda: with_ctypes(ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)),
    lambda: GraphDefinition().embed(3),
    lambda: GraphDefinition().record(3),
    lambda: GraphDefinition().wait(3),
    lambda: GraphDefinition().deallocate(3),
    lambda: GraphDefinition().deallocate("x"),
    lambda: GraphDefinition().join(3),
    lambda: GraphDefinition().debug_dot_print(3),
]
