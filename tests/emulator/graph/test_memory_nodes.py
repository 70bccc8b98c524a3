# SPDX-License-Identifier: Apache-2.0
"""Graph memory: its address, its lifetime, and the calls that free it."""

import pytest
from cuda.bindings import driver
from cuda.core import emulation

from tests.emulator.graph.conftest import check, copy, fill, launch, read

R = driver.CUresult
INVALID = R.CUDA_ERROR_INVALID_VALUE
UNSUPPORTED = R.CUDA_ERROR_NOT_SUPPORTED
Attribute = driver.CUgraphMem_attribute
AUTO_FREE = driver.CUgraphInstantiate_flags.CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
CAPTURE = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
PAGE = 2 << 20
PIECE = 32 << 20  # size of the pieces that the emulator, like an H200, retains


def allocation(size=64, place=None):
    parameters = driver.CUDA_MEM_ALLOC_NODE_PARAMS()
    parameters.poolProps.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    location_type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE if place is None else place
    parameters.poolProps.location.type = location_type
    parameters.bytesize = size
    return parameters


def allocate(graph, *after, size=64):
    """Add an allocation node; return it and its address."""
    parameters = allocation(size)
    node = check(*driver.cuGraphAddMemAllocNode(graph, list(after), len(after), parameters))
    return node, int(parameters.dptr)


def free(graph, address, *after):
    return check(*driver.cuGraphAddMemFreeNode(graph, list(after), len(after), address))


def usage():
    names = ("USED_MEM_CURRENT", "RESERVED_MEM_CURRENT", "USED_MEM_HIGH", "RESERVED_MEM_HIGH")
    return [
        int(check(*driver.cuDeviceGetGraphMemAttribute(0, Attribute[f"CU_GRAPH_MEM_ATTR_{name}"])))
        for name in names
    ]


@pytest.fixture(autouse=True)
def nothing_reserved():
    for name in ("USED_MEM_HIGH", "RESERVED_MEM_HIGH"):
        attribute = Attribute[f"CU_GRAPH_MEM_ATTR_{name}"]
        check(*driver.cuDeviceGraphMemTrim(0))
        check(*driver.cuDeviceSetGraphMemAttribute(0, attribute, 0))


def run(executable, stream):
    check(*driver.cuGraphLaunch(executable, stream))
    check(*driver.cuStreamSynchronize(stream))


def test_memory_lives_between_its_two_nodes(graph, streams, memory):
    node, own = allocate(graph)
    filled = fill(graph, own, 4, node)
    copied = copy(graph, memory, own, filled)
    free(graph, own, copied)
    assert int(check(*driver.cuGraphMemAllocNodeGetParams(node)).dptr) == own
    launch(graph, streams[0], times=3)
    assert read(memory, 16) == b"\4" * 16


def test_the_program_frees_left_memory_before_the_next_launch(graph, streams, memory, executable):
    node, own = allocate(graph)
    fill(graph, own, 6, node)
    ready = executable()
    assert driver.cuMemFreeAsync(own, streams[0])[0] == INVALID
    run(ready, streams[0])
    assert driver.cuGraphLaunch(ready, streams[0])[0] == INVALID
    check(*driver.cuMemcpyDtoDAsync(memory, own, 16, streams[0]))
    check(*driver.cuMemFreeAsync(own, streams[0]))
    assert driver.cuMemFreeAsync(own, streams[0])[0] == INVALID
    run(ready, streams[0])
    assert read(memory, 16) == b"\6" * 16
    check(*driver.cuMemFree(own))
    run(ready, streams[0])
    check(*driver.cuMemFree(own))


def test_auto_free_frees_the_memory_of_the_previous_launch(graph, streams, executable):
    _, own = allocate(graph)
    ready = executable(AUTO_FREE)
    for _ in range(3):
        run(ready, streams[0])
    check(*driver.cuMemFreeAsync(own, streams[0]))
    check(*driver.cuStreamSynchronize(streams[0]))


def test_another_graph_frees_left_memory(graph, streams, executable):
    _, own = allocate(graph)
    other = check(*driver.cuGraphCreate(0))
    free(other, own)
    assert driver.cuGraphAddMemFreeNode(graph, [], 0, own)[0] == INVALID
    first, second = executable(), executable(of=other)
    assert driver.cuGraphLaunch(second, streams[0])[0] == INVALID
    for _ in range(2):
        run(first, streams[0])
        run(second, streams[0])
    check(*driver.cuGraphDestroy(other))


