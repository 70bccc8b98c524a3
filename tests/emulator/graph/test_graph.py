# SPDX-License-Identifier: Apache-2.0
"""Graphs: nodes of each kind, edges, clones, executables, and rejected calls."""

import ctypes

import pytest
from cuda.bindings import driver
from cuda.core import emulation

from tests.emulator.graph.conftest import check, copy, empty, fill, launch, read, skip_without

INVALID = driver.CUresult.CUDA_ERROR_INVALID_VALUE
Type = driver.CUgraphNodeType


def test_branches_run_in_the_order_of_their_edges(graph, streams, memory):
    first = fill(graph, memory, 3)
    left, right = copy(graph, memory + 16, memory, first), copy(graph, memory + 32, memory, first)
    copy(graph, memory + 48, memory + 32, left, right)
    launch(graph, streams[0], times=3)
    assert read(memory, 64) == b"\3" * 64


def test_a_kernel_node_keeps_its_arguments(graph, kernels, streams, memory):
    parameters = kernels.parameters("store", memory, 77)
    node = check(*driver.cuGraphAddKernelNode(graph, [], 0, parameters))
    kernels.refs[0][1].value = 5
    launch(graph, streams[0])
    assert read(memory, 4) == (77).to_bytes(4, "little")
    known = check(*driver.cuGraphKernelNodeGetParams(node))
    assert int(known.func) == int(kernels.function("store"))
    assert known.blockDimX == 1


def test_host_nodes_run_and_return_their_parameters(graph, streams):
    seen = []
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: seen.append(data))
    parameters = driver.CUDA_HOST_NODE_PARAMS()
    parameters.fn, parameters.userData = ctypes.cast(function, ctypes.c_void_p).value, 9
    node = check(*driver.cuGraphAddHostNode(graph, [], 0, parameters))
    launch(graph, streams[0], times=2)
    assert seen == [9, 9]
    assert int(check(*driver.cuGraphHostNodeGetParams(node)).userData) == 9


def test_event_nodes_order_other_streams(graph, streams, events, memory):
    node = fill(graph, memory, 4)
    recorded = check(*driver.cuGraphAddEventRecordNode(graph, [node], 1, events[0]))
    assert int(check(*driver.cuGraphEventRecordNodeGetEvent(recorded))) == int(events[0])
    waits = check(*driver.cuGraphAddEventWaitNode(graph, [], 0, events[1]))
    assert int(check(*driver.cuGraphEventWaitNodeGetEvent(waits))) == int(events[1])
    executable = check(*driver.cuGraphInstantiate(graph, 0))
    check(*driver.cuGraphLaunch(executable, streams[0]))
    check(*driver.cuStreamWaitEvent(streams[1], events[0], 0))
    check(*driver.cuMemcpyDtoDAsync(memory + 16, memory, 16, streams[1]))
    check(*driver.cuStreamSynchronize(streams[1]))
    check(*driver.cuStreamSynchronize(streams[0]))
    assert read(memory, 32) == b"\4" * 32
    check(*driver.cuGraphExecDestroy(executable))


def test_a_child_graph_is_a_copy_that_belongs_to_its_node(graph, streams, memory):
    child = check(*driver.cuGraphCreate(0))
    fill(child, memory, 6)
    node = check(*driver.cuGraphAddChildGraphNode(graph, [], 0, child))
    check(*driver.cuGraphDestroy(child))
    inner = check(*driver.cuGraphChildGraphNodeGetGraph(node))
    assert check(*driver.cuGraphGetNodes(inner, 4))[1] == 1
    assert driver.cuGraphDestroy(inner)[0] == INVALID
    copy(graph, memory + 16, memory, node)
    launch(graph, streams[0])
    assert read(memory, 32) == b"\6" * 32


def test_an_executable_outlives_its_graph(streams, memory):
    graph = check(*driver.cuGraphCreate(0))
    fill(graph, memory, 8)
    executable = check(*driver.cuGraphInstantiate(graph, 0))
    check(*driver.cuGraphDestroy(graph))
    check(*driver.cuGraphLaunch(executable, streams[0]))
    check(*driver.cuStreamSynchronize(streams[0]))
    assert read(memory, 16) == b"\10" * 16
    check(*driver.cuGraphExecDestroy(executable))


