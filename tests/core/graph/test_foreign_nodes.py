# SPDX-License-Identifier: Apache-2.0
"""Attributes of nodes, also of those that another library added, and sets of adjacent nodes."""

import ctypes

import pytest
from cuda.bindings import driver
from cuda.core import CUDAError, Device, GraphMemoryResource
from cuda.core.graph import (
    AllocNode,
    EventRecordNode,
    FreeNode,
    IfElseNode,
    IfNode,
    SwitchNode,
    WhileNode,
)

CONDITIONAL = driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL
KINDS = driver.CUgraphConditionalNodeType
PINNED = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
MANAGED = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_MANAGED
ON_DEVICE = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE


def checked(result):
    status, *values = result
    assert status == driver.CUresult.CUDA_SUCCESS
    return values[0] if values else None


def native(graph):
    return driver.CUgraph(int(graph.handle))


def test_copies(graph, device, stream):
    memory = device.allocate(8, stream=stream)
    host = (ctypes.c_char * 8)()
    graph.memcpy(memory, ctypes.addressof(host), 8)
    graph.memcpy(ctypes.addressof(host), memory, 4)
    assert graph.tree().split("\n") == ["0: memcpy H to D 8 B", "1: memcpy D to H 4 B"]
    memory.close()


def test_callbacks(graph):
    prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    function = prototype(lambda _: None)
    address = ctypes.cast(function, ctypes.c_void_p).value
    node = graph.callback(function)
    assert repr(node).endswith(f" cfunc=0x{address:x}>")
    assert node.callback is None
    assert graph.callback(print).callback is print
    assert graph.tree().split("\n") == [f"0: host call 0x{address:x}", "1: host call print()"]


def test_conditions(graph):
    nodes = [
        getattr(graph, name)(graph.create_condition(), *counts)
        for name, counts in [("if_then", ()), ("if_else", ()), ("while_loop", ()), ("switch", (3,))]
    ]
    assert [type(node) for node in nodes] == [IfNode, IfElseNode, WhileNode, SwitchNode]
    assert [str(node.cond_type) for node in nodes] == ["if", "if", "while", "switch"]
    assert [len(node.branches) for node in nodes] == [1, 2, 1, 3]


def test_peers_of_an_allocation(graph, device):
    with pytest.warns(DeprecationWarning, match=r"alloc\(\).*allocate\(\)"):
        node = graph.alloc(64)
    with pytest.warns(DeprecationWarning, match=r"AllocNode.options"):
        options = node.options
    assert (options.device, options.memory_type, options.peer_access) == (0, "device", None)
    with pytest.warns(DeprecationWarning):
        managed = graph.alloc(32, {"device": device, "memory_type": "managed"})
    assert (managed.memory_type, managed.device_id, managed.peer_access) == ("managed", 0, ())
    with pytest.warns(DeprecationWarning, match=r"free\(\).*deallocate\(\)"):
        assert managed.free(managed.dptr).dptr == managed.dptr
    with pytest.raises(TypeError, match="a member of peer_access"):
        graph.allocate(64, peer_access=["x"])
    with pytest.raises(CUDAError):
        graph.allocate(64, memory_type="host")


@pytest.mark.parametrize(("kind", "name"), [(PINNED, "device"), (MANAGED, "managed")])
def test_a_foreign_allocation(graph, kind, name):
    params = driver.CUDA_MEM_ALLOC_NODE_PARAMS()
    params.poolProps.allocType, params.bytesize = kind, 80
    params.poolProps.location.type, params.poolProps.location.id = ON_DEVICE, 0
    handle = checked(driver.cuGraphAddMemAllocNode(native(graph), [], 0, params))
    checked(driver.cuGraphAddMemFreeNode(native(graph), [handle], 1, params.dptr))
    node, freed = sorted(graph.nodes(), key=lambda each: type(each).__name__)
    assert (type(node), type(freed)) == (AllocNode, FreeNode)
    assert (node.dptr, node.bytesize, node.device_id) == (int(params.dptr), 80, 0)
    assert (node.memory_type, node.peer_access, freed.dptr) == (name, (), node.dptr)


def test_a_foreign_event_is_borrowed(graph):
    event = checked(driver.cuEventCreate(0))
    checked(driver.cuGraphAddEventRecordNode(native(graph), [], 0, event))
    (node,) = graph.nodes()
    assert type(node) is EventRecordNode and int(node.event.handle) == int(event)
    node.event.close()
    assert checked(driver.cuEventQuery(event)) is None  # the owner destroys it
    checked(driver.cuEventDestroy(event))


