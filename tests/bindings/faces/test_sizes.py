# SPDX-License-Identifier: Apache-2.0
"""Functions of `cuda.bindings._v2` whose outputs have a size that another function returns."""

import array
import ctypes

import pytest
from cuda.bindings import driver as classic
from cuda.bindings._v2 import driver

from ...libraries import open_or_skip

pytestmark = pytest.mark.usefixtures("context")

SOURCE = b"""
#include "value.h"
extern "C" __global__ void store(int* x) { *x = VALUE + ADDED; }
template <int n> __global__ void fill(int* x) { *x = n; }
"""
HEADERS = {"headers": [b"#define VALUE 40"], "include_names": [b"value.h"]}
OPTIONS = [b"-arch=compute_80", b"-DADDED=2"]


@pytest.fixture(scope="module")
def nvrtc():
    open_or_skip("nvrtc")
    from cuda.bindings._v2 import nvrtc

    return nvrtc


@pytest.fixture
def program(nvrtc):
    program = nvrtc.create_program(SOURCE, b"program", **HEADERS)
    yield program
    nvrtc.destroy_program(program)


@pytest.fixture
def ptx(nvrtc, program):
    nvrtc.add_name_expression(program, "fill<3>")
    nvrtc.compile_program(program, OPTIONS)
    return nvrtc.get_ptx(program)


def test_bytes_have_the_size_that_the_library_returns(nvrtc, program, ptx):
    assert len(ptx) == nvrtc.get_ptx_size(program)
    assert ptx.endswith(b"\0")
    assert b", 42;" in ptx  # the header and the options arrived
    assert nvrtc.get_program_log(program) == b"\0"


def test_an_array_has_the_size_that_the_library_returns(nvrtc):
    targets = list(nvrtc.get_supported_archs())
    assert len(targets) == nvrtc.get_num_supported_archs()
    assert targets == sorted(targets)
    assert 90 in targets


def test_handles_have_the_number_that_the_driver_returns(ptx):
    library = driver.library_load_data(ptx, 0, 0, 0, 0, 0, 0)
    kernels = driver.library_enumerate_kernels(library)
    assert len(kernels) == driver.library_get_kernel_count(library) == 2
    assert {classic.cuKernelGetName(classic.CUkernel(each))[1] for each in kernels} > {b"store"}
    driver.library_unload(library)


def test_the_failure_of_a_query_names_the_function_that_was_called(nvrtc):
    with pytest.raises(nvrtc.InvalidProgramError, match=r"get_ptx\(\)"):
        nvrtc.get_ptx(0)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ([b"-G", "-G"], TypeError, "element 1: expected bytes, got str"),
        ([b"-a\0b"], ValueError, "element 0: "),
        (5, TypeError, "a sequence of bytes or None"),
    ],
)
def test_texts_that_are_no_bytes_are_named(nvrtc, program, options, error, text):
    with pytest.raises(error, match=text):
        nvrtc.compile_program(program, options)


def test_no_texts_are_an_empty_list(nvrtc):
    for none in (None, [], ()):
        program = nvrtc.create_program(b"__device__ int x;", b"empty", none, none)
        nvrtc.compile_program(program, none)
        nvrtc.destroy_program(program)


def test_lists_of_texts_must_have_one_length(nvrtc):
    with pytest.raises(ValueError, match="include_names"):
        nvrtc.create_program(b"__device__ int x;", b"short", [b"a", b"b"], [b"a.h"])


@pytest.fixture
def copies():
    """Three numbers of the device, and lists that copy the first to the others."""
    address = driver.mem_alloc_v2(24)
    driver.memset_d8_v2(address, 0, 24)
    driver.memset_d8_v2(address, 7, 8)
    targets = array.array("Q", [address + 8, address + 16])
    sources = array.array("Q", [address, address])
    yield address, targets, sources, array.array("Q", [8, 4])
    driver.mem_free_v2(address)


@pytest.fixture
def attributes():
    one = classic.CUmemcpyAttributes()
    one.srcAccessOrder = classic.CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM
    return one


def batch(copies, attributes, **changes):
    address, targets, sources, sizes = copies
    lists = {"dsts": targets, "srcs": sources, "sizes": sizes} | changes
    stream = driver.stream_create(1)
    try:
        driver.memcpy_batch_async(
            **lists, attrs=attributes.getPtr(), attrs_idxs=array.array("Q", [0]), h_stream=stream
        )
        driver.stream_synchronize(stream)
    finally:
        driver.stream_destroy_v2(stream)
    result = (ctypes.c_ubyte * 24)()
    driver.memcpy_dtoh_v2(ctypes.addressof(result), address, 24)
    return bytes(result)


def test_items_are_those_of_a_buffer(copies, attributes):
    assert batch(copies, attributes) == b"\7" * 20 + bytes(4)


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"srcs": [1, 2]}, TypeError, "a contiguous buffer"),
        ({"srcs": array.array("I", [1, 2])}, ValueError, "items of 8 bytes, got 4-byte items"),
        ({"sizes": array.array("Q", [1])}, ValueError, "sizes"),
    ],
)
def test_items_of_another_kind_or_number_are_refused(copies, attributes, changes, error, text):
    with pytest.raises(error, match=text):
        batch(copies, attributes, **changes)


def test_a_completed_link_is_copied(ptx):
    """The driver owns the image until the link is destroyed."""
    state = driver.link_create_v2(0, 0, 0)
    text = ctypes.create_string_buffer(ptx)
    address = ctypes.addressof(text)
    kind = int(classic.CUjitInputType.CU_JIT_INPUT_PTX)
    driver.link_add_data_v2(state, kind, address, len(ptx), b"program", 0, 0, 0)
    image = driver.link_complete(state)
    driver.link_destroy(state)
    assert type(image) is bytes
    assert len(image) > 100
