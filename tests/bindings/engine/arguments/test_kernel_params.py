# SPDX-License-Identifier: Apache-2.0
"""``kernelParams`` in all forms, compared with the bytes that ctypes stores."""

import ctypes
import gc
import weakref

import numpy as np
import pytest
from cuda.bindings import driver
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ....ids import readable

Pointer, Unsigned = ctypes.c_void_p, ctypes.c_uint
LAUNCH = (Pointer, *[Unsigned] * 7, Pointer, Pointer, Pointer)


def launch(params, extra=0):
    return driver.cuLaunchKernel(1, 1, 1, 1, 1, 1, 1, 0, 0, params, extra)


def read(parameter):
    pointer, size = parameter
    return ctypes.string_at(pointer, size)


@pytest.fixture
def packed(put):
    """``packed(params, sizes)``: the bytes behind each parameter pointer during the call."""

    def run(params, sizes):
        seen = []

        contents = []

        def kernel(*args):
            pointers = (Pointer * len(sizes)).from_address(args[9])
            seen.extend(zip(pointers, sizes, strict=True))
            contents.extend(map(read, seen))

        put("cuLaunchKernel", kernel, *LAUNCH)
        launch(params)
        assert all(pointer % min(size, 8) == 0 for pointer, size in seen)
        return contents

    return run


@pytest.fixture
def launches(calls):
    return calls("cuLaunchKernel", *LAUNCH)


@pytest.mark.parametrize("nothing", [None, 0])
def test_an_empty_argument_is_null(launches, nothing):
    launch(nothing)
    assert launches[0][9] is None


def test_an_integer_is_the_array_itself(launches):
    launch(4096)
    assert launches[0][9] == 4096


def test_a_buffer_is_the_array_itself(launches):
    value = np.float32(2)
    pointers = np.array([value.__array_interface__["data"][0]], dtype=np.uint64)
    launch(pointers)
    assert launches[0][9] == pointers.ctypes.data


@pytest.mark.parametrize("thing", ["x", 1.5, [1], ((1,),), ((1,), (ctypes.c_int,), ()), ([1], [2])])
def test_an_invalid_parameter_list_is_refused(launches, thing):
    with pytest.raises(TypeError, match="argument 'kernelParams': expected"):
        launch(thing)
    assert launches == []


def test_values_and_types_of_different_length_are_refused(launches):
    with pytest.raises(TypeError, match="equal length"):
        launch(((1, 2), (ctypes.c_int,)))


def test_extra_is_an_integer(launches):
    for address in (4096, 2**30, 2**47 - 1, 2**63, 2**64 - 1):
        launch(None, address)
        assert launches[-1][10] == address
    for outside in (-1, 2**64):
        with pytest.raises(OverflowError, match=f"argument 'extra': {outside} does not fit"):
            launch(None, outside)
    with pytest.raises(TypeError, match="argument 'extra': expected an integer"):
        launch(None, None)


INTEGERS = {
    ctypes.c_int: 32, ctypes.c_uint: 32, ctypes.c_long: 64, ctypes.c_ulong: 64,
    ctypes.c_longlong: 64, ctypes.c_ulonglong: 64, ctypes.c_size_t: 64, ctypes.c_short: 16,
    ctypes.c_ushort: 16, ctypes.c_byte: 8, ctypes.c_ubyte: 8,
}  # fmt: skip


def values_of(c_type):
    if c_type in (ctypes.c_float, ctypes.c_double):
        return st.one_of(st.floats(width=32), st.integers(-1000, 1000))
    if c_type is ctypes.c_bool:
        return st.booleans()
    if c_type is ctypes.c_char:
        return st.binary(min_size=1, max_size=1)
    if c_type is ctypes.c_wchar:
        return st.characters(max_codepoint=0xFFFF, exclude_categories=("Cs",))
    if c_type is Pointer:
        return st.integers(0, 2**64 - 1)
    bits = INTEGERS[c_type]
    is_signed = c_type(-1).value < 0
    return st.integers(-(2 ** (bits - 1)) if is_signed else 0, 2 ** (bits - is_signed) - 1)


