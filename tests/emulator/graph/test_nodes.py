# SPDX-License-Identifier: Apache-2.0
"""Nodes: their numbers, parameters, attributes and edges, and the picture of a graph."""

import re

import pytest
from cuda.bindings import driver
from cuda.core import emulation

from tests.emulator.graph.conftest import (
    check,
    copy,
    copy_parameters,
    empty,
    fill,
    launch,
    read,
    skip_without,
)

R = driver.CUresult
INVALID = R.CUDA_ERROR_INVALID_VALUE
UNSUPPORTED = R.CUDA_ERROR_NOT_SUPPORTED
Attribute = driver.CUlaunchAttributeID
Type = driver.CUgraphNodeType


def test_node_ids_increase_and_never_repeat(graph):
    skip_without("cuGraphNodeGetLocalId")
    nodes = [empty(graph) for _ in range(3)]
    assert [check(*driver.cuGraphNodeGetLocalId(n)) for n in nodes] == [0, 1, 2]
    check(*driver.cuGraphDestroyNode(nodes[2]))
    assert check(*driver.cuGraphNodeGetLocalId(empty(graph))) == 3
    tools = {check(*driver.cuGraphNodeGetToolsId(n)) for n in nodes[:2]}
    assert len(tools) == 2
    assert int(check(*driver.cuGraphNodeGetContainingGraph(nodes[0]))) == int(graph)


def test_a_repeated_dependency_is_refused(graph):
    node = empty(graph)
    assert driver.cuGraphAddEmptyNode(graph, [node, node], 2)[0] == INVALID
    assert check(*driver.cuGraphGetNodes(graph, 4))[1] == 1


def test_edges_before_a_refused_edge_remain(graph):
    first, second, third = (empty(graph) for _ in range(3))
    check(*driver.cuGraphAddDependencies(graph, [first], [second], None, 1))
    result = driver.cuGraphAddDependencies(graph, [second, first], [third, second], None, 2)
    assert result[0] == INVALID
    assert check(*driver.cuGraphGetEdges(graph, 4))[3] == 2


def programmatic():
    data = driver.CUgraphEdgeData()
    data.type = driver.CUgraphDependencyType.CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC
    data.from_port = 1
    return data


def test_programmatic_edges_are_between_kernels(graph, kernels, memory):
    first = kernels.add(graph, "store", memory, 1)
    second = kernels.add(graph, "increase", memory, 1)
    check(*driver.cuGraphAddDependencies(graph, [first], [second], [programmatic()], 1))
    *_, data, count = check(*driver.cuGraphGetEdges(graph, 1))
    assert (count, data[0].from_port, data[0].type) == (1, 1, 1)
    third = empty(graph)
    result = driver.cuGraphAddDependencies(graph, [second], [third], [programmatic()], 1)
    assert result[0] == INVALID


def test_parameters_are_changed_in_the_graph_and_not_in_its_executables(graph, streams, memory):
    node = fill(graph, memory, 1)
    before = check(*driver.cuGraphInstantiate(graph, 0))
    parameters = check(*driver.cuGraphMemsetNodeGetParams(node))
    parameters.value = 2
    check(*driver.cuGraphMemsetNodeSetParams(node, parameters))
    launch(graph, streams[0])
    assert read(memory, 16) == b"\2" * 16
    check(*driver.cuGraphLaunch(before, streams[0]))
    check(*driver.cuStreamSynchronize(streams[0]))
    assert read(memory, 16) == b"\1" * 16
    check(*driver.cuGraphExecDestroy(before))


def test_parameters_of_copies_events_and_kernels_are_set(graph, kernels, streams, events, memory):
    kernel = kernels.add(graph, "store", memory, 5)
    copied = copy(graph, memory + 64, memory, kernel)
    recorded = check(*driver.cuGraphAddEventRecordNode(graph, [copied], 1, events[0]))
    waits = check(*driver.cuGraphAddEventWaitNode(graph, [], 0, events[0]))
    check(*driver.cuGraphKernelNodeSetParams(kernel, kernels.parameters("store", memory, 6)))
    check(*driver.cuGraphMemcpyNodeSetParams(copied, copy_parameters(memory + 32, memory)))
    assert int(check(*driver.cuGraphMemcpyNodeGetParams(copied)).dstDevice) == memory + 32
    check(*driver.cuGraphEventRecordNodeSetEvent(recorded, events[1]))
    check(*driver.cuGraphEventWaitNodeSetEvent(waits, events[2]))
    assert int(check(*driver.cuGraphEventRecordNodeGetEvent(recorded))) == int(events[1])
    assert int(check(*driver.cuGraphEventWaitNodeGetEvent(waits))) == int(events[2])
    launch(graph, streams[0])
    assert read(memory + 32, 1) == b"\6"
    assert driver.cuGraphMemcpyNodeGetParams(kernel)[0] == INVALID
    assert driver.cuGraphHostNodeGetParams(kernel)[0] == INVALID


def test_a_copy_of_rows_is_described_and_executed(graph, streams, memory):
    check(*driver.cuMemcpyHtoD(memory, bytes(range(64)), 64))
    parameters = copy_parameters(memory + 256, memory, width=4)
    parameters.Height = parameters.Depth = 2
    parameters.srcPitch, parameters.srcHeight = 8, 4
    parameters.dstPitch, parameters.dstHeight = 4, 2
    context = check(*driver.cuCtxGetCurrent())
    node = check(*driver.cuGraphAddMemcpyNode(graph, [], 0, parameters, context))
    params = check(*driver.cuGraphMemcpyNodeGetParams(node))
    assert (params.WidthInBytes, params.Height, params.Depth) == (4, 2, 2)
    assert (params.srcPitch, params.srcHeight, params.dstPitch, params.dstHeight) == (8, 4, 4, 2)
    launch(graph, streams[0])
    rows = [bytes(range(start, start + 4)) for start in (0, 8, 32, 40)]
    assert read(memory + 256, 16) == b"".join(rows)


