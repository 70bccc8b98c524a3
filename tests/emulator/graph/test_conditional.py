# SPDX-License-Identifier: Apache-2.0
"""Conditional nodes: kernels set the value of a handle that selects the graphs to run."""

import os
import subprocess
import sys

import pytest
from cuda.bindings import driver
from cuda.core import emulation

from tests.emulator.graph.conftest import check, copy, empty, fill, launch, read, skip_without, word

R = driver.CUresult
INVALID = R.CUDA_ERROR_INVALID_VALUE
UNSUPPORTED = R.CUDA_ERROR_NOT_SUPPORTED
Kind = driver.CUgraphConditionalNodeType
IF, WHILE, SWITCH = (
    Kind.CU_GRAPH_COND_TYPE_IF,
    Kind.CU_GRAPH_COND_TYPE_WHILE,
    Kind.CU_GRAPH_COND_TYPE_SWITCH,
)
ASSIGNED = 1


def condition(graph, default=0, flags=0):
    context = check(*driver.cuCtxGetCurrent())
    return check(*driver.cuGraphConditionalHandleCreate(graph, context, default, flags))


def parameters_of(handle, kind, size):
    params = driver.CUgraphNodeParams()
    params.type = driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL
    params.conditional.handle = handle
    params.conditional.type = kind
    params.conditional.size = size
    params.conditional.ctx = check(*driver.cuCtxGetCurrent())
    return params


def add(graph, handle, kind, size, *after):
    """Add a conditional node; return it and its graphs."""
    parameters = parameters_of(handle, kind, size)
    node = check(*driver.cuGraphAddNode(graph, list(after), None, len(after), parameters))
    return node, list(parameters.conditional.phGraph_out)


def write(address, number):
    check(*driver.cuMemcpyHtoD(address, number.to_bytes(4, "little"), 4))


@pytest.mark.parametrize("chosen", [0, 1, 7])
def test_an_if_runs_one_of_its_graphs(graph, kernels, streams, memory, chosen):
    handle = condition(graph)
    write(memory, chosen)
    sets = kernels.add(graph, "choose", handle, memory)
    node, (then, otherwise) = add(graph, handle, IF, 2, sets)
    kernels.add(then, "store", memory + 4, 10)
    kernels.add(otherwise, "store", memory + 4, 20)
    kernels.add(graph, "increase", memory + 4, 1, node)
    launch(graph, streams[0])
    assert word(memory + 4) == (11 if chosen else 21)


def test_a_while_runs_until_a_kernel_clears_the_condition(graph, kernels, streams, memory):
    handle = condition(graph, 1, ASSIGNED)
    write(memory, 5)
    node, (body,) = add(graph, handle, WHILE, 1)
    counted = kernels.add(body, "increase", memory, -1 & 0xFFFFFFFF)
    kernels.add(body, "choose", handle, memory, counted)
    kernels.add(body, "increase", memory + 4, 3, counted)
    copy(graph, memory + 16, memory, node)
    launch(graph, streams[0])
    assert (word(memory + 16), word(memory + 20)) == (0, 15)


@pytest.mark.parametrize("chosen", [0, 1, 2, 3, 100])
def test_a_switch_runs_the_selected_graph_or_none(graph, kernels, streams, memory, chosen):
    handle = condition(graph, chosen, ASSIGNED)
    _, bodies = add(graph, handle, SWITCH, 3)
    for i, body in enumerate(bodies):
        kernels.add(body, "store", memory, 10 + i)
    launch(graph, streams[0])
    assert word(memory) == (10 + chosen if chosen < 3 else 0)


def test_a_value_persists_between_launches_unless_it_is_assigned(graph, kernels, streams, memory):
    persistent, assigned = condition(graph), condition(graph, 1, ASSIGNED)
    for i, handle in enumerate((persistent, assigned)):
        node, (body,) = add(graph, handle, IF, 1)
        kernels.add(body, "increase", memory + 4 * i, 1)
        kernels.add(graph, "choose", handle, memory + 8 + 4 * i, node)
    write(memory + 8, 1)
    launch(graph, streams[0], times=3)
    # An unassigned value is undefined before the first launch.
    assert word(memory) in (2, 3)
    assert word(memory + 4) == 3


def test_conditions_nest_and_use_outer_handles(graph, kernels, streams, memory):
    outer, inner = condition(graph, 1, ASSIGNED), condition(graph, 2, ASSIGNED)
    _, (body,) = add(graph, outer, IF, 1)
    first = fill(body, memory, 1)
    node, bodies = add(body, inner, SWITCH, 3, first)
    copy(bodies[2], memory + 16, memory)
    copy(body, memory + 32, memory + 16, node)
    launch(graph, streams[0])
    assert read(memory, 48) == b"\1" * 48


