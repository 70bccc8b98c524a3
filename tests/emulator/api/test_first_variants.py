# SPDX-License-Identifier: Apache-2.0
"""First variants of functions do what the newest do, with the parameters of their release."""

import ctypes

import pytest
from cuda.bindings import _low

pytestmark = pytest.mark.usefixtures("emulated")
POINTER, SIZE, INT = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
INVALID_VALUE, NOT_SUPPORTED = 1, 801
ACTIVE, NONE = 1, 0


def first(name, *kinds):
    """Return the exported function of this name, which returns a code."""
    return ctypes.CFUNCTYPE(INT, *kinds)(_low.emulator_function(name))


@pytest.fixture
def graph(driver):
    created = driver.output("cuGraphCreate", 0)
    yield created
    driver.cuGraphDestroy(created)


def kernel_parameters(function, blocks):
    """A CUDA_KERNEL_NODE_PARAMS_v1: function, grid, block, shared memory, two null lists."""
    return (ctypes.c_uint32 * 16)(
        function & 2**32 - 1, function >> 32, blocks, 1, 1, 32, 1, 1, 0, *[0] * 7
    )


class TestGraphs:
    @pytest.fixture
    def nodes(self, driver, graph):
        return [driver.output("cuGraphAddEmptyNode", graph, None, 0) for _ in range(3)]

    def test_edges_are_added_listed_and_removed(self, graph, nodes):
        lists = (POINTER, POINTER, POINTER, SIZE)
        sources, targets = (POINTER * 2)(nodes[0], nodes[0]), (POINTER * 2)(nodes[1], nodes[2])
        assert first("cuGraphAddDependencies", *lists)(graph, sources, targets, 2) == 0

        def edges():
            begin, end, count = (POINTER * 4)(), (POINTER * 4)(), SIZE(4)
            query = first("cuGraphGetEdges", *[POINTER] * 4)
            assert query(graph, begin, end, ctypes.byref(count)) == 0
            return set(zip(begin[: count.value], end[: count.value], strict=True))

        def neighbors(name, node):
            neighbor_list, count = (POINTER * 4)(), SIZE(4)
            assert first(name, *[POINTER] * 3)(node, neighbor_list, ctypes.byref(count)) == 0
            return set(neighbor_list[: count.value])

        assert edges() == {(nodes[0], nodes[1]), (nodes[0], nodes[2])}
        assert neighbors("cuGraphNodeGetDependentNodes", nodes[0]) == {nodes[1], nodes[2]}
        assert neighbors("cuGraphNodeGetDependencies", nodes[2]) == {nodes[0]}
        assert first("cuGraphRemoveDependencies", *lists)(graph, sources, targets, 1) == 0
        assert edges() == {(nodes[0], nodes[2])}

    def test_parameters_of_kernels_are_set_and_an_update_names_its_result(self, driver, graph):
        function, node = driver.kernel("empty"), POINTER()
        add = first("cuGraphAddKernelNode", POINTER, POINTER, POINTER, SIZE, POINTER)
        read = first("cuGraphKernelNodeGetParams", POINTER, POINTER)
        change = first("cuGraphKernelNodeSetParams", POINTER, POINTER)
        change_run = first("cuGraphExecKernelNodeSetParams", POINTER, POINTER, POINTER)
        instantiate = first("cuGraphInstantiate", POINTER, POINTER, POINTER, POINTER, SIZE)
        update = first("cuGraphExecUpdate", *[POINTER] * 4)
        assert add(ctypes.byref(node), graph, None, 0, None) == INVALID_VALUE
        assert add(ctypes.byref(node), graph, None, 0, kernel_parameters(function, 2)) == 0
        assert change(node, None) == INVALID_VALUE
        assert change(node, kernel_parameters(function, 5)) == 0
        answer = kernel_parameters(0, 0)
        assert read(node, None) == INVALID_VALUE
        assert read(node, answer) == 0
        assert list(answer[:6]) == list(kernel_parameters(function, 5)[:6])

        run, failed, result = POINTER(), POINTER(7), INT(7)
        assert instantiate(ctypes.byref(run), graph, ctypes.byref(failed), None, 8) == 0
        assert failed.value is None
        assert change_run(run, node, None) == INVALID_VALUE
        assert change_run(run, node, kernel_parameters(function, 9)) == 0
        assert update(run, graph, ctypes.byref(failed), ctypes.byref(result)) == 0
        assert (failed.value, result.value) == (None, 0)
        assert update(run, graph, None, None) == 0
        other = driver.output("cuGraphCreate", 0)
        assert update(run, other, ctypes.byref(failed), ctypes.byref(result)) == 910
        assert result.value == 2  # the topology changed
        driver.cuGraphDestroy(other)
        driver.cuGraphExecDestroy(run)