def test_memory_outlives_the_graph_that_allocated_it(streams, memory):
    graph = check(*driver.cuGraphCreate(0))
    node, own = allocate(graph)
    fill(graph, own, 8, node)
    ready = check(*driver.cuGraphInstantiate(graph, 0))
    run(ready, streams[0])
    check(*driver.cuGraphExecDestroy(ready))
    check(*driver.cuGraphDestroy(graph))
    if emulation.is_active():
        assert [r.kind for r in emulation.leaks() if r.id == own] == ["pool memory"]
    check(*driver.cuMemcpyDtoD(memory, own, 16))
    assert read(memory, 16) == b"\10" * 16
    check(*driver.cuMemFree(own))


def test_captured_allocations_are_nodes(streams, memory, executable):
    check(*driver.cuStreamBeginCapture(streams[0], CAPTURE))
    own = check(*driver.cuMemAllocAsync(64, streams[0]))
    check(*driver.cuMemsetD8Async(own, 3, 64, streams[0]))
    captured = check(*driver.cuStreamEndCapture(streams[0]))
    run(executable(of=captured), streams[0])
    check(*driver.cuMemcpyDtoDAsync(memory, own, 16, streams[0]))
    check(*driver.cuStreamSynchronize(streams[0]))
    assert read(memory, 16) == b"\3" * 16
    check(*driver.cuStreamBeginCapture(streams[0], CAPTURE))
    check(*driver.cuMemFreeAsync(own, streams[0]))
    freeing = check(*driver.cuStreamEndCapture(streams[0]))
    run(executable(of=freeing), streams[0])
    for each in (captured, freeing):
        check(*driver.cuGraphDestroy(each))


def test_the_device_retains_graph_memory_until_it_is_trimmed(graph, streams, executable):
    node, own = allocate(graph, size=PAGE + 1)
    free(graph, own, node)
    ready = executable()
    assert usage()[:2] == [0, 0]
    check(*driver.cuGraphUpload(ready, streams[0]))
    # The driver chooses the size of its pieces.
    mapped = usage()
    assert min(mapped) > PAGE
    run(ready, streams[0])
    assert min(usage()) > PAGE
    check(*driver.cuDeviceGraphMemTrim(0))
    used, reserved, used_high, reserved_high = usage()
    assert used <= reserved <= mapped[1]
    assert min(used_high, reserved_high) > PAGE
    run(ready, streams[0])
    check(*driver.cuDeviceSetGraphMemAttribute(0, Attribute.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, 0))
    assert usage()[2] == usage()[0]


@pytest.mark.skipif(not emulation.is_active(), reason="drivers differ in the pieces they map")
def test_the_emulator_retains_whole_pieces_for_graphs(graph, streams, executable):
    node, own = allocate(graph, size=PIECE + 1)
    free(graph, own, node)
    ready = executable()
    check(*driver.cuGraphUpload(ready, streams[0]))
    assert usage() == [2 * PIECE] * 4
    run(ready, streams[0])
    check(*driver.cuDeviceGraphMemTrim(0))
    assert usage() == [0, 0, 2 * PIECE, 2 * PIECE]
    run(ready, streams[0])
    assert usage() == [2 * PIECE] * 4


def test_memory_of_an_executable_is_retained_until_it_is_trimmed(graph, streams):
    node, own = allocate(graph)
    free(graph, own, node)
    ready = check(*driver.cuGraphInstantiate(graph, 0))
    run(ready, streams[0])
    used = usage()
    check(*driver.cuGraphExecDestroy(ready))
    assert usage() == used
    check(*driver.cuDeviceGraphMemTrim(0))
    assert usage()[:2] == [0, 0]


@pytest.mark.parametrize("size", [64, PIECE + 1])
def test_an_update_exchanges_allocations(graph, streams, executable, size):
    allocate(graph)
    ready = executable()
    other = check(*driver.cuGraphCreate(0))
    _, theirs = allocate(other, size=size)
    check(*driver.cuGraphExecUpdate(ready, other))
    run(ready, streams[0])
    assert usage()[0] >= size
    check(*driver.cuMemFree(theirs))
    check(*driver.cuGraphDestroy(other))


