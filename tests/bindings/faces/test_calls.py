# SPDX-License-Identifier: Apache-2.0
"""Calls through `cuda.bindings._v2`: values are returned, failures raise, arguments are named."""

import ctypes
import gc
import pickle
import subprocess
import sys

import pytest
from cuda.bindings import _low
from cuda.bindings._v2 import driver, nvrtc

from ..function_tables import slots

pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture
def memory():
    address = driver.mem_alloc_v2(64)
    yield address
    driver.mem_free_v2(address)


@pytest.fixture
def graph():
    new_graph = driver.graph_create(0)
    yield new_graph
    driver.graph_destroy(new_graph)


def test_one_output_is_returned_alone_several_as_a_tuple_none_as_none():
    assert driver.device_get(0) == 0
    free, total = driver.mem_get_info_v2()
    assert 0 < free <= total
    assert driver.ctx_synchronize() is None


def test_both_faces_share_one_table(memory):
    from cuda.bindings import driver as classic

    error, kind = classic.cuPointerGetAttribute(2, memory)
    assert error == 0 and kind == driver.pointer_get_attribute(2, memory)
    assert _low.library_names() == sorted(_low.library_names())
    assert not any("v2" in name for name in _low.library_names())
    assert slots("driver")


def test_a_failure_raises_the_class_of_its_code():
    with pytest.raises(driver.InvalidDeviceError) as caught:
        driver.device_get(99)
    error = caught.value
    assert str(error) == "ERROR_INVALID_DEVICE (101)" and error.status == 101
    assert isinstance(error, driver.DriverError)
    assert error.__notes__[0].startswith("driver.device_get(): ")
    second = pickle.loads(pickle.dumps(error))
    assert type(second) is type(error) and str(second) == str(error) and second.status == 101


def test_an_error_accepts_any_code():
    assert str(driver.DriverError(2)) == "ERROR_OUT_OF_MEMORY (2)"
    assert driver.DriverError(999_999).status == 999_999
    with pytest.raises(TypeError, match="DriverError\\(\\) argument 'status'"):
        driver.DriverError("2")


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda: driver.device_get(1.5), TypeError, "argument 'ordinal': expected an integer"),
        (lambda: driver.device_get(), TypeError, "missing required argument 'ordinal'"),
        (lambda: driver.stream_create(-1), OverflowError, "argument 'flags'"),
        (lambda: driver.device_get_name(-1, 0), ValueError, "argument 'len': a count of -1"),
        (lambda: driver.mem_create(64, b"no", 0), TypeError, "expected MemAllocationProp_v1"),
        (lambda: driver.ipc_open_mem_handle_v2(None, 0), TypeError, "expected IpcMemHandle_v1"),
    ],
)
def test_a_wrong_argument_is_named(call, kind, says):
    with pytest.raises(kind, match=says):
        call()


def test_bytes_are_copied_to_the_device_and_back(memory):
    readback = bytearray(8)
    driver.memcpy_htod_v2(memory, b"12345678", 8)
    driver.memcpy_dtoh_v2(readback, memory, 8)
    assert readback == b"12345678"


def test_a_buffer_smaller_than_the_size_is_refused(memory):
    with pytest.raises(ValueError, match="at least 8 bytes .'byte_count'., got 3"):
        driver.memcpy_htod_v2(memory, b"123", 8)
    with pytest.raises(ValueError, match="argument 'dst_host': expected a buffer of at least 8"):
        driver.memcpy_dtoh_v2(bytearray(7), memory, 8)
    with pytest.raises(ValueError, match="contiguous writable buffer"):
        driver.memcpy_dtoh_v2(b"12345678", memory, 8)


def test_addresses_and_larger_buffers_are_accepted(memory):
    text = ctypes.create_string_buffer(b"abcdefgh", 16)
    driver.memcpy_htod_v2(memory, text, 8)
    readback = ctypes.create_string_buffer(8)
    driver.memcpy_dtoh_v2(ctypes.addressof(readback), memory, 8)
    assert readback.raw == b"abcdefgh"


def test_a_handle_list_is_a_sequence_an_address_or_none(graph):
    first = driver.graph_add_empty_node(graph, None, 0)
    second = driver.graph_add_empty_node(graph, (first,), 1)
    array = (ctypes.c_void_p * 2)(first, second)
    third = driver.graph_add_empty_node(graph, ctypes.addressof(array), 2)
    assert list(driver.graph_get_nodes(graph)) == [first, second, third]
    sources, targets, edges = driver.graph_get_edges(graph)
    assert sorted(zip(sources, targets, strict=True)) == sorted(
        [(first, second), (first, third), (second, third)]
    )
    assert len(edges) == 3 and type(edges) is driver.GraphEdgeData
    # the result of each call is an argument of the next
    last = driver.graph_add_empty_node(graph, driver.graph_get_nodes(graph), 3)
    assert list(driver.graph_node_get_dependencies(last)[0]) == [first, second, third]


def test_an_empty_graph_has_no_nodes(graph):
    assert list(driver.graph_get_nodes(graph)) == []
    assert [len(part) for part in driver.graph_get_edges(graph)] == [0, 0, 0]