def test_a_child_graph_runs_inside_of_a_condition(graph, streams, memory):
    child = check(*driver.cuGraphCreate(0))
    fill(child, memory, 7)
    _, (body,) = add(graph, condition(graph, 1, ASSIGNED), IF, 1)
    check(*driver.cuGraphAddChildGraphNode(body, [], 0, child))
    check(*driver.cuGraphDestroy(child))
    launch(graph, streams[0])
    assert read(memory, 16) == b"\7" * 16


def test_a_stream_is_captured_into_the_graph_of_a_condition(graph, streams, memory):
    mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    _, (body,) = add(graph, condition(graph, 1, ASSIGNED), IF, 1)
    check(*driver.cuStreamBeginCaptureToGraph(streams[1], body, [], None, 0, mode))
    check(*driver.cuMemsetD8Async(memory, 9, 16, streams[1]))
    assert int(check(*driver.cuStreamEndCapture(streams[1]))) == int(body)
    launch(graph, streams[0])
    assert read(memory, 16) == b"\11" * 16


def test_a_node_returns_its_parameters(graph):
    skip_without("cuGraphNodeGetParams")
    handle = condition(graph)
    node, bodies = add(graph, handle, SWITCH, 2)
    params = check(*driver.cuGraphNodeGetParams(node)).conditional
    assert (int(params.handle), params.type, params.size) == (int(handle), SWITCH, 2)
    assert [int(body) for body in params.phGraph_out] == [int(body) for body in bodies]
    assert driver.cuGraphDestroy(bodies[0])[0] == INVALID


def test_mismatched_handles_and_sizes_are_refused(graph):
    def add_node(handle, kind, size):
        params = parameters_of(handle, kind, size)
        return driver.cuGraphAddNode(graph, [], None, 0, params)[0]

    handle = condition(graph)
    for kind, size in ((IF, 0), (IF, 3), (WHILE, 2), (SWITCH, 0)):
        assert add_node(handle, kind, size) == INVALID
    add(graph, handle, IF, 1)
    assert add_node(handle, IF, 1) == INVALID
    context = check(*driver.cuCtxGetCurrent())
    assert driver.cuGraphConditionalHandleCreate(graph, context, 0, 2)[0] == INVALID


def test_a_handle_of_another_graph_is_refused(graph):
    other = check(*driver.cuGraphCreate(0))
    parameters = parameters_of(condition(other), IF, 1)
    assert driver.cuGraphAddNode(graph, [], None, 0, parameters)[0] == INVALID
    assert check(*driver.cuGraphGetNodes(graph, 1))[1] == 0
    check(*driver.cuGraphDestroy(other))


@pytest.mark.parametrize("kind", ["allocation", "batch", "event"])
def test_the_graph_of_a_condition_accepts_nodes_that_no_executable_supports(graph, events, kind):
    _, (body,) = add(graph, condition(graph), IF, 1)
    if kind == "event":
        check(*driver.cuGraphAddEventRecordNode(body, [], 0, events[0]))
    elif kind == "batch":
        barrier = driver.CUstreamBatchMemOpParams()
        barrier.memoryBarrier.operation = driver.CUstreamBatchMemOpType.CU_STREAM_MEM_OP_BARRIER
        batch = driver.CUDA_BATCH_MEM_OP_NODE_PARAMS()
        batch.ctx, batch.count, batch.paramArray = check(*driver.cuCtxGetCurrent()), 1, [barrier]
        check(*driver.cuGraphAddBatchMemOpNode(body, [], 0, batch))
    else:
        parameters = driver.CUDA_MEM_ALLOC_NODE_PARAMS()
        parameters.poolProps.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        parameters.poolProps.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        parameters.bytesize = 64
        check(*driver.cuGraphAddMemAllocNode(body, [], 0, parameters))
    params = driver.CUDA_GRAPH_INSTANTIATE_PARAMS()
    assert driver.cuGraphInstantiateWithParams(graph, params)[0] == INVALID


def test_an_unused_handle_is_named_by_the_instantiation(graph):
    condition(graph)
    params = driver.CUDA_GRAPH_INSTANTIATE_PARAMS()
    assert driver.cuGraphInstantiateWithParams(graph, params)[0] == INVALID
    result = driver.CUgraphInstantiateResult
    unused = result.CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED
    assert params.result_out == unused


