# SPDX-License-Identifier: Apache-2.0
"""Codes of short floating-point numbers, against ml_dtypes, and rare types of arguments."""

import ctypes
import itertools
import math
import struct
from functools import partial
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest
from cuda.bindings import driver
from cuda.core import LaunchConfig, launch
from cuda.core._kernel_arg_handler import ParamHolder

ONE = LaunchConfig(grid=1, block=1)
FORMATS = {
    "6__half": np.float16,
    "13__nv_bfloat16": ml_dtypes.bfloat16,
    "13__nv_fp8_e4m3": ml_dtypes.float8_e4m3fn,
    "13__nv_fp8_e5m2": ml_dtypes.float8_e5m2,
    "13__nv_fp6_e2m3": ml_dtypes.float6_e2m3fn,
    "13__nv_fp6_e3m2": ml_dtypes.float6_e3m2fn,
    "13__nv_fp4_e2m1": ml_dtypes.float4_e2m1fn,
}
WITH_INFINITY = ("6__half", "13__nv_bfloat16", "13__nv_fp8_e5m2")
WITH_NAN = (*WITH_INFINITY, "13__nv_fp8_e4m3")


@pytest.fixture
def storing(load_kernel, stream, pinned_block):
    """Return a function of a value that launches one kernel and returns its parameter's bytes."""

    def run(kernel, size, value):
        launch(stream, ONE, kernel, pinned_block, value)
        stream.sync()
        return ctypes.string_at(pinned_block.handle, size)

    def make(mangled, size, declaration=None):
        declaration = declaration or f".align {size} .b8 value[{size}]"
        kernel = load_kernel(
            f".param .u64 out, .param {declaration}",
            f".reg .u64 %rd<3>; ld.param.u64 %rd1, [out]; ld.param.u{8 * size} %rd2, [value]; "
            f"st.global.u{8 * size} [%rd1], %rd2;",
            name=f"_Z5storePv{mangled}",
        )
        return partial(run, kernel, size)

    return make


def values_of(scalar):
    """Return the finite values of a format that are not negative, in order; 64 of a long one."""
    size = np.dtype(scalar).itemsize
    codes = range(256) if size == 1 else [*range(20), *range(20, 0x7F80, 613), 0x7BFF, 0x7F7F]
    with np.errstate(all="ignore"):
        numbers = [float(np.frombuffer(code.to_bytes(size, "little"), scalar)[0]) for code in codes]
    return sorted({number for number in numbers if math.isfinite(number) and number >= 0})


@pytest.mark.parametrize("mangled", FORMATS)
def test_numbers_are_rounded_to_the_nearest_code_and_ties_to_even(mangled, storing):
    scalar = FORMATS[mangled]
    store = storing(mangled, np.dtype(scalar).itemsize)
    values = values_of(scalar)
    for low, high in itertools.pairwise(values):
        middle = (low + high) / 2
        beside = [float(np.nextafter(np.float32(middle), np.float32(x))) for x in (low, high)]
        for number in (low, -high, middle, *beside):
            assert store(number) == scalar(number).tobytes(), number


@pytest.mark.parametrize("mangled", FORMATS)
def test_the_largest_number_of_a_format(mangled, storing):
    scalar = FORMATS[mangled]
    store = storing(mangled, np.dtype(scalar).itemsize)
    info = ml_dtypes.finfo(scalar)
    largest, step = float(info.max), 2.0 ** (math.frexp(float(info.max))[1] - 1 - info.nmant)
    below = math.nextafter(largest + step / 2, 0)
    assert store(largest) == store(below) == scalar(largest).tobytes()
    assert store(-below) == scalar(-largest).tobytes()
    for number in (largest + step, -largest - step):
        with pytest.raises(OverflowError, match="the value is beyond the range of the parameter"):
            store(number)


