# SPDX-License-Identifier: Apache-2.0
"""Executable graphs: flags and results, updates, nodes that are changed or disabled."""

import ctypes
import threading

import pytest
from cuda.bindings import driver
from cuda.core import emulation

from tests.emulator.graph.conftest import (
    Kernels,
    check,
    copy,
    copy_parameters,
    empty,
    fill,
    in_background,
    launch,
    read,
    word,
)

R = driver.CUresult
INVALID = R.CUDA_ERROR_INVALID_VALUE
FAILED = R.CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
Result = driver.CUgraphExecUpdateResult
Flag = driver.CUgraphInstantiate_flags
Why = driver.CUgraphInstantiateResult


@pytest.fixture
def other():
    graph = check(*driver.cuGraphCreate(0))
    yield graph
    check(*driver.cuGraphDestroy(graph))


def run(executable, stream):
    check(*driver.cuGraphLaunch(executable, stream))
    check(*driver.cuStreamSynchronize(stream))


def instantiate(graph, flags=0):
    params = driver.CUDA_GRAPH_INSTANTIATE_PARAMS()
    params.flags = int(flags)
    code, executable = driver.cuGraphInstantiateWithParams(graph, params)
    return code, executable, params


def test_a_cycle_is_named_with_one_of_its_nodes(graph):
    first = empty(graph)
    second = empty(graph, first)
    check(*driver.cuGraphAddDependencies(graph, [second], [first], None, 1))
    code, _, params = instantiate(graph)
    assert (code, params.result_out) == (INVALID, Why.CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE)
    assert int(params.hErrNode_out) in (int(first), int(second))


def test_an_instantiation_reports_success_and_its_flags(graph, streams, memory):
    fill(graph, memory, 1)
    params = driver.CUDA_GRAPH_INSTANTIATE_PARAMS()
    params.flags = int(Flag.CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD)
    params.hUploadStream = streams[0]
    made_ = check(*driver.cuGraphInstantiateWithParams(graph, params))
    assert params.result_out == Why.CUDA_GRAPH_INSTANTIATE_SUCCESS
    assert int(params.hErrNode_out) == 0
    assert int(check(*driver.cuGraphExecGetFlags(made_))) == 0  # the upload has completed
    run(made_, streams[0])
    assert read(memory, 1) == b"\1"
    check(*driver.cuGraphExecDestroy(made_))


def test_unsuitable_flags_are_refused(graph):
    assert driver.cuGraphInstantiate(graph, 64)[0] == INVALID
    device = int(Flag.CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
    auto_free = int(Flag.CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH)
    assert driver.cuGraphInstantiate(graph, device | auto_free)[0] == INVALID
    assert driver.cuGraphInstantiate(graph, device)[0] == INVALID  # no work in it
    node = check(*driver.cuGraphAddHostNode(graph, [], 0, host(lambda data: None)))
    _, _, params = instantiate(graph, device)
    assert params.result_out == Why.CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED
    assert int(params.hErrNode_out) == int(node)


def test_a_graph_that_kernels_launch_may_contain_others(graph, other, streams, memory, executable):
    fill(other, memory, 3)
    check(*driver.cuGraphAddChildGraphNode(graph, [], 0, other))
    run(executable(int(Flag.CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)), streams[0])
    assert read(memory, 1) == b"\3"


def host(function):
    """Return the parameters of a host node; retain its function."""
    params = driver.CUDA_HOST_NODE_PARAMS()
    called = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(function)
    params.fn = ctypes.cast(called, ctypes.c_void_p).value
    KEPT.append(called)
    return params


KEPT = []  # functions that a graph may still call


def build(graph, kernels, memory, value):
    """Build a kernel node, then a copy and a memset that both depend on it."""
    stored = kernels.add(graph, "store", memory, value)
    copied = copy(graph, memory + 16, memory, stored)
    filled = fill(graph, memory + 32, value, stored)
    return stored, copied, filled


def test_an_update_replaces_all_parameters(graph, other, kernels, streams, memory, executable):
    nodes = build(graph, kernels, memory, 1)
    siblings = build(other, kernels, memory, 2)
    ready = executable()
    info = check(*driver.cuGraphExecUpdate(ready, other))
    assert info.result == Result.CU_GRAPH_EXEC_UPDATE_SUCCESS
    run(ready, streams[0])
    assert (word(memory), word(memory + 16), read(memory + 32, 1)) == (2, 2, b"\2")
    # Only nodes of its source graph identify its own nodes.
    assert driver.cuGraphNodeSetEnabled(ready, siblings[2], 0)[0] == INVALID
    check(*driver.cuGraphNodeSetEnabled(ready, nodes[2], 0))
    check(*driver.cuMemsetD8(memory, 0, 64))
    check(*driver.cuCtxSynchronize())
    run(ready, streams[0])
    assert (word(memory), read(memory + 32, 1)) == (2, b"\0")


def outcome(executable, graph):
    """Call the C function, since the Python function returns no results beside an error."""
    name, version = b"cuGraphExecUpdate", 12000
    default = driver.CUdriverProcAddress_flags.CU_GET_PROC_ADDRESS_DEFAULT
    address, _ = check(*driver.cuGetProcAddress(name, version, default))
    function = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 3)(int(address))
    info = driver.CUgraphExecUpdateResultInfo()
    code = function(int(executable), int(graph), info.getPtr())
    return R(code), info.result, int(info.errorNode), int(info.errorFromNode)


