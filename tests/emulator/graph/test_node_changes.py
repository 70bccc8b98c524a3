# SPDX-License-Identifier: Apache-2.0
"""Parameters set on a node, for later executables, or in one executable only."""

import ctypes
import threading

from cuda.bindings import driver

from tests.emulator.graph.conftest import check, fill, in_background, read

R = driver.CUresult
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def host(called, data=0):
    """Return the parameters of a host node."""
    params = driver.CUDA_HOST_NODE_PARAMS()
    params.fn = ctypes.cast(called, ctypes.c_void_p).value
    params.userData = data
    return params


def test_a_host_node_calls_its_latest_function(graph, streams, executable):
    seen = []
    calls = [CALLBACK(lambda data, i=i: seen.append((i, data))) for i in range(2)]
    node = check(*driver.cuGraphAddHostNode(graph, [], 0, host(calls[0], 1)))
    before = executable()
    check(*driver.cuGraphHostNodeSetParams(node, host(calls[1], 2)))
    assert int(check(*driver.cuGraphHostNodeGetParams(node)).userData) == 2
    for each in (before, executable()):
        check(*driver.cuGraphLaunch(each, streams[0]))
        check(*driver.cuStreamSynchronize(streams[0]))
    assert seen == [(0, 1), (1, 2)]


@in_background
def test_an_executable_waits_for_its_latest_event(graph, streams, events, memory, executable):
    waiting = check(*driver.cuGraphAddEventWaitNode(graph, [], 0, events[0]))
    fill(graph, memory, 5, waiting)
    ready = executable()
    check(*driver.cuGraphExecEventWaitNodeSetEvent(ready, waiting, events[1]))
    assert int(check(*driver.cuGraphEventWaitNodeGetEvent(waiting))) == int(events[0])
    go = threading.Event()
    held = CALLBACK(lambda data: go.wait(30))
    function = driver.CUhostFn(ctypes.cast(held, ctypes.c_void_p).value)
    check(*driver.cuLaunchHostFunc(streams[1], function, 0))
    check(*driver.cuEventRecord(events[1], streams[1]))
    try:
        check(*driver.cuGraphLaunch(ready, streams[0]))
        check(*driver.cuMemsetD8Async(memory + 512, 1, 1, streams[2]))
        check(*driver.cuStreamSynchronize(streams[2]))  # longer than an unblocked graph needs
        assert driver.cuStreamQuery(streams[0])[0] == R.CUDA_ERROR_NOT_READY
    finally:
        go.set()
        check(*driver.cuCtxSynchronize())
    assert read(memory, 1) == b"\5"


def test_only_known_instantiation_flags_are_accepted(graph, memory):
    fill(graph, memory, 5)
    usual = driver.CUgraphInstantiate_flags.CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
    ready = check(*driver.cuGraphInstantiate(graph, usual))
    assert int(check(*driver.cuGraphExecGetFlags(ready))) == int(usual)
    check(*driver.cuGraphExecDestroy(ready))
    assert driver.cuGraphInstantiate(graph, 1 << 20)[0] == R.CUDA_ERROR_INVALID_VALUE
