# SPDX-License-Identifier: Apache-2.0
"""Addresses, buffers and texts as arguments."""

import array
import ctypes

import numpy as np
import pytest
from cuda.bindings import driver

from ....ids import readable

FLOATS_OF_NUMPY = [np.float32(1), np.float64(1), np.float16(1), np.complex64(1)]


@pytest.fixture
def copies(calls):
    """Arguments of cuMemcpyHtoD(dst, const void* src, size)."""
    return calls("cuMemcpyHtoD", ctypes.c_uint64, ctypes.c_void_p, ctypes.c_size_t)


@pytest.mark.parametrize(
    "address",
    [0x7F0000001000, np.uint64(0x7F0000001000), driver.CUdeviceptr(0x7F0000001000)],
    ids=["int", "numpy", "handle"],
)
def test_an_address_is_an_integer(copies, address):
    driver.cuMemcpyHtoD(0, address, 4)
    assert copies[0][1] == 0x7F0000001000


def test_none_is_null(copies):
    driver.cuMemcpyHtoD(0, None, 4)
    assert copies[0][1] is None


def test_a_buffer_is_passed_by_its_address(copies):
    data = np.arange(4, dtype=np.float32)
    driver.cuMemcpyHtoD(0, data, data.nbytes)
    assert copies[0][1] == data.ctypes.data


FORTRAN = np.asfortranarray(np.arange(6.0).reshape(2, 3))
IN_ANY_ORDER = pytest.mark.parametrize(
    "data",
    [FORTRAN, memoryview(FORTRAN), np.arange(6.0).reshape(2, 3).T],
    ids=lambda d: type(d).__name__,
)


@IN_ANY_ORDER
def test_a_contiguous_buffer_may_be_in_fortran_order(copies, data):
    driver.cuMemcpyHtoD(0, data, data.nbytes)
    assert copies[0][1] == np.asarray(data).ctypes.data


@IN_ANY_ORDER
def test_a_field_may_hold_a_buffer_in_fortran_order(data):
    copy = driver.CUDA_MEMCPY2D(srcHost=data)
    assert copy.srcHost == np.asarray(data).ctypes.data


def test_an_array_of_one_element_is_data_not_an_address(copies):
    data = np.array([12345], dtype=np.int64)
    driver.cuMemcpyHtoD(0, data, data.nbytes)
    assert copies[0][1] == data.ctypes.data


def test_read_only_memory_is_accepted(copies):
    data = b"abcd"
    driver.cuMemcpyHtoD(0, data, 4)
    assert ctypes.string_at(copies[0][1], 4) == data


def test_a_buffer_is_released_after_the_call(copies):
    data = bytearray(8)
    driver.cuMemcpyHtoD(0, data, 8)
    data.extend(b"more")  # BufferError while exported


@pytest.mark.parametrize(
    "thing",
    ["text", 1.5, object(), np.arange(8)[::2], np.zeros((4, 4))[:2, :2], *FLOATS_OF_NUMPY],
    ids=readable,
)
def test_an_object_without_memory_is_refused_by_name(copies, thing):
    with pytest.raises(TypeError, match="argument 'srcHost': expected an address, a contiguous"):
        driver.cuMemcpyHtoD(0, thing, 4)


@pytest.mark.parametrize("value", [-1, 2**64, np.int64(-1)], ids=repr)
def test_an_address_that_does_not_fit_is_refused(copies, value):
    with pytest.raises(OverflowError, match="argument 'srcHost'"):
        driver.cuMemcpyHtoD(0, value, 4)
    assert copies == []


@pytest.fixture
def names(calls):
    return calls("cuModuleGetFunction", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)


@pytest.mark.parametrize("text", [b"kernel", bytearray(b"kernel")])
def test_a_text_is_passed_as_bytes(names, text):
    driver.cuModuleGetFunction(1, text)
    assert names[0][2] == b"kernel"


@pytest.mark.parametrize("text", ["kernel", None, 5, memoryview(b"kernel")])
def test_a_text_is_only_accepted_as_bytes(names, text):
    with pytest.raises(TypeError, match="argument 'name': expected bytes, got"):
        driver.cuModuleGetFunction(1, text)


def dump(iterator, buffer, size, _flags):
    ctypes.memmove(buffer, b"line", 5)
    ctypes.c_size_t.from_address(size).value = 5


DUMP_TYPES = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint)


@pytest.mark.parametrize(
    "buffer", [bytearray(16), array.array("B", bytes(16)), np.zeros(16, np.uint8)], ids=repr
)
def test_a_buffer_for_text_is_written_in_place(put, buffer):
    put("cuLogsDumpToMemory", dump, *DUMP_TYPES)
    result = driver.cuLogsDumpToMemory(driver.CUlogIterator(), buffer, 16, 0)
    assert result[0] == driver.CUresult.CUDA_SUCCESS
    assert result[2] == 5
    assert bytes(buffer)[:5] == b"line\0"


def test_bytes_are_written_in_place_for_compatibility(put):
    put("cuLogsDumpToMemory", dump, *DUMP_TYPES)
    buffer = b" " * 16
    driver.cuLogsDumpToMemory(None, buffer, 16, 0)
    assert buffer[:5] == b"line\0"


def test_memory_that_cannot_be_written_is_refused(put):
    put("cuLogsDumpToMemory", dump, *DUMP_TYPES)
    with pytest.raises(TypeError, match="argument 'buffer': expected bytes or a writable buffer"):
        driver.cuLogsDumpToMemory(None, memoryview(b"x" * 16), 16, 0)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1.0, [1, 0, 0, 0]), ([1, 2, 3, 4], [1, 2, 3, 4]), ((0.5, 0.25), [0.5, 0.25, 0, 0])],
)
def test_a_color_is_a_number_or_up_to_four(put, value, expected):
    seen = []
    put(
        "cuTexRefSetBorderColor",
        lambda _ref, color: seen.extend((ctypes.c_float * 4).from_address(color)),
        ctypes.c_void_p,
        ctypes.c_void_p,
    )
    driver.cuTexRefSetBorderColor(1, value)
    assert seen == expected


def test_a_color_of_five_channels_is_refused(calls):
    calls("cuTexRefSetBorderColor", ctypes.c_void_p, ctypes.c_void_p)
    with pytest.raises(ValueError, match="at most 4"):
        driver.cuTexRefSetBorderColor(1, [0] * 5)