def test_graphs_with_conditions_are_neither_cloned_nor_embedded(graph):
    add(graph, condition(graph), IF, 1)
    other = check(*driver.cuGraphCreate(0))
    assert driver.cuGraphClone(graph)[0] == UNSUPPORTED
    assert driver.cuGraphAddChildGraphNode(other, [], 0, graph)[0] == UNSUPPORTED
    check(*driver.cuGraphDestroy(other))
    executable = check(*driver.cuGraphInstantiate(graph, 0))
    assert driver.cuGraphInstantiate(graph, 0)[0] == UNSUPPORTED
    check(*driver.cuGraphExecDestroy(executable))


def test_a_graph_of_a_condition_accepts_event_nodes(graph, events):
    _, (body,) = add(graph, condition(graph), IF, 1)
    check(*driver.cuGraphAddEventRecordNode(body, [], 0, events[0]))
    check(*driver.cuGraphAddEventWaitNode(body, [], 0, events[0]))
    assert check(*driver.cuGraphGetNodes(body, 2))[1] == 2


def test_an_executable_outlives_its_graph_and_is_destroyed_while_it_loops(kernels, streams, memory):
    graph = check(*driver.cuGraphCreate(0))
    handle = condition(graph, 1, ASSIGNED)
    write(memory, 20)
    _, (body,) = add(graph, handle, WHILE, 1)
    counted = kernels.add(body, "increase", memory, -1 & 0xFFFFFFFF)
    kernels.add(body, "choose", handle, memory, counted)
    executable = check(*driver.cuGraphInstantiate(graph, 0))
    check(*driver.cuGraphDestroy(graph))
    check(*driver.cuGraphLaunch(executable, streams[0]))
    check(*driver.cuGraphExecDestroy(executable))
    check(*driver.cuStreamSynchronize(streams[0]))
    assert word(memory) == 0


def test_an_update_reaches_the_graphs_of_conditions(kernels, streams, memory):
    graphs = []
    for value in (5, 6):
        graph = check(*driver.cuGraphCreate(0))
        _, (body,) = add(graph, condition(graph, value == 6, ASSIGNED), IF, 1)
        kernels.add(body, "store", memory, value)
        graphs.append(graph)
    executable = check(*driver.cuGraphInstantiate(graphs[0], 0))
    check(*driver.cuGraphExecUpdate(executable, graphs[1]))
    check(*driver.cuGraphLaunch(executable, streams[0]))
    check(*driver.cuStreamSynchronize(streams[0]))
    assert word(memory) == 6
    check(*driver.cuGraphExecDestroy(executable))
    for graph in graphs:
        check(*driver.cuGraphDestroy(graph))


@pytest.mark.skipif(not emulation.is_active(), reason="a GPU runs a loop without end")
@pytest.mark.parametrize("mode", ["async", "eager", "adversarial"])
def test_an_endless_loop_meets_the_step_limit(mode):
    program = """
from cuda.bindings import driver
from cuda.core import Device, emulation
from tests.emulator.graph.conftest import check
from tests.emulator.graph.test_conditional import ASSIGNED, WHILE, add, condition
Device(0).set_current()
stream = check(*driver.cuStreamCreate(1))
graph = check(*driver.cuGraphCreate(0))
add(graph, condition(graph, 1, ASSIGNED), WHILE, 1)
executable = check(*driver.cuGraphInstantiate(graph, 0))
check(*driver.cuGraphLaunch(executable, stream))
print(driver.cuStreamSynchronize(stream)[0].name, emulation.last_fault().kind)
"""
    options = {"BACKEND": "emulator", "EMULATOR_STEP_LIMIT": str(2**26), "EMULATOR_MODE": mode}
    environment = os.environ | {f"HALFWARP_{name}": value for name, value in options.items()}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    assert done.stdout == "CUDA_ERROR_LAUNCH_TIMEOUT step-limit\n", done.stderr
    assert "a while node of a graph completed 1024 iterations" in done.stderr


@pytest.mark.skipif(not emulation.is_active(), reason="a GPU writes somewhere")
def test_a_kernel_without_a_set_handle_is_reported(graph, kernels, streams, memory):
    kernels.add(graph, "choose", 1234, memory)
    executable = check(*driver.cuGraphInstantiate(graph, 0))
    with emulation.expect_fault("unmapped"):
        check(*driver.cuGraphLaunch(executable, streams[0]))
        assert driver.cuStreamSynchronize(streams[0])[0] == R.CUDA_ERROR_ILLEGAL_ADDRESS
        assert "never a conditional handle" in emulation.last_fault().detail
    check(*driver.cuGraphExecDestroy(executable))


def test_an_empty_condition_passes(graph, streams):
    node, _ = add(graph, condition(graph, 1, ASSIGNED), IF, 2)
    empty(graph, node)
    launch(graph, streams[0], times=2)