@pytest.mark.parametrize("mangled", FORMATS)
def test_infinity_and_nan_are_refused_where_a_format_has_none(mangled, storing):
    scalar = FORMATS[mangled]
    store = storing(mangled, np.dtype(scalar).itemsize)
    for number in (math.inf, -math.inf):
        if mangled in WITH_INFINITY:
            assert store(number) == scalar(number).tobytes()
        else:
            with pytest.raises(OverflowError, match="beyond the range"):
                store(number)
    if mangled in WITH_NAN:
        for number in (math.nan, -math.nan):
            assert math.isnan(np.frombuffer(store(number), scalar)[0])
    else:
        with pytest.raises(OverflowError, match="beyond the range"):
            store(math.nan)


def test_powers_of_two_have_an_exponent_only(storing):
    store = storing("13__nv_fp8_e8m0", 1)
    for exponent in range(-127, 128):
        assert store(2.0**exponent) == bytes([exponent + 127])
    assert store(math.nan) == b"\xff"
    for number in (0.0, -1.0, 3.0, 2.0**-128, 2.0**128, math.inf):
        with pytest.raises(OverflowError, match=r"the powers of two from 2\*\*-127 to 2\*\*127"):
            store(number)


@pytest.mark.parametrize(
    ("mangled", "size", "exact", "inexact", "beyond"),
    [
        ("6__half", 2, -2048, 2049, 65536),
        ("13__nv_bfloat16", 2, 256, 257, 2**128),
        ("f", 4, 2**24, 2**24 + 1, 2**128),
        ("d", 8, -(2**53), 2**53 + 1, 2**1024),
    ],
)
def test_an_integer_must_be_exact(mangled, size, exact, inexact, beyond, storing):
    codes = {"6__half": "e", "f": "f", "d": "d"}
    declaration = None if "_" in mangled else f".u{8 * size} value"
    store = storing(mangled, size, declaration)
    if mangled in codes:
        assert store(exact) == struct.pack(codes[mangled], exact)
    else:
        assert store(exact) == ml_dtypes.bfloat16(exact).tobytes()
    with pytest.raises(TypeError, match="the integer has no exact value in the parameter's type"):
        store(inexact)
    for number in (beyond, 10**400, -(10**400)):
        with pytest.raises(OverflowError, match="the value is beyond the range of the parameter"):
            store(number)


class TestComplexNumbers:
    @pytest.mark.parametrize(("mangled", "size"), [("f", 4), ("i", 4), ("d", 8), ("Pf", 8)])
    def test_other_parameters_refuse_them(self, mangled, size, storing):
        with pytest.raises(TypeError, match="the parameter is no complex number"):
            storing(mangled, size, f".u{8 * size} value")(1j)

    def test_their_parts_have_half_the_size_each(self, storing):
        store = storing("6float2", 8)
        assert store(1.5 - 2j) == struct.pack("ff", 1.5, -2)
        for value in (complex(1e39, 0), complex(0, -1e39)):
            with pytest.raises(OverflowError, match="beyond the range"):
                store(value)
        holder = ParamHolder([1.5 - 2j])
        content = ctypes.string_at(ctypes.c_void_p.from_address(holder.ptr).value, 16)
        assert content == struct.pack("dd", 1.5, -2)


class TestRareTypes:
    def test_a_structure_of_the_driver_gives_its_bytes(self):
        location = driver.CUmemLocation()
        location.type, location.id = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, 3
        holder = ParamHolder([location])
        content = ctypes.string_at(ctypes.c_void_p.from_address(holder.ptr).value, 8)
        assert content == struct.pack("ii", 1, 3)

    def test_a_class_of_ctypes_without_a_known_code_is_refused(self):
        class Odd(ctypes.c_int):
            pass

        Odd._type_ = "ii"
        with pytest.raises(TypeError, match="Odd"):
            ParamHolder([Odd(1)])

    @pytest.mark.parametrize("address", [2**64, -1])
    def test_the_address_of_an_array_has_64_bits(self, address):
        interface = {"data": (address, False), "shape": (1,), "typestr": "<f4", "version": 3}
        array = type("Array", (SimpleNamespace,), {"__cuda_array_interface__": interface})()
        with pytest.raises(OverflowError, match="must be from 0 to 18446744073709551615"):
            ParamHolder([array])