TYPES = [
    *INTEGERS,
    ctypes.c_float,
    ctypes.c_double,
    ctypes.c_bool,
    ctypes.c_char,
    ctypes.c_wchar,
    Pointer,
]
ARGUMENT = st.sampled_from(TYPES).flatmap(
    lambda t: st.tuples(values_of(t), st.just(t), st.booleans())
)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150
)
@given(st.lists(ARGUMENT, max_size=40))
def test_values_are_packed_as_ctypes_stores_them(packed, arguments):
    expected = [bytes(t(v)) for v, t, _ in arguments]
    values = tuple(t(v) if wrapped else v for v, t, wrapped in arguments)
    types = tuple(t for _, t, _ in arguments)
    assert packed((values, types), [ctypes.sizeof(t) for t in types]) == expected


@pytest.mark.parametrize("c_type", INTEGERS)
def test_an_int_out_of_range_overflows(packed, c_type):
    """ctypes itself wraps such a value around to another number."""
    is_signed = c_type(-1).value < 0
    highest = 2 ** (INTEGERS[c_type] - is_signed) - 1
    lowest = -highest - 1 if is_signed else 0
    size = ctypes.sizeof(c_type)
    for value in (highest + 1, lowest - 1, 2 ** INTEGERS[c_type] + 3, 10**30):
        with pytest.raises(OverflowError, match="parameter 0"):
            packed(((value,), (c_type,)), [size])
    for value in (highest, lowest):
        assert packed(((value,), (c_type,)), [size]) == [bytes(c_type(value))]


SCALARS = [t(1) for t in INTEGERS] + [
    ctypes.c_float(2),
    ctypes.c_double(2.5),
    ctypes.c_bool(True),
    ctypes.c_char(b"x"),
    ctypes.c_wchar("y"),
    ctypes.c_void_p(0x7F00),
]


@pytest.mark.parametrize("scalar", SCALARS, ids=repr)
def test_a_ctypes_scalar_needs_no_type(packed, scalar):
    assert packed(((scalar,), (None,)), [ctypes.sizeof(scalar)]) == [bytes(scalar)]


def test_a_union_and_a_derived_scalar_need_no_type(packed):
    word = type("Word", (ctypes.Union,), {"_fields_": [("i", ctypes.c_int)]})(7)
    for value in (word, Derived(7)):
        assert packed(((value,), (None,)), [4]) == [bytes(ctypes.c_int(7))]


@pytest.mark.parametrize(
    "value",
    [ctypes.c_int.__ctype_be__(1), ctypes.c_char_p(b"a"), ctypes.c_longdouble(1), 1, 2.0, "text"],
    ids=readable,
)
def test_other_values_need_a_type(launches, value):
    with pytest.raises(TypeError, match="parameter 0: .* needs a ctypes type"):
        launch(((value,), (None,)))


@pytest.mark.parametrize(
    ("value", "c_type", "plain"),
    [
        (np.int32(-5), ctypes.c_int, -5),
        (np.float32(1.5), ctypes.c_double, 1.5),
        (np.uint8(200), ctypes.c_ubyte, 200),
        (np.int64(7), ctypes.c_float, 7),
        (True, ctypes.c_int, 1),
        (np.uint64(2**63), Pointer, 2**63),
        (ctypes.c_float(0.5), ctypes.c_double, 0.5),
    ],
    ids=readable,
)
def test_numbers_of_other_kinds_convert_like_in_python(packed, value, c_type, plain):
    assert packed(((value,), (c_type,)), [ctypes.sizeof(c_type)]) == [bytes(c_type(plain))]


@pytest.mark.parametrize(
    ("value", "c_type"),
    [(1.5, ctypes.c_int), (np.float64(1), ctypes.c_size_t), ("a", ctypes.c_float),
     (None, ctypes.c_int), (object(), Pointer), (1.5, Pointer), ("ab", ctypes.c_char)],
    ids=readable,
)  # fmt: skip
def test_a_value_of_the_wrong_kind_is_refused_by_its_position(launches, value, c_type):
    with pytest.raises(TypeError, match="parameter 1: "):
        launch(((0, value), (ctypes.c_int, c_type)))
    assert launches == []


class Derived(ctypes.c_int):
    pass


