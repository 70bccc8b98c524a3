# SPDX-License-Identifier: Apache-2.0
"""Numbers as arguments: accepted types, and their width in C."""

import ctypes
import decimal
import fractions
import warnings

import numpy as np
import pytest
from cuda.bindings import driver, nvvm, runtime
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ....ids import readable


class WithInt:
    def __int__(self):
        return 5


class WithIndex:
    def __index__(self):
        return 5


@pytest.fixture
def flags(calls):
    """Arguments of cuInit(unsigned int)."""
    return calls("cuInit", ctypes.c_uint)


@pytest.mark.parametrize(
    "value", [5, np.int64(5), np.uint8(5), WithInt(), WithIndex(), driver.CUdevice(5)], ids=readable
)
def test_any_integer_is_accepted(flags, value):
    driver.cuInit(value)
    assert flags == [(5,)]


@pytest.mark.parametrize("value", [True, np.True_], ids=repr)
def test_bool_is_an_integer(flags, value):
    driver.cuInit(value)
    assert flags == [(1,)]


@pytest.mark.parametrize("value", [1.5, np.float32(2.5), np.float64(0.1), "1", b"1", None, [1]])
def test_lossy_and_nonnumeric_values_are_refused_by_name(flags, value):
    with pytest.raises(TypeError, match=r"^cuInit\(\) argument 'Flags': expected an integer, got"):
        driver.cuInit(value)
    assert flags == []


WHOLE = [2.0, np.float32(2), np.float64(2), decimal.Decimal(2), fractions.Fraction(4, 2)]


@pytest.mark.parametrize("value", WHOLE, ids=repr)
def test_a_whole_number_of_another_type_is_accepted_with_a_warning(flags, value):
    with pytest.warns(DeprecationWarning, match="expected an integer, got .*2"):
        driver.cuInit(value)
    assert flags == [(2,)]
    extent = runtime.cudaExtent()
    with pytest.warns(DeprecationWarning):
        extent.width = value
    assert extent.width == 2


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e30, -1.0])
def test_floats_that_are_no_valid_size_are_refused(flags, value):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with pytest.raises((ValueError, OverflowError), match=r"^cuInit\(\) argument 'Flags': "):
            driver.cuInit(value)
    assert flags == []


def test_the_warning_may_be_an_error(flags):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DeprecationWarning):
            driver.cuInit(2.0)
    assert flags == []


@pytest.mark.parametrize(
    "call",
    [
        lambda: driver.cuStreamQuery(2.0),
        lambda: driver.cuMemcpyHtoD(0, 2.0, 1),
        lambda: driver.CUdevice_attribute(2.0),
        lambda: nvvm.compile_program(16.0, 0, []),
    ],
    ids=["handle", "address", "enumeration", "address as a handle"],
)
def test_handles_addresses_and_enumerators_are_no_floats(call):
    with pytest.raises((TypeError, ValueError)):
        call()


@pytest.mark.parametrize("value", [-1, 2**32, 2**64, -(2**70)])
def test_out_of_range_is_refused_by_name(flags, value):
    with pytest.raises(OverflowError, match=r"^cuInit\(\) argument 'Flags': .* does not fit"):
        driver.cuInit(value)
    assert flags == []


def test_an_error_of_a_user_conversion_is_propagated(flags):
    class Broken:
        def __index__(self):
            raise LookupError("mine")

    with pytest.raises(LookupError, match=r"^mine$"):
        driver.cuInit(Broken())


LIMITS = {
    ctypes.c_ubyte: (0, 2**8 - 1),
    ctypes.c_ushort: (0, 2**16 - 1),
    ctypes.c_uint: (0, 2**32 - 1),
    ctypes.c_int: (-(2**31), 2**31 - 1),
    ctypes.c_size_t: (0, 2**64 - 1),
}
TAKERS = {
    ctypes.c_ubyte: lambda v: driver.cuMemsetD8(0, v, 0),
    ctypes.c_ushort: lambda v: driver.cuMemsetD16(0, v, 0),
    ctypes.c_uint: lambda v: driver.cuMemsetD32(0, v, 0),
    ctypes.c_int: lambda v: driver.cuDeviceGet(v),
    ctypes.c_size_t: lambda v: driver.cuMemAlloc(v),
}


@pytest.fixture
def arrived(put):
    """The number that any of TAKERS passed to C."""
    seen = []

    def memset(_address, value, _count):
        seen.append(value)

    put("cuMemsetD8", memset, ctypes.c_uint64, ctypes.c_ubyte, ctypes.c_size_t)
    put("cuMemsetD16", memset, ctypes.c_uint64, ctypes.c_ushort, ctypes.c_size_t)
    put("cuMemsetD32", memset, ctypes.c_uint64, ctypes.c_uint, ctypes.c_size_t)
    put("cuDeviceGet", lambda _out, v: seen.append(v), ctypes.c_void_p, ctypes.c_int)
    put("cuMemAlloc", lambda _out, v: seen.append(v), ctypes.c_void_p, ctypes.c_size_t)
    return seen


EDGES = [
    sign * 2**bits + step
    for sign in (1, -1)
    for bits in (7, 8, 15, 16, 30, 31, 32, 60, 63, 64)
    for step in (-1, 0, 1)
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.sampled_from(list(LIMITS)), st.integers(-(2**66), 2**66) | st.sampled_from(EDGES))
def test_every_width_accepts_exactly_its_range(arrived, c_type, value):
    lowest, highest = LIMITS[c_type]
    arrived.clear()
    if lowest <= value <= highest:
        TAKERS[c_type](value)
        assert arrived == [value]
    else:
        with pytest.raises(OverflowError):
            TAKERS[c_type](value)
        assert arrived == []


def test_floats_are_passed_in_their_own_width(calls):
    seen = calls("cuParamSetf", ctypes.c_void_p, ctypes.c_int, ctypes.c_float)
    driver.cuParamSetf(driver.CUfunction(1), 4, 1.5)
    driver.cuParamSetf(driver.CUfunction(1), 4, 7)
    assert [value for *_, value in seen] == [1.5, 7.0]


def test_text_is_not_a_float(calls):
    calls("cuParamSetf", ctypes.c_void_p, ctypes.c_int, ctypes.c_float)
    with pytest.raises(TypeError, match="argument 'value': expected a number, got str"):
        driver.cuParamSetf(driver.CUfunction(1), 4, "1.5")


@pytest.mark.parametrize("value", [driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_WARP_SIZE, 10])
def test_an_enumerator_is_a_member_or_its_number(calls, value):
    seen = calls("cuDeviceGetAttribute", ctypes.c_void_p, ctypes.c_int, ctypes.c_int)
    driver.cuDeviceGetAttribute(value, 0)
    assert seen[0][1:] == (10, 0)


def test_none_is_not_an_enumerator(calls):
    calls("cuDeviceGetAttribute", ctypes.c_void_p, ctypes.c_int, ctypes.c_int)
    with pytest.raises(TypeError, match="argument 'attrib'"):
        driver.cuDeviceGetAttribute(None, 0)
