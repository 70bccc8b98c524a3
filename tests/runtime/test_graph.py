# SPDX-License-Identifier: Apache-2.0
"""Graphs of the runtime: what is captured, built, updated, chosen and kept."""

import ctypes
import threading

import pytest
from cuda.bindings import runtime

from .conftest import ok

Error = runtime.cudaError_t
Type = runtime.cudaGraphNodeType


@pytest.fixture
def graph():
    made = ok(runtime.cudaGraphCreate(0))
    yield made
    ok(runtime.cudaGraphDestroy(made))


def fill(graph, address, value, *after, size=16):
    wanted = runtime.cudaMemsetParams()
    wanted.dst, wanted.value, wanted.elementSize = address, value, 1
    wanted.width, wanted.height = size, 1
    return ok(runtime.cudaGraphAddMemsetNode(graph, list(after), len(after), wanted))


def read(address, size=1):
    found = bytearray(size)
    kind = runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost
    ok(runtime.cudaMemcpy(found, address, size, kind))
    return bytes(found)


def run(executable, stream):
    ok(runtime.cudaGraphLaunch(executable, stream))
    ok(runtime.cudaStreamSynchronize(stream))


def test_an_update_takes_the_parameters_of_another_graph(graph, stream, memory):
    address = memory(16)
    node = fill(graph, address, 1)  # nodes of the graph of an update name none of the executable
    executable = ok(runtime.cudaGraphInstantiate(graph, 0))
    other = ok(runtime.cudaGraphCreate(0))
    fill(other, address, 2)
    result = ok(runtime.cudaGraphExecUpdate(executable, other)).result
    assert result == runtime.cudaGraphExecUpdateResult.cudaGraphExecUpdateSuccess
    run(executable, stream)
    assert read(address) == b"\2"
    wanted = ok(runtime.cudaGraphMemsetNodeGetParams(node))
    wanted.value = 3
    ok(runtime.cudaGraphExecMemsetNodeSetParams(executable, node, wanted))
    run(executable, stream)
    assert read(address) == b"\3"
    ok(runtime.cudaGraphNodeSetEnabled(executable, node, 0))
    assert ok(runtime.cudaGraphNodeGetEnabled(executable, node)) == 0
    ok(runtime.cudaGraphExecDestroy(executable))
    ok(runtime.cudaGraphDestroy(other))


def test_a_condition_chooses_a_graph(graph, stream, memory):
    address = memory(16)
    handle = ok(runtime.cudaGraphConditionalHandleCreate(graph, 1, 1))
    wanted = runtime.cudaGraphNodeParams()
    wanted.type = Type.cudaGraphNodeTypeConditional
    wanted.conditional.handle = handle
    wanted.conditional.type = runtime.cudaGraphConditionalNodeType.cudaGraphCondTypeSwitch
    wanted.conditional.size = 2
    node = ok(runtime.cudaGraphAddNode(graph, [], None, 0, wanted))
    assert ok(runtime.cudaGraphNodeGetType(node)) == Type.cudaGraphNodeTypeConditional
    for i, body in enumerate(wanted.conditional.phGraph_out):
        fill(body, address, 5 + i)
    executable = ok(runtime.cudaGraphInstantiate(graph, 0))
    run(executable, stream)
    assert read(address) == b"\6"
    ok(runtime.cudaGraphExecDestroy(executable))


def test_memory_of_a_graph_is_allocated_and_freed_in_it(graph, stream, memory):
    address = memory(16)
    wanted = runtime.cudaMemAllocNodeParams()
    wanted.poolProps.allocType = runtime.cudaMemAllocationType.cudaMemAllocationTypePinned
    wanted.poolProps.location.type = runtime.cudaMemLocationType.cudaMemLocationTypeDevice
    wanted.bytesize = 16
    made = ok(runtime.cudaGraphAddMemAllocNode(graph, [], 0, wanted))
    own = int(wanted.dptr)
    assert int(ok(runtime.cudaGraphMemAllocNodeGetParams(made)).dptr) == own
    filled = fill(graph, own, 9, made)
    kind = runtime.cudaMemcpyKind.cudaMemcpyDeviceToDevice
    copied = ok(runtime.cudaGraphAddMemcpyNode1D(graph, [filled], 1, address, own, 16, kind))
    ok(runtime.cudaGraphAddMemFreeNode(graph, [copied], 1, own))
    executable = ok(runtime.cudaGraphInstantiate(graph, 0))
    run(executable, stream)
    run(executable, stream)
    assert read(address) == b"\11"
    attribute = runtime.cudaGraphMemAttributeType.cudaGraphMemAttrUsedMemCurrent
    assert int(ok(runtime.cudaDeviceGetGraphMemAttribute(0, attribute))) > 0
    ok(runtime.cudaGraphExecDestroy(executable))
    ok(runtime.cudaDeviceGraphMemTrim(0))
    assert int(ok(runtime.cudaDeviceGetGraphMemAttribute(0, attribute))) == 0


def test_user_objects_go_with_their_graph():
    gone = threading.Event()
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: gone.set())
    host = runtime.cudaHostFn_t(ctypes.cast(function, ctypes.c_void_p).value)
    graph = ok(runtime.cudaGraphCreate(0))
    made = ok(runtime.cudaUserObjectCreate(0, host, 1, 1))
    ok(runtime.cudaGraphRetainUserObject(graph, made, 1, 1))
    assert not gone.is_set()
    ok(runtime.cudaGraphDestroy(graph))
    assert gone.wait(30)


def test_a_graph_is_drawn_and_its_nodes_are_numbered(graph, memory, tmp_path):
    node = fill(graph, memory(16), 1)
    if ok(runtime.cudaDriverGetVersion()) >= 13010:
        assert ok(runtime.cudaGraphNodeGetLocalId(node)) == 0
    else:
        code = runtime.cudaGraphNodeGetLocalId(node)[0]
        assert code == Error.cudaErrorCallRequiresNewerDriver
    path = tmp_path / "graph.dot"
    ok(runtime.cudaGraphDebugDotPrint(graph, str(path).encode(), 1))
    assert path.read_text().startswith("digraph")


def test_a_cycle_is_told_with_its_node(graph):
    first = ok(runtime.cudaGraphAddEmptyNode(graph, [], 0))
    second = ok(runtime.cudaGraphAddEmptyNode(graph, [first], 1))
    ok(runtime.cudaGraphAddDependencies(graph, [second], [first], None, 1))
    wanted = runtime.cudaGraphInstantiateParams()
    code, _ = runtime.cudaGraphInstantiateWithParams(graph, wanted)
    assert code == Error.cudaErrorInvalidValue
    invalid = runtime.cudaGraphInstantiateResult.cudaGraphInstantiateInvalidStructure
    assert wanted.result_out == invalid
    assert int(wanted.errNode_out) in (int(first), int(second))