def test_an_update_from_another_shape_changes_nothing(
    graph, other, kernels, streams, memory, executable
):
    build(graph, kernels, memory, 1)
    ready = executable()
    topology = Result.CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED
    first = kernels.add(other, "store", memory, 2)
    assert outcome(ready, other) == (FAILED, topology, 0, 0)
    second = copy(other, memory + 16, memory, first)
    extra = fill(other, memory + 32, 2, second)
    assert outcome(ready, other)[:2] == (FAILED, topology)
    check(*driver.cuGraphDestroyNode(extra))
    exits = fill(other, memory + 32, 2)
    assert outcome(ready, other) == (FAILED, topology, int(exits), 0)
    run(ready, streams[0])
    assert word(memory + 16) == 1


def test_an_update_names_the_node_that_it_cannot_change(graph, other, memory, executable):
    fill(graph, memory, 1)
    ready = executable()
    node = empty(other)
    changed = Result.CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED
    assert outcome(ready, other) == (FAILED, changed, int(node), 0)
    check(*driver.cuGraphDestroyNode(node))
    parameters = driver.CUDA_MEMSET_NODE_PARAMS()
    parameters.dst, parameters.elementSize, parameters.pitch = memory, 1, 8
    parameters.width, parameters.height = 4, 2
    context = check(*driver.cuCtxGetCurrent())
    node = check(*driver.cuGraphAddMemsetNode(other, [], 0, parameters, context))
    changed = Result.CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED
    assert outcome(ready, other) == (FAILED, changed, int(node), 0)


def test_a_kernel_does_not_become_cooperative(graph, other, kernels, memory, executable):
    kernels.add(graph, "store", memory, 1)
    ready = executable()
    node = kernels.add(other, "store", memory, 1)
    value = driver.CUkernelNodeAttrValue()
    value.cooperative = 1
    cooperative = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
    check(*driver.cuGraphKernelNodeSetAttribute(node, cooperative, value))
    changed = Result.CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED
    assert outcome(ready, other) == (FAILED, changed, int(node), 0)


def test_single_nodes_are_changed_for_later_launches(
    graph, kernels, streams, events, memory, executable
):
    stored, copied, filled = build(graph, kernels, memory, 1)
    recorded = check(*driver.cuGraphAddEventRecordNode(graph, [filled], 1, events[0]))
    seen = []
    called = check(*driver.cuGraphAddHostNode(graph, [filled], 1, host(seen.append)))
    ready = executable()
    context = check(*driver.cuCtxGetCurrent())
    increased = kernels.parameters("increase", memory, 9)
    check(*driver.cuGraphExecKernelNodeSetParams(ready, stored, increased))
    to = copy_parameters(memory + 64, memory)
    check(*driver.cuGraphExecMemcpyNodeSetParams(ready, copied, to, context))
    other_fill = check(*driver.cuGraphMemsetNodeGetParams(filled))
    other_fill.value = 7
    check(*driver.cuGraphExecMemsetNodeSetParams(ready, filled, other_fill, context))
    check(*driver.cuGraphExecEventRecordNodeSetEvent(ready, recorded, events[1]))
    check(*driver.cuGraphExecHostNodeSetParams(ready, called, host(lambda data: seen.append("b"))))
    run(ready, streams[0])
    assert (word(memory), word(memory + 64), read(memory + 32, 1)) == (9, 9, b"\7")
    assert seen == ["b"]
    check(*driver.cuEventSynchronize(events[1]))
    assert driver.cuGraphExecKernelNodeSetParams(ready, copied, increased)[0] == INVALID
    foreign = check(*driver.cuGraphCreate(0))
    assert driver.cuGraphExecKernelNodeSetParams(ready, empty(foreign), increased)[0] == INVALID
    check(*driver.cuGraphDestroy(foreign))


def test_a_child_graph_of_an_executable_is_updated(graph, other, streams, memory, executable):
    fill(other, memory, 1)
    node = check(*driver.cuGraphAddChildGraphNode(graph, [], 0, other))
    ready = executable()
    changed = check(*driver.cuGraphCreate(0))
    fill(changed, memory, 2)
    check(*driver.cuGraphExecChildGraphNodeSetParams(ready, node, changed))
    run(ready, streams[0])
    assert read(memory, 1) == b"\2"
    empty(changed)
    assert driver.cuGraphExecChildGraphNodeSetParams(ready, node, changed)[0] == FAILED
    check(*driver.cuGraphDestroy(changed))