@pytest.mark.parametrize(
    ("kind", "size", "cls"),
    [
        (KINDS.CU_GRAPH_COND_TYPE_IF, 1, IfNode),
        (KINDS.CU_GRAPH_COND_TYPE_IF, 2, IfElseNode),
        (KINDS.CU_GRAPH_COND_TYPE_WHILE, 1, WhileNode),
        (KINDS.CU_GRAPH_COND_TYPE_SWITCH, 3, SwitchNode),
    ],
)
def test_a_foreign_condition(graph, kind, size, cls):
    if driver.cuDriverGetVersion()[1] < 13020:
        pytest.skip("the driver does not report the parameters of conditional nodes")
    context = checked(driver.cuCtxGetCurrent())
    condition = checked(driver.cuGraphConditionalHandleCreate(native(graph), context, 0, 0))
    params = driver.CUgraphNodeParams()
    params.type = CONDITIONAL
    params.conditional.handle, params.conditional.type = condition, kind
    params.conditional.size, params.conditional.ctx = size, context
    checked(driver.cuGraphAddNode(native(graph), [], None, 0, params))
    (node,) = graph.nodes()
    assert type(node) is cls and int(node.condition) == int(condition)
    assert len(node.branches) == size
    node.branches[-1].empty()
    assert [len(body.nodes()) for body in node.branches] == [0] * (size - 1) + [1]


class TestAdjacentNodes:
    def test_intersection_and_difference(self, graph):
        first, second, third = (graph.empty() for _ in range(3))
        before = third.pred
        before |= {first}
        before ^= {first, second}
        assert before == {second} and third.pred == {second}
        before |= {first}
        before &= {first, third}
        assert third.pred == {first}
        with pytest.raises(TypeError, match="expected GraphNode, got int"):
            before -= {3}
        with pytest.raises(TypeError, match="expected GraphNode, got str"):
            before.discard("x")
        assert third.pred == {first}

    def test_the_entry_has_the_roots(self, graph):
        entry = graph._entry
        assert set(entry.succ) == set() and set(entry.pred) == set()
        first, second = graph.empty(), graph.empty()
        second.pred.add(first)
        assert entry.succ == {first}
        with pytest.raises(ValueError, match="entry node cannot be used in an edge"):
            entry.succ = {second}
        with pytest.raises(ValueError, match="entry node cannot be used in an edge"):
            entry.succ.add(second)

    def test_a_destroyed_node_has_none(self, graph):
        first = graph.empty()
        second = first.join()
        before = second.pred
        second.destroy()
        assert list(before) == [] and first.succ == set()

    def test_a_set_belongs_to_a_node(self, graph):
        with pytest.raises(RuntimeError, match="GraphNode.pred and GraphNode.succ"):
            type(graph.empty().pred)()


def test_memory_resources_of_graphs(device):
    resource = GraphMemoryResource(device)
    assert repr(resource) == f"<GraphMemoryResource device={device.device_id}>"
    cls, arguments = resource.__reduce__()
    assert cls(*arguments) is resource
    with pytest.raises(RuntimeError, match="cannot be instantiated directly"):
        type(resource.attributes)()
    assert GraphMemoryResource(Device(device.device_id)) is resource


def test_graphs_belong_to_their_process(graph, captured):
    with graph.instantiate() as executable, pytest.raises(TypeError, match="belongs to this proc"):
        executable.__reduce__()
    with pytest.raises(TypeError, match="a GraphBuilder cannot be pickled"):
        captured.__reduce__()
    with pytest.raises(RuntimeError, match="GraphDefinition is initialized already"):
        graph.__init__()
    assert (graph == 3) is False and (graph.empty() == 3) is False
    assert (graph.create_condition() == 3) is False


PEERS = """
from cuda.core import Device, GraphDefinition
there, here = Device(1), Device(0)
for call in (lambda graph: graph.allocate(64), lambda graph: graph.allocate(64, device=0)):
    try:
        print(call(GraphDefinition()).device_id)
    except RuntimeError as error:
        print(error)
here.set_current()
graph = GraphDefinition()
for peers in ([there], [1], [0, there], []):
    node = graph.allocate(64, device=here, peer_access=peers)
    print(node.device_id, node.peer_access)
print(graph.allocate(64, device=there, peer_access=[0]).device_id)
print(sorted({(node.device_id, node.peer_access) for node in graph.nodes()}))
"""


def test_peers_are_devices_or_their_numbers(run_python, two_devices):
    lines = run_python(PEERS, **two_devices).splitlines()
    assert lines[2:] == [
        "0 (1,)",
        "0 (1,)",
        "0 (0, 1)",
        "0 ()",
        "1",
        "[(0, ()), (0, (0, 1)), (0, (1,)), (1, (0,))]",
    ]
    assert lines[0].startswith("No current CUDA context on this thread")


def test_a_callback_node_returns_its_callable(graph):
    def work():
        pass

    node = graph.callback(work)
    assert node.callback is work
    with pytest.warns(DeprecationWarning, match=r"callback_fn.*HostCallbackNode\.callback"):
        assert node.callback_fn is work


def test_an_edge_is_discarded_once(graph):
    first, second = graph.join(), graph.join()
    first.succ.add(second)
    assert second in first.succ and first in second.pred
    first.succ.discard(second)
    first.succ.discard(second)
    assert second not in first.succ
    with pytest.raises(KeyError):
        first.succ.remove(second)
    first.succ.add(second)
    first.succ.remove(second)
    assert list(first.succ) == list(second.pred) == []