def value(**fields):
    made_ = driver.CUkernelNodeAttrValue()
    for name, content in fields.items():
        setattr(made_, name, content)
    return made_


def test_attributes_of_kernel_nodes_are_set_queried_and_copied(graph, kernels, memory):
    first = kernels.add(graph, "store", memory, 1)
    second = kernels.add(graph, "store", memory, 1)
    priority = Attribute.CU_LAUNCH_ATTRIBUTE_PRIORITY
    cooperative = Attribute.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
    assert check(*driver.cuGraphKernelNodeGetAttribute(first, priority)).priority == 0
    check(*driver.cuGraphKernelNodeSetAttribute(first, priority, value(priority=-3)))
    check(*driver.cuGraphKernelNodeSetAttribute(first, cooperative, value(cooperative=1)))
    check(*driver.cuGraphKernelNodeCopyAttributes(second, first))
    assert check(*driver.cuGraphKernelNodeGetAttribute(second, priority)).priority == -3
    assert check(*driver.cuGraphKernelNodeGetAttribute(second, cooperative)).cooperative == 1
    check(*driver.cuGraphKernelNodeSetParams(second, kernels.parameters("store", memory, 2)))
    assert check(*driver.cuGraphKernelNodeGetAttribute(second, priority)).priority == -3
    sync = Attribute.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY
    assert driver.cuGraphKernelNodeGetAttribute(first, sync)[0] == INVALID
    assert driver.cuGraphKernelNodeGetAttribute(empty(graph), priority)[0] == INVALID


def test_a_captured_launch_keeps_its_attributes(kernels, memory):
    stream = check(*driver.cuStreamCreateWithPriority(1, -2))
    mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
    check(*driver.cuStreamBeginCapture(stream, mode))
    arguments = kernels.parameters("store", memory, 1).kernelParams
    function = kernels.function("store")
    check(*driver.cuLaunchCooperativeKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments))
    graph = check(*driver.cuStreamEndCapture(stream))
    (node,) = check(*driver.cuGraphGetNodes(graph, 1))[0]
    attributes = [
        check(*driver.cuGraphKernelNodeGetAttribute(node, each))
        for each in (
            Attribute.CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
            Attribute.CU_LAUNCH_ATTRIBUTE_PRIORITY,
        )
    ]
    assert (attributes[0].cooperative, attributes[1].priority) == (1, -2)
    check(*driver.cuGraphDestroy(graph))
    check(*driver.cuStreamDestroy(stream))


def test_child_graphs_are_replaced(graph, streams, memory):
    first, second = check(*driver.cuGraphCreate(0)), check(*driver.cuGraphCreate(0))
    fill(first, memory, 1)
    fill(second, memory, 2)
    node = check(*driver.cuGraphAddChildGraphNode(graph, [], 0, first))
    parameters = driver.CUgraphNodeParams()
    parameters.type = Type.CU_GRAPH_NODE_TYPE_GRAPH
    parameters.graph.graph = second
    check(*driver.cuGraphNodeSetParams(node, parameters))
    launch(graph, streams[0])
    assert read(memory, 16) == b"\2" * 16
    for each in (first, second):
        check(*driver.cuGraphDestroy(each))


def test_a_moved_child_graph_belongs_to_its_node(graph, streams, memory):
    child = check(*driver.cuGraphCreate(0))
    fill(child, memory, 3)
    parameters = driver.CUgraphNodeParams()
    parameters.type = Type.CU_GRAPH_NODE_TYPE_GRAPH
    parameters.graph.graph = child
    owner = driver.CUgraphChildGraphNodeOwnership
    parameters.graph.ownership = owner.CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE
    node = check(*driver.cuGraphAddNode(graph, [], None, 0, parameters))
    assert int(check(*driver.cuGraphChildGraphNodeGetGraph(node))) == int(child)
    assert driver.cuGraphDestroy(child)[0] == INVALID
    launch(graph, streams[0])
    assert read(memory, 16) == b"\3" * 16


VERBOSE = driver.CUgraphDebugDot_flags.CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE


@pytest.mark.parametrize("flags", [0, int(VERBOSE)], ids=["plain", "verbose"])
def test_a_picture_names_nodes_and_edges(graph, kernels, memory, tmp_path, flags):
    kernel = kernels.add(graph, "store", memory, 5)
    fill(graph, memory, 1, kernel)
    path = tmp_path / "graph.dot"
    check(*driver.cuGraphDebugDotPrint(graph, str(path).encode(), flags))
    text = path.read_text()
    assert text.startswith("digraph dot {")
    assert text.rstrip().endswith("}")
    assert "store" in text
    assert "MEMSET" in text
    assert re.search(r'"graph_(\d+)_node_0" -> "graph_\1_node_1"', text)
    assert ("cooperative" in text) == bool(flags)


def test_a_picture_needs_a_file_that_can_be_written(graph, tmp_path):
    path = str(tmp_path / "no" / "graph.dot").encode()
    assert driver.cuGraphDebugDotPrint(graph, path, 0)[0] == R.CUDA_ERROR_OPERATING_SYSTEM


@pytest.mark.skipif(not emulation.is_active(), reason="a GPU has all kinds")
def test_unsupported_kinds_are_refused(graph):
    parameters = driver.CUgraphNodeParams()
    parameters.type = Type.CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL
    assert driver.cuGraphAddNode(graph, [], None, 0, parameters)[0] == UNSUPPORTED
