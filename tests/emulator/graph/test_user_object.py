# SPDX-License-Identifier: Apache-2.0
"""User objects: owners of references, and when the destructor is called."""

import ctypes
import threading

import pytest
from cuda.bindings import driver
from cuda.core import emulation

from tests.emulator.graph.conftest import check, in_background, launch

INVALID = driver.CUresult.CUDA_ERROR_INVALID_VALUE
UNSYNCHRONIZED = 1
MOVE = 1
SECONDS = 30


class Object:
    """A user object whose destructor, in a thread of the driver, sets `destroyed`."""

    def __init__(self, references=1):
        self.destroyed = threading.Event()
        self.destroy = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: self.destroyed.set())
        address = ctypes.cast(self.destroy, ctypes.c_void_p).value
        host = driver.CUhostFn(address)
        self.handle = check(*driver.cuUserObjectCreate(0, host, references, UNSYNCHRONIZED))

    def is_destroyed(self):
        return self.destroyed.wait(SECONDS)


@pytest.fixture
def object():
    return Object()


def test_the_last_release_calls_the_destructor(object):
    check(*driver.cuUserObjectRetain(object.handle, 2))
    check(*driver.cuUserObjectRelease(object.handle, 2))
    assert not object.destroyed.is_set()
    check(*driver.cuUserObjectRelease(object.handle, 1))
    assert object.is_destroyed()


@pytest.mark.parametrize("flags", [0, MOVE], ids=["shared", "moved"])
def test_a_graph_retains_an_object_until_it_is_destroyed(object, flags):
    graph = check(*driver.cuGraphCreate(0))
    check(*driver.cuGraphRetainUserObject(graph, object.handle, 1, flags))
    if not flags:
        check(*driver.cuUserObjectRelease(object.handle, 1))
    assert not object.destroyed.is_set()
    check(*driver.cuGraphDestroy(graph))
    assert object.is_destroyed()


def test_a_graph_releases_references_on_request(graph, object):
    check(*driver.cuGraphRetainUserObject(graph, object.handle, 2, 0))
    check(*driver.cuUserObjectRelease(object.handle, 1))
    check(*driver.cuGraphReleaseUserObject(graph, object.handle, 2))
    assert object.is_destroyed()


@pytest.mark.skipif(not emulation.is_active(), reason="on a GPU this is undefined")
def test_a_graph_does_not_release_references_it_does_not_own(graph, object):
    check(*driver.cuGraphRetainUserObject(graph, object.handle, 1, MOVE))
    assert driver.cuGraphReleaseUserObject(graph, object.handle, 2)[0] == INVALID
    assert not object.destroyed.is_set()
    check(*driver.cuGraphReleaseUserObject(graph, object.handle, 1))
    assert object.is_destroyed()


def test_clones_child_graphs_and_executables_hold_their_own_references(object):
    graph = check(*driver.cuGraphCreate(0))
    check(*driver.cuGraphRetainUserObject(graph, object.handle, 1, MOVE))
    clone = check(*driver.cuGraphClone(graph))
    outer = check(*driver.cuGraphCreate(0))
    check(*driver.cuGraphAddChildGraphNode(outer, [], 0, graph))
    executable = check(*driver.cuGraphInstantiate(outer, 0))
    for each in (graph, clone, outer):
        check(*driver.cuGraphDestroy(each))
        assert not object.destroyed.is_set()
    check(*driver.cuGraphExecDestroy(executable))
    assert object.is_destroyed()


@in_background
def test_a_launch_in_flight_retains_objects_of_its_executable(object, streams):
    begun, may_end = threading.Event(), threading.Event()

    def wait(data):
        begun.set()
        may_end.wait(SECONDS)

    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(wait)
    graph = check(*driver.cuGraphCreate(0))
    parameters = driver.CUDA_HOST_NODE_PARAMS()
    parameters.fn = ctypes.cast(function, ctypes.c_void_p).value
    check(*driver.cuGraphAddHostNode(graph, [], 0, parameters))
    check(*driver.cuGraphRetainUserObject(graph, object.handle, 1, MOVE))
    executable = check(*driver.cuGraphInstantiate(graph, 0))
    check(*driver.cuGraphLaunch(executable, streams[0]))
    assert begun.wait(SECONDS)
    check(*driver.cuGraphExecDestroy(executable))
    check(*driver.cuGraphDestroy(graph))
    assert not object.destroyed.is_set()
    may_end.set()
    check(*driver.cuStreamSynchronize(streams[0]))
    assert object.is_destroyed()


def test_an_update_retains_the_objects_of_the_other_graph(streams):
    first, second = Object(), Object()
    graphs = [check(*driver.cuGraphCreate(0)) for _ in range(2)]
    for graph, retained in zip(graphs, (first, second), strict=True):
        check(*driver.cuGraphAddEmptyNode(graph, [], 0))
        check(*driver.cuGraphRetainUserObject(graph, retained.handle, 1, MOVE))
    executable = check(*driver.cuGraphInstantiate(graphs[0], 0))
    check(*driver.cuGraphExecUpdate(executable, graphs[1]))
    for graph in graphs:
        check(*driver.cuGraphDestroy(graph))
    assert first.is_destroyed()
    assert not second.destroyed.is_set()
    check(*driver.cuGraphExecDestroy(executable))
    assert second.is_destroyed()


def test_a_destructor_may_not_call_the_driver():
    results = []
    done = threading.Event()

    def destroy(data):
        results.append(driver.cuCtxSynchronize()[0])
        done.set()

    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(destroy)
    host = driver.CUhostFn(ctypes.cast(function, ctypes.c_void_p).value)
    handle = check(*driver.cuUserObjectCreate(0, host, 1, UNSYNCHRONIZED))
    check(*driver.cuUserObjectRelease(handle, 1))
    assert done.wait(SECONDS)
    assert results == [driver.CUresult.CUDA_ERROR_NOT_PERMITTED]


def test_counts_and_flags_that_do_not_exist_are_refused(graph, object):
    host = driver.CUhostFn(ctypes.cast(object.destroy, ctypes.c_void_p).value)
    assert driver.cuUserObjectCreate(0, host, 1, 0)[0] == INVALID
    assert driver.cuUserObjectCreate(0, host, 0, UNSYNCHRONIZED)[0] == INVALID
    assert driver.cuUserObjectCreate(0, driver.CUhostFn(0), 1, UNSYNCHRONIZED)[0] == INVALID
    assert driver.cuUserObjectRetain(object.handle, 0)[0] == INVALID
    assert driver.cuGraphRetainUserObject(graph, object.handle, 1, 2)[0] == INVALID
    assert driver.cuGraphRetainUserObject(graph, object.handle, 0, 0)[0] == INVALID
    check(*driver.cuUserObjectRelease(object.handle, 1))
    assert object.is_destroyed()


@pytest.mark.skipif(not emulation.is_active(), reason="on a GPU this is undefined")
@pytest.mark.cuda_expect_fault("destroyed-handle")
def test_a_destroyed_object_is_reported(graph, object):
    assert driver.cuUserObjectRelease(object.handle, 2)[0] == INVALID
    check(*driver.cuUserObjectRelease(object.handle, 1))
    assert object.is_destroyed()
    assert driver.cuGraphRetainUserObject(graph, object.handle, 1, 0)[0] == INVALID


def test_a_graph_without_nodes_launches(graph, streams):
    launch(graph, streams[0], times=2)