def test_only_high_water_marks_can_be_set_and_only_to_zero():
    high = Attribute.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH
    current = Attribute.CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT
    assert driver.cuDeviceSetGraphMemAttribute(0, high, 1)[0] == INVALID
    assert driver.cuDeviceSetGraphMemAttribute(0, current, 0)[0] == INVALID


def test_a_graph_with_memory_keeps_its_shape(graph, executable):
    node, own = allocate(graph)
    later = free(graph, own, node)
    other = check(*driver.cuGraphCreate(0))
    for refused in (
        driver.cuGraphClone(graph),
        driver.cuGraphDestroyNode(node),
        driver.cuGraphRemoveDependencies(graph, [node], [later], None, 1),
        driver.cuGraphAddChildGraphNode(other, [], 0, graph),
    ):
        assert refused[0] == UNSUPPORTED
    executable()
    assert driver.cuGraphInstantiate(graph, 0)[0] == UNSUPPORTED
    check(*driver.cuGraphDestroy(other))


def test_a_graph_with_memory_is_moved_into_a_node(streams, memory):
    graph, child = check(*driver.cuGraphCreate(0)), check(*driver.cuGraphCreate(0))
    node, own = allocate(child)
    filled = fill(child, own, 2, node)
    parameters = driver.CUgraphNodeParams()
    parameters.type = driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_GRAPH
    parameters.graph.graph = child
    owner = driver.CUgraphChildGraphNodeOwnership
    parameters.graph.ownership = owner.CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE
    copied = copy(child, memory, own, filled)
    free(child, own, copied)
    check(*driver.cuGraphAddNode(graph, [], None, 0, parameters))
    launch(graph, streams[0], times=2)
    assert read(memory, 16) == b"\2" * 16
    check(*driver.cuGraphDestroy(graph))


def test_a_destroyed_graph_frees_nothing(graph, streams, executable):
    _, own = allocate(graph)
    other = check(*driver.cuGraphCreate(0))
    free(other, own)
    check(*driver.cuGraphDestroy(other))
    other = check(*driver.cuGraphCreate(0))
    free(other, own)
    run(executable(), streams[0])
    run(executable(of=other), streams[0])
    check(*driver.cuGraphDestroy(other))


def test_addresses_not_allocated_by_a_graph_are_not_freed(graph, memory):
    assert driver.cuGraphAddMemFreeNode(graph, [], 0, memory)[0] == INVALID
    node, own = allocate(graph)
    free(graph, own, node)
    assert driver.cuGraphAddMemFreeNode(graph, [], 0, own)[0] == INVALID
    assert driver.cuMemFreeAsync(own, 0)[0] == INVALID


def test_an_allocation_needs_bytes_and_a_location(graph):
    parameters = driver.CUDA_MEM_ALLOC_NODE_PARAMS()
    assert driver.cuGraphAddMemAllocNode(graph, [], 0, parameters)[0] == INVALID
    assert check(*driver.cuGraphGetNodes(graph, 1))[1] == 0


def test_pinned_memory_of_a_graph_is_not_on_the_host(graph):
    parameters = allocation(place=driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST)
    assert driver.cuGraphAddMemAllocNode(graph, [], 0, parameters)[0] == UNSUPPORTED


def test_attributes_of_the_address_are_known_after_the_first_launch(graph, streams, executable):
    _, own = allocate(graph)
    attribute = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE
    assert driver.cuPointerGetAttribute(attribute, own + 8)[0] == INVALID
    run(executable(), streams[0])
    kind = check(*driver.cuPointerGetAttribute(attribute, own + 8))
    assert kind == driver.CUmemorytype.CU_MEMORYTYPE_DEVICE
    check(*driver.cuMemFree(own))


@pytest.mark.skipif(not emulation.is_active(), reason="a GPU does not notice")
@pytest.mark.parametrize("order", ["before the allocation", "after the free"])
def test_a_use_at_the_wrong_time_is_reported(graph, streams, executable, order):
    node, own = allocate(graph)
    freed = free(graph, own, node)
    used = fill(graph, own, 1, *([freed] if order == "after the free" else []))
    if order == "before the allocation":
        check(*driver.cuGraphAddDependencies(graph, [used], [node], None, 1))
    ready = executable()
    with emulation.expect_fault("use-after-free"):
        check(*driver.cuGraphLaunch(ready, streams[0]))
        assert driver.cuStreamSynchronize(streams[0])[0] == R.CUDA_ERROR_ILLEGAL_ADDRESS
        assert "graph memory" in emulation.last_fault().hint