def test_a_launch_cannot_be_captured(graph, streams, memory):
    fill(graph, memory, 8)
    executable = check(*driver.cuGraphInstantiate(graph, 0))
    mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    check(*driver.cuStreamBeginCapture(streams[0], mode))
    refused = driver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
    assert driver.cuGraphLaunch(executable, streams[0])[0] == refused
    status, captured = driver.cuStreamEndCapture(streams[0])
    if status == 0:  # whether the capture remains valid is not specified
        check(*driver.cuGraphDestroy(captured))
    check(*driver.cuStreamSynchronize(streams[0]))
    assert read(memory, 16) == bytes(16)
    check(*driver.cuGraphExecDestroy(executable))


def test_edges_are_added_queried_and_removed(graph):
    first, second = empty(graph), empty(graph)
    check(*driver.cuGraphAddDependencies(graph, [first], [second], None, 1))
    assert int(check(*driver.cuGraphNodeGetDependencies(second, 4))[0][0]) == int(first)
    assert int(check(*driver.cuGraphNodeGetDependentNodes(first, 4))[0][0]) == int(second)
    assert driver.cuGraphAddDependencies(graph, [first], [second], None, 1)[0] == INVALID
    check(*driver.cuGraphRemoveDependencies(graph, [first], [second], None, 1))
    assert driver.cuGraphRemoveDependencies(graph, [first], [second], None, 1)[0] == INVALID
    assert check(*driver.cuGraphGetEdges(graph, 4))[3] == 0


def test_a_cycle_is_not_instantiated(graph):
    first = empty(graph)
    second = empty(graph, first)
    check(*driver.cuGraphAddDependencies(graph, [second], [first], None, 1))
    assert driver.cuGraphInstantiate(graph, 0)[0] == INVALID
    assert driver.cuGraphCreate(1)[0] != 0


def test_clones_know_their_originals(graph):
    first = empty(graph)
    second = empty(graph, first)
    clone = check(*driver.cuGraphClone(graph))
    twin = check(*driver.cuGraphNodeFindInClone(second, clone))
    assert int(twin) != int(second)
    assert check(*driver.cuGraphNodeGetType(twin)) == Type.CU_GRAPH_NODE_TYPE_EMPTY
    check(*driver.cuGraphDestroyNode(first))
    assert check(*driver.cuGraphGetNodes(graph, 4))[1] == 1
    assert check(*driver.cuGraphGetNodes(clone, 4))[1] == 2
    assert driver.cuGraphNodeFindInClone(twin, graph)[0] == INVALID
    check(*driver.cuGraphDestroy(clone))


def test_nodes_of_another_graph_are_refused_as_dependencies(graph):
    other = check(*driver.cuGraphCreate(0))
    node = empty(other)
    assert driver.cuGraphAddEmptyNode(graph, [node], 1)[0] == INVALID
    check(*driver.cuGraphDestroy(other))


@pytest.mark.skipif(not emulation.is_active(), reason="a GPU's driver may end the process")
@pytest.mark.cuda_expect_fault("destroyed-handle")
def test_uses_of_destroyed_graphs_nodes_and_executables_are_reported(streams):
    graph = check(*driver.cuGraphCreate(0))
    node = empty(graph)
    executable = check(*driver.cuGraphInstantiate(graph, 0))
    check(*driver.cuGraphDestroy(graph))
    check(*driver.cuGraphExecDestroy(executable))
    assert driver.cuGraphNodeGetType(node)[0] == INVALID
    assert driver.cuGraphClone(graph)[0] == INVALID
    assert driver.cuGraphLaunch(executable, streams[0])[0] == INVALID


def test_parameters_of_a_node_are_set_in_an_executable(graph, streams, memory):
    skip_without("cuGraphNodeGetParams")
    node = fill(graph, memory, 1)
    executable = check(*driver.cuGraphInstantiate(graph, 0))
    parameters = check(*driver.cuGraphNodeGetParams(node))
    parameters.memset.value = 2
    check(*driver.cuGraphExecNodeSetParams(executable, node, parameters))
    check(*driver.cuGraphLaunch(executable, streams[0]))
    check(*driver.cuStreamSynchronize(streams[0]))
    assert read(memory, 16) == b"\2" * 16
    assert check(*driver.cuGraphMemsetNodeGetParams(node)).value == 1
    check(*driver.cuGraphExecDestroy(executable))