def test_a_disabled_node_is_passed_and_keeps_its_edges(graph, kernels, streams, memory, executable):
    first = kernels.add(graph, "increase", memory, 1)
    second = kernels.add(graph, "increase", memory, 10, first)
    kernels.add(graph, "increase", memory, 100, second)
    ready = executable()
    check(*driver.cuGraphNodeSetEnabled(ready, second, 0))
    assert check(*driver.cuGraphNodeGetEnabled(ready, second)) == 0
    run(ready, streams[0])
    assert word(memory) == 101
    check(*driver.cuGraphNodeSetEnabled(ready, second, 1))
    run(ready, streams[0])
    assert word(memory) == 212
    joined = empty(graph, first)
    assert driver.cuGraphNodeSetEnabled(ready, joined, 0)[0] == INVALID


@in_background
def test_a_launch_in_flight_is_not_changed(graph, kernels, streams, memory, executable):
    begun, may_go_on = threading.Event(), threading.Event()

    def wait(data):
        begun.set()
        may_go_on.wait(30)

    waits = check(*driver.cuGraphAddHostNode(graph, [], 0, host(wait)))
    node = kernels.add(graph, "increase", memory, 1, waits)
    ready = executable()
    check(*driver.cuGraphLaunch(ready, streams[0]))
    assert begun.wait(30)
    parameters = kernels.parameters("increase", memory, 1000)
    check(*driver.cuGraphExecKernelNodeSetParams(ready, node, parameters))
    may_go_on.set()
    check(*driver.cuStreamSynchronize(streams[0]))
    assert word(memory) == 1
    run(ready, streams[0])
    assert word(memory) == 1001


def test_launches_of_one_executable_are_serialized(graph, kernels, streams, memory, executable):
    kernels.add(graph, "increase", memory, 1)
    ready = executable()
    for i in range(12):
        check(*driver.cuGraphLaunch(ready, streams[i % 3]))
    for stream in streams:
        check(*driver.cuStreamSynchronize(stream))
    assert word(memory) == 12


def test_two_executables_of_a_graph_are_independent(graph, kernels, streams, memory):
    node = kernels.add(graph, "store", memory, 1)
    first, second = (check(*driver.cuGraphInstantiate(graph, 0)) for _ in range(2))
    parameters = kernels.parameters("store", memory, 2)
    check(*driver.cuGraphExecKernelNodeSetParams(first, node, parameters))
    run(first, streams[0])
    assert word(memory) == 2
    check(*driver.cuGraphExecDestroy(first))
    run(second, streams[0])
    assert word(memory) == 1
    check(*driver.cuGraphExecDestroy(second))


@pytest.mark.skipif(not emulation.is_active(), reason="a GPU's driver may end the process")
@pytest.mark.cuda_expect_fault("destroyed-handle")
@pytest.mark.parametrize("kind", ["kernel", "event"])
def test_a_launch_of_a_destroyed_graph_is_reported(kind, streams, memory):
    graph = check(*driver.cuGraphCreate(0))
    if kind == "kernel":
        kernels = Kernels()
        kernels.add(graph, "store", memory, 1)
    else:
        event = check(*driver.cuEventCreate(0))
        check(*driver.cuGraphAddEventRecordNode(graph, [], 0, event))
    executable = check(*driver.cuGraphInstantiate(graph, 0))
    if kind == "kernel":
        check(*driver.cuModuleUnload(kernels.module))
    else:
        check(*driver.cuEventDestroy(event))
    assert driver.cuGraphLaunch(executable, streams[0])[0] == R.CUDA_ERROR_INVALID_HANDLE
    check(*driver.cuGraphExecDestroy(executable))
    check(*driver.cuGraphDestroy(graph))


def test_a_thousand_nodes_run_in_their_order(graph, kernels, streams, memory):
    node = kernels.add(graph, "store", memory, 0)
    for _ in range(1000):
        node = kernels.add(graph, "increase", memory, 1, node)
    launch(graph, streams[0])
    assert word(memory) == 1000


def test_an_injected_failure_leaks_nothing(graph, executable, cuda_inject):
    for function, call in (
        ("cuGraphInstantiate", lambda: driver.cuGraphInstantiate(graph, 0)),
        ("cuGraphAddEmptyNode", lambda: driver.cuGraphAddEmptyNode(graph, [], 0)),
        ("cuGraphCreate", lambda: driver.cuGraphCreate(0)),
        ("cuGraphClone", lambda: driver.cuGraphClone(graph)),
    ):
        with cuda_inject(function, nth=1, error="CUDA_ERROR_OUT_OF_MEMORY"):
            assert call()[0] == R.CUDA_ERROR_OUT_OF_MEMORY
    assert check(*driver.cuGraphGetNodes(graph, 1))[1] == 0
