# SPDX-License-Identifier: Apache-2.0
"""Lists as arguments: C arrays whose count remains a separate argument."""

import ctypes

import pytest
from cuda.bindings import driver, nvrtc

Pointer, Size, Unsigned = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint


@pytest.fixture
def nodes(put):
    """Dependencies that cuGraphAddEmptyNode receives."""
    seen = []

    def add(_out, _graph, dependencies, count):
        array = (ctypes.c_uint64 * count).from_address(dependencies) if dependencies else None
        seen.append(array and list(array))

    put("cuGraphAddEmptyNode", add, Pointer, Pointer, Pointer, Size)
    return seen


@pytest.mark.parametrize("kind", [list, tuple])
def test_handles_become_an_array(nodes, kind):
    driver.cuGraphAddEmptyNode(1, kind(driver.CUgraphNode(i) for i in (3, 4, 5)), 3)
    assert nodes == [[3, 4, 5]]


@pytest.mark.parametrize("empty", [None, [], ()])
def test_an_empty_list_is_null(nodes, empty):
    driver.cuGraphAddEmptyNode(1, empty, 0)
    assert nodes == [None]


def test_a_list_too_long_for_the_stack_is_passed_completely(nodes):
    driver.cuGraphAddEmptyNode(1, list(range(1, 1001)), 1000)
    assert nodes == [list(range(1, 1001))]


def test_a_list_may_be_longer_than_the_count(nodes):
    driver.cuGraphAddEmptyNode(1, [driver.CUgraphNode(1), driver.CUgraphNode(2)], 1)
    assert nodes == [[1]]


@pytest.mark.parametrize("value", [[1], None], ids=["short", "none"])
def test_a_list_shorter_than_the_count_is_refused(nodes, value):
    with pytest.raises(RuntimeError, match="argument 'dependencies': List is too small: . < 2"):
        driver.cuGraphAddEmptyNode(1, value, 2)
    assert nodes == []


@pytest.mark.parametrize("element", ["x", None, 1.5])
def test_a_wrong_element_is_named_by_its_position(nodes, element):
    message = "argument 'dependencies': element 1: expected CUgraphNode or an integer, got "
    with pytest.raises(TypeError, match=message):
        driver.cuGraphAddEmptyNode(1, [driver.CUgraphNode(), element], 2)


@pytest.mark.parametrize("thing", [5, "ab", {1: 2}, iter([])])
def test_an_invalid_list_is_refused(nodes, thing):
    with pytest.raises(TypeError, match="expected a list or tuple"):
        driver.cuGraphAddEmptyNode(1, thing, 0)


def test_a_list_that_shrinks_while_it_is_read_is_refused(nodes):
    values = []

    class Shrinks:
        def __index__(self):
            values.clear()
            return 1

    values += [Shrinks(), 2]
    with pytest.raises(RuntimeError, match="changed its length"):
        driver.cuGraphAddEmptyNode(1, values, 2)


def test_one_struct_is_passed_by_its_own_memory(calls):
    seen = calls("cuMemPoolSetAccess", Pointer, Pointer, Size)
    access = driver.CUmemAccessDesc()
    driver.cuMemPoolSetAccess(1, [access], 1)
    assert seen[0][1] == access.getPtr()


def test_several_structs_are_copied_side_by_side(put):
    seen = []
    size = driver.sizeof(driver.CUmemAccessDesc)

    def set_access(_pool, array, count):
        seen.extend(ctypes.string_at(array + i * size, size) for i in range(count))

    put("cuMemPoolSetAccess", set_access, Pointer, Pointer, Size)
    flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    descriptions = [
        driver.CUmemAccessDesc(location=driver.CUmemLocation(id=i), flags=flags) for i in range(3)
    ]
    driver.cuMemPoolSetAccess(1, descriptions, 3)
    assert seen == [bytes(d) for d in descriptions]


def test_texts_become_an_array_of_pointers(put):
    seen = []

    def compile_(_program, count, options):
        seen.extend((ctypes.c_char_p * count).from_address(options))

    put("nvrtcCompileProgram", compile_, Pointer, ctypes.c_int, Pointer)
    nvrtc.nvrtcCompileProgram(1, 2, [b"-a", bytearray(b"-b")])
    assert seen == [b"-a", b"-b"]


def test_numbers_cannot_be_none(calls):
    calls("cuMemcpyBatchAsync", *[Pointer] * 3, Size, Pointer, Pointer, Size, Pointer)
    with pytest.raises(TypeError, match="argument 'sizes': expected a list or tuple, got NoneType"):
        driver.cuMemcpyBatchAsync([1], [2], None, 0, None, [], 0, 0)


def test_numbers_become_an_array_of_their_width(put):
    seen = []

    def copy(_dsts, _srcs, sizes, count, *_others):
        seen.extend((Size * count).from_address(sizes))

    put("cuMemcpyBatchAsync", copy, *[Pointer] * 3, Size, Pointer, Pointer, Size, Pointer)
    driver.cuMemcpyBatchAsync([1, 2], [3, 4], [5, 2**63], 2, None, [], 0, 0)
    assert seen == [5, 2**63]


TENSOR_MAP = (
    "cuTensorMapEncodeTiled", Pointer, ctypes.c_int, Unsigned, Pointer, Pointer, Pointer, Pointer,
    Pointer, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int,
)  # fmt: skip


def encode(dimensions, boxes):
    return driver.cuTensorMapEncodeTiled(0, 2, 4096, dimensions, None, boxes, None, 0, 0, 0, 0)


def test_short_lists_of_tensor_maps_hold_numbers_of_their_width(put):
    seen = []

    def map_(out, _type, _rank, _address, dimensions, strides, boxes, *_others):
        seen.append(out % 128)
        seen.append(list((ctypes.c_uint64 * 2).from_address(dimensions)))
        seen.append(strides)
        seen.append(list((ctypes.c_uint32 * 2).from_address(boxes)))

    put(TENSOR_MAP[0], map_, *TENSOR_MAP[1:])
    encode([driver.cuuint64_t(2**40), driver.cuuint64_t(8)], [driver.cuuint32_t(1), 2])
    assert seen == [0, [2**40, 8], None, [1, 2]]


def test_a_short_list_of_six_is_refused(calls):
    calls(*TENSOR_MAP)
    with pytest.raises(ValueError, match="at most 5"):
        encode([driver.cuuint64_t(1)] * 6, None)


@pytest.fixture
def edges(put):
    """Address of the edges that cuGraphAddDependencies receives."""
    seen = []
    put(
        "cuGraphAddDependencies",
        lambda _graph, _from, _to, data, _count: seen.append(data),
        *(Pointer, Pointer, Pointer, Pointer, Size),
    )
    return seen


@pytest.mark.parametrize("left_out", [None, [], ()])
def test_edges_without_data_are_null_for_any_count(edges, left_out):
    nodes = [driver.CUgraphNode(1), driver.CUgraphNode(2)]
    assert driver.cuGraphAddDependencies(3, nodes, nodes, left_out, 2) == (0,)
    assert edges == [None]


def test_too_few_edges_are_refused(edges):
    nodes = [driver.CUgraphNode(1), driver.CUgraphNode(2)]
    with pytest.raises(RuntimeError, match="argument 'edgeData': List is too small: 1 < 2"):
        driver.cuGraphAddDependencies(3, nodes, nodes, [driver.CUgraphEdgeData()], 2)
    assert edges == []