@pytest.mark.parametrize(
    "kind", [Derived, int, "i", ctypes.c_int * 2, ctypes.POINTER(ctypes.c_int)]
)
def test_other_types_are_refused(launches, kind):
    with pytest.raises(TypeError, match="parameter 0: Unsupported type"):
        launch(((1,), (kind,)))


def test_a_value_of_a_derived_ctypes_type_is_accepted(packed):
    assert packed(((Derived(7),), (ctypes.c_int,)), [4]) == [bytes(ctypes.c_int(7))]


class Pair(ctypes.Structure):
    _fields_ = (("x", ctypes.c_int), ("y", ctypes.c_double))


def test_an_object_without_a_type_is_passed_by_its_memory(packed):
    pointer, pair = driver.CUdeviceptr(77), Pair(1, 2.5)
    config = driver.CUextent3D(width=5)
    member = driver.CUmemLocationType(2)
    values = (pointer, pair, config, member)
    numbers = [(77).to_bytes(8, "little"), (5).to_bytes(8, "little"), (2).to_bytes(4, "little")]
    expected = [numbers[0], bytes(pair), *numbers[1:]]
    assert packed((values, (None,) * 4), [8, 16, 8, 4]) == expected


def test_an_object_with_a_pointer_type_is_passed_by_its_address(packed):
    pointer = driver.CUdeviceptr(77)
    expected = pointer.getPtr().to_bytes(8, "little")
    assert packed(((pointer,), (Pointer,)), [8]) == [expected]


def test_foreign_objects_return_their_address_by_get_ptr(packed):
    class Foreign:
        memory = ctypes.c_uint64(99)

        def getPtr(self):
            return ctypes.addressof(self.memory)

    assert packed(((Foreign(),), (None,)), [8]) == [(99).to_bytes(8, "little")]
    expected = ctypes.addressof(Foreign.memory).to_bytes(8, "little")
    assert packed(((Foreign(),), (Pointer,)), [8]) == [expected]


@pytest.mark.parametrize("value", [5, 1.5, "x", None])
def test_a_plain_value_needs_a_type(launches, value):
    with pytest.raises(TypeError, match="parameter 0: .* needs a ctypes type in `types`"):
        launch(((value,), (None,)))


def test_an_error_of_the_value_itself_is_propagated(launches):
    class Broken:
        def getPtr(self):
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        launch(((Broken(),), (None,)))


class TestInStructs:
    """The packed block of a node's parameters lives as long as the node's struct."""

    def test_the_block_is_read_where_the_field_points(self):
        node = driver.CUDA_KERNEL_NODE_PARAMS(
            kernelParams=((7, 2.5), (ctypes.c_int, ctypes.c_double))
        )
        gc.collect()
        first, second = (Pointer * 2).from_address(node.kernelParams)
        assert ctypes.c_int.from_address(first).value == 7
        assert ctypes.c_double.from_address(second).value == 2.5

    def test_values_that_are_parameters_themselves_are_retained(self):
        class Referent(driver.CUdeviceptr):
            pass

        value = Referent(77)
        reference = weakref.ref(value)
        node = driver.CUDA_KERNEL_NODE_PARAMS(kernelParams=((value,), (None,)))
        del value
        gc.collect()
        (pointer,) = (Pointer * 1).from_address(node.kernelParams)
        assert ctypes.c_uint64.from_address(pointer).value == 77
        node.kernelParams = None
        gc.collect()
        assert node.kernelParams == 0
        assert reference() is None

    def test_an_array_of_addresses_is_retained(self):
        pointers = np.array([1, 2], dtype=np.uint64)
        node = driver.CUDA_KERNEL_NODE_PARAMS(kernelParams=pointers)
        address = pointers.ctypes.data
        del pointers
        gc.collect()
        assert node.kernelParams == address
        assert list((ctypes.c_uint64 * 2).from_address(address)) == [1, 2]

    def test_a_copy_of_the_struct_retains_the_block(self):
        node = driver.CUDA_KERNEL_NODE_PARAMS_v3(kernelParams=((7,), (ctypes.c_int,)))
        outer = driver.CUgraphNodeParams(kernel=node)
        del node
        gc.collect()
        (pointer,) = (Pointer * 1).from_address(outer.kernel.kernelParams)
        assert ctypes.c_int.from_address(pointer).value == 7