@pytest.mark.parametrize("suffix", ["", "_ptsz"])
class TestStreams:
    def test_a_capture_begins_and_is_described(self, driver, stream, graph, suffix):
        status, number = INT(7), ctypes.c_uint64()
        describe = first(f"cuStreamGetCaptureInfo{suffix}", POINTER, POINTER, POINTER)
        update = first(f"cuStreamUpdateCaptureDependencies{suffix}", POINTER, POINTER, SIZE, INT)
        assert describe(stream, ctypes.byref(status), ctypes.byref(number)) == 0
        assert status.value == NONE
        assert update(stream, None, 0, 1) == 401
        assert first(f"cuStreamBeginCapture{suffix}", POINTER)(stream) == 0
        assert describe(stream, ctypes.byref(status), ctypes.byref(number)) == 0
        assert (status.value, number.value != 0) == (ACTIVE, True)
        captured = ctypes.c_uint64()
        assert driver.cuLaunchHostFunc(stream, EMPTY_CALL, None) == 0
        assert update(stream, None, 0, 1) == 0  # the next node depends on none
        assert driver.cuLaunchHostFunc(stream, EMPTY_CALL, None) == 0
        assert driver.cuStreamEndCapture(stream, ctypes.byref(captured)) == 0
        count = SIZE()
        assert driver.cuGraphGetRootNodes(captured, None, ctypes.byref(count)) == 0
        assert count.value == 2
        driver.cuGraphDestroy(captured)

    def test_a_batch_of_copies_names_no_failed_copy(self, driver, stream, suffix):
        kinds = (POINTER, POINTER, POINTER, SIZE, POINTER, POINTER, SIZE, POINTER, POINTER)
        copy = first(f"cuMemcpyBatchAsync{suffix}", *kinds)
        memory = [driver.output("cuMemAlloc", 64) for _ in range(2)]
        assert driver.cuMemsetD8(memory[0], 7, 64) == 0
        assert driver.cuMemsetD8(memory[1], 1, 64) == 0
        sources, targets = (POINTER * 1)(memory[0]), (POINTER * 1)(memory[1])
        attributes, failed = (ctypes.c_uint32 * 8)(1), SIZE(3)
        code = copy(targets, sources, (SIZE * 1)(32), 1, attributes, (SIZE * 1)(0), 1,
                    ctypes.byref(failed), stream)  # fmt: skip
        assert (code, failed.value) == (0, 2**64 - 1)
        assert driver.cuStreamSynchronize(stream) == 0
        assert driver.read(memory[1], 64, ctypes.c_uint8) == [7] * 32 + [1] * 32
        shaped = first(f"cuMemcpy3DBatchAsync{suffix}", SIZE, POINTER, POINTER, SIZE, POINTER)
        failed.value = 3
        operations = ctypes.create_string_buffer(256)
        assert shaped(1, operations, ctypes.byref(failed), 0, stream) == NOT_SUPPORTED
        assert failed.value == 2**64 - 1
        for each in memory:
            driver.cuMemFree(each)

    def test_managed_memory_is_advised_and_prefetched_by_device_number(
        self, driver, stream, suffix
    ):
        memory, value = driver.output("cuMemAllocManaged", 4096, 1), INT()
        advise = first("cuMemAdvise", ctypes.c_uint64, SIZE, INT, INT)
        prefetch = first(f"cuMemPrefetchAsync{suffix}", ctypes.c_uint64, SIZE, INT, POINTER)
        preferred, last = 2, 4
        for device in (0, -1):
            assert advise(memory, 4096, 3, device) == 0  # set the preferred location
            assert prefetch(memory, 4096, device, stream) == 0
            for attribute in (preferred, last):
                query = ctypes.byref(value), 4, attribute, memory, 4096
                assert driver.cuMemRangeGetAttribute(*query) == 0
                assert value.value == device
        assert advise(memory, 4096, 3, 99) == 101
        driver.cuMemFree(memory)


EMPTY_CALL = ctypes.CFUNCTYPE(None, POINTER)(lambda _: None)