@pytest.mark.parametrize(
    ("value", "kind", "says"),
    [
        ([1], RuntimeError, "List is too small: 1 < 2"),
        ("ab", TypeError, "a sequence of ints, an address or None, got str"),
        ([1, None], TypeError, "element 1: expected an integer, got NoneType"),
        ([1, 2**64], OverflowError, "element 1"),
        (1.0, TypeError, "a sequence of ints"),
    ],
)
def test_a_wrong_list_is_refused_before_the_call(graph, value, kind, says):
    with pytest.raises(kind, match=says):
        driver.graph_add_empty_node(graph, value, 2)
    assert list(driver.graph_get_nodes(graph)) == []


class Shrinking(list):
    """A list whose elements remove elements while they are converted."""


def test_a_list_that_changes_during_its_conversion_is_read_once(graph):
    items = Shrinking()
    nodes = [driver.graph_add_empty_node(graph, [], 0) for _ in range(3)]

    class Element:
        def __index__(self):
            items.clear()
            gc.collect()
            return nodes[0]

    items += [Element(), *nodes[1:]]
    last = driver.graph_add_empty_node(graph, items, 3)
    assert items == []
    assert sorted(driver.graph_node_get_dependencies_v2(last)[0]) == sorted(nodes)


def test_too_few_structs_for_the_count_are_refused(memory):
    access = driver.MemAccessDesc_v1(1)
    with pytest.raises(RuntimeError, match="argument 'desc': List is too small: 1 < 2"):
        driver.mem_set_access(memory, 64, access, 2)


def test_attributes_are_values_of_their_type(memory):
    kinds = driver.PointerAttribute
    assert driver.pointer_get_attribute(kinds.IS_MANAGED, memory) is False
    assert driver.pointer_get_attribute(kinds.DEVICE_POINTER, memory) == memory
    assert driver.pointer_get_attributes([2, kinds.RANGE_SIZE], memory) == [2, 64]
    with pytest.raises(TypeError, match="Unsupported attribute: <PointerAttribute.UNKNOWN_9999"):
        driver.pointer_get_attribute(9999, memory)


def test_related_lists_must_have_equal_length(memory):
    with pytest.raises(RuntimeError, match="List is too small: 1 < 2"):
        driver.mem_range_get_attributes([4], [1, 2], memory, 64)
    with pytest.raises(ValueError, match="expected 1 elements, the count of 'attributes', got 2"):
        driver.mem_range_get_attributes([4, 4], [1], memory, 64)


def test_texts_are_str_names_are_bytes():
    assert driver.get_error_name(1) == "CUDA_ERROR_INVALID_VALUE"
    assert isinstance(driver.get_error_string(1), str)
    name = driver.device_get_name(40, 0)
    assert isinstance(name, bytes) and len(name) == 40


def test_names_of_kernels_are_bytes(context):
    image = b".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry named() { ret; }\n\0"
    module = driver.module_load_data(image)
    assert driver.func_get_name(driver.module_get_function(module, b"named")) == b"named"
    driver.module_unload(module)
    library = driver.library_load_data(image, 0, 0, 0, 0, 0, 0)
    assert driver.kernel_get_name(driver.library_get_kernel(library, b"named")) == b"named"
    driver.library_unload(library)


def test_a_lowered_name_is_bytes():
    program = nvrtc.create_program(b"template <class T> __global__ void k(T* x) {}", b"a.cu")
    nvrtc.add_name_expression(program, "k<int>")
    nvrtc.compile_program(program, [])
    assert nvrtc.get_lowered_name(program, "k<int>") == b"_Z1kIiEvPT_"
    nvrtc.destroy_program(program)


def test_captures_return_their_dependencies():
    stream = driver.stream_create(0)
    status, _, _, nodes, edges = driver.stream_get_capture_info_v3(stream)
    assert status == driver.StreamCaptureStatus.NONE and len(nodes) == len(edges) == 0
    driver.stream_destroy_v2(stream)


def test_a_struct_is_placed_at_its_alignment():
    structs = [driver.TensorMap() for _ in range(32)]
    assert {each.ptr % 64 for each in structs} == {0}


def test_a_capability_count_that_would_overrun_the_struct_is_refused():
    with pytest.raises(ValueError, match="argument 'count': expected 1"):
        driver.device_get_p2p_atomic_capabilities(0, 2, 0, 0)


def test_objects_are_created_and_destroyed_without_leaks(graph):
    nodes = [driver.graph_add_empty_node(graph, None, 0) for _ in range(4)]
    gc.collect()
    before = sys.gettotalrefcount() if hasattr(sys, "gettotalrefcount") else len(gc.get_objects())
    for _ in range(200):
        driver.graph_get_nodes(graph)
        driver.stream_get_capture_info_v3(0)
        assert driver.MemAllocationProp_v1().location.id == 0
        with pytest.raises(driver.DriverError):
            driver.device_get(99)
        with pytest.raises(TypeError):
            driver.graph_add_empty_node(graph, [*nodes, None], 5)
    gc.collect()
    after = sys.gettotalrefcount() if hasattr(sys, "gettotalrefcount") else len(gc.get_objects())
    assert after - before < 100


def test_numpy_is_loaded_only_for_a_numpy_array():
    code = (
        "import sys\n"
        "from cuda.bindings._v2 import driver, nvrtc\n"
        "driver.init(0); driver.DriverError(2); driver.MemLocation_v1().id\n"
        "driver.ctx_set_current(driver.device_primary_ctx_retain(0))\n"
        "driver.graph_get_nodes(driver.graph_create(0))\n"
        "print('numpy' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_the_classic_module_is_created_without_this_one():
    listed = "[name for name in sys.modules if '_v2' in name]"
    code = f"import sys; from cuda.bindings import driver; print({listed})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
