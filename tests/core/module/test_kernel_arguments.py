# SPDX-License-Identifier: Apache-2.0
"""Packing of kernel arguments, tested with ParamHolder: without a kernel, so without sizes."""

import contextlib
import ctypes
import enum
import gc
import struct
import sys
import tracemalloc
import weakref
from functools import partial
from types import ModuleType, SimpleNamespace

import ml_dtypes
import numpy as np
import pytest
from cuda.bindings import driver
from cuda.core import Buffer, LaunchConfig, launch
from cuda.core._kernel_arg_handler import ParamHolder
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ...threads import keeps_classes


def packed(value, size):
    """Return the first bytes that a kernel would get for one argument."""
    return packed_all([value], [size])[0]


def packed_all(values, sizes):
    holder = ParamHolder(values)
    pointers = (ctypes.c_void_p * len(values)).from_address(holder.ptr)
    return [ctypes.string_at(pointer, size) for pointer, size in zip(pointers, sizes, strict=True)]


class Point(ctypes.Structure):
    _fields_ = (("x", ctypes.c_int), ("y", ctypes.c_double))


class Word(ctypes.Union):
    _fields_ = (("i", ctypes.c_uint32), ("f", ctypes.c_float))


class Color(enum.IntEnum):
    RED = 7


class Flag(enum.IntFlag):
    A = 4


class MyInt(int):
    pass


class MyFloat(float):
    pass


class MyComplex(complex):
    pass


class MyCInt(ctypes.c_int32):
    pass


class MyFloat32(np.float32):
    pass


class MyBuffer(Buffer):
    pass


class Own:
    """A user type that defines its own kernel argument."""

    def __init__(self, argument):
        self.argument = argument

    def __cuda_kernel_arg__(self):
        return self.argument


def bytes_of(format, *values):
    return struct.pack("<" + format, *values)


OTHER = Point(3, 4.5)
INT_CTYPES = [ctypes.c_int8, ctypes.c_int16, ctypes.c_int32, ctypes.c_int64]
UINT_CTYPES = [ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64]
NUMPY_INTEGERS = [np.dtype(f"{kind}{size}").type for kind in "iu" for size in (1, 2, 4, 8)]

VALUES = {
    "buffer": (Buffer.from_handle(0x123456789A, 16), bytes_of("Q", 0x123456789A)),
    "subclass of Buffer": (MyBuffer._init(0x77, 16), bytes_of("Q", 0x77)),
    "empty buffer": (Buffer.from_handle(0, 0), bytes(8)),
    "true": (True, b"\1"),
    "false": (False, b"\0"),
    "numpy true": (np.bool_(True), b"\1"),
    "ctypes false": (ctypes.c_bool(False), b"\0"),
    "zero": (0, bytes(8)),
    "small int": (-5, bytes_of("q", -5)),
    "one digit": (2**30 - 1, bytes_of("q", 2**30 - 1)),
    "two digits": (2**30, bytes_of("q", 2**30)),
    "address": (0x7F00_1234_5678, bytes_of("q", 0x7F00_1234_5678)),
    "largest signed": (2**63 - 1, bytes_of("q", 2**63 - 1)),
    "smallest signed": (-(2**63), bytes_of("q", -(2**63))),
    "largest unsigned": (2**64 - 1, b"\xff" * 8),
    "int enum": (Color.RED, bytes_of("q", 7)),
    "int flag": (Flag.A, bytes_of("q", 4)),
    "subclass of int": (MyInt(9), bytes_of("q", 9)),
    "driver enum": (driver.CUresult.CUDA_ERROR_INVALID_VALUE, bytes_of("q", 1)),
    "float": (2.5, bytes_of("d", 2.5)),
    "infinity": (float("inf"), bytes_of("d", float("inf"))),
    "subclass of float": (MyFloat(1.25), bytes_of("d", 1.25)),
    "complex": (1 - 2j, bytes_of("dd", 1, -2)),
    "subclass of complex": (MyComplex(3, 4), bytes_of("dd", 3, 4)),
    "complex128": (np.complex128(5 + 6j), bytes_of("dd", 5, 6)),
    "complex64": (np.complex64(5 + 6j), bytes_of("ff", 5, 6)),
    "float16": (np.float16(1.5), np.float16(1.5).tobytes()),
    "float32": (np.float32(1.5), bytes_of("f", 1.5)),
    "float64": (np.float64(1.5), bytes_of("d", 1.5)),
    "subclass of float32": (MyFloat32(2.5), bytes_of("f", 2.5)),
    "longlong": (np.longlong(-3), bytes_of("q", -3)),
    "ulonglong": (np.ulonglong(2**64 - 1), b"\xff" * 8),
    "intp": (np.intp(-8), bytes_of("q", -8)),
    "datetime64": (np.datetime64(77, "s"), bytes_of("q", 77)),
    "timedelta64": (np.timedelta64(-7, "D"), bytes_of("q", -7)),
    "bfloat16": (ml_dtypes.bfloat16(1.5), ml_dtypes.bfloat16(1.5).tobytes()),
    "float8": (ml_dtypes.float8_e4m3fn(1.5), ml_dtypes.float8_e4m3fn(1.5).tobytes()),
    "int4": (ml_dtypes.int4(-3), ml_dtypes.int4(-3).tobytes()),
    "0-d array": (np.array(7, np.int16), bytes_of("h", 7)),
    "0-d array of dates": (np.array(7, "M8[s]"), bytes_of("q", 7)),
    "void": (np.void(b"abcdefgh"), b"abcdefgh"),
    "structured scalar": (
        np.array([(1, 2.5)], dtype=[("a", "i4"), ("b", "f8")])[0],
        bytes_of("i", 1) + bytes_of("d", 2.5),
    ),
    "float ctypes": (ctypes.c_float(1.5), bytes_of("f", 1.5)),
    "double ctypes": (ctypes.c_double(1.5), bytes_of("d", 1.5)),
    "subclass of c_int32": (MyCInt(-6), bytes_of("i", -6)),
    "void pointer": (ctypes.c_void_p(0x1122334455), bytes_of("Q", 0x1122334455)),
    "null void pointer": (ctypes.c_void_p(), bytes(8)),
    "pointer": (ctypes.pointer(OTHER), bytes_of("Q", ctypes.addressof(OTHER))),
    "structure": (Point(3, 4.5), bytes(Point(3, 4.5))),
    "union": (Word(i=0xDEADBEEF), bytes_of("I", 0xDEADBEEF)),
    "array": ((ctypes.c_int * 40)(*range(40)), bytes_of("40i", *range(40))),
    "none": (None, bytes(8)),
    "device pointer": (driver.CUdeviceptr(0xABCDEF), bytes_of("Q", 0xABCDEF)),
    "texture handle": (driver.CUtexObject(12), bytes_of("Q", 12)),
    "stream handle": (driver.CUstream(0x55), bytes_of("Q", 0x55)),
    "own protocol, bytes": (Own(b"xyz"), b"xyz"),
    "own protocol, many bytes": (Own(bytes(range(200))), bytes(range(200))),
    "own protocol, int": (Own(-2), bytes_of("q", -2)),
    "array interface": (
        SimpleNamespace(__cuda_array_interface__={"data": (0x9000, False), "version": 3}),
        bytes_of("Q", 0x9000),
    ),
    **{
        f"{t.__name__} {v}": (t(v), t(v).tobytes())
        for t in NUMPY_INTEGERS
        for v in (0, np.iinfo(t).min, np.iinfo(t).max)
    },
    **{f"{t.__name__}": (t(-100), bytes(t(-100))) for t in INT_CTYPES},
    **{f"{t.__name__} unsigned": (t(200), bytes(t(200))) for t in UINT_CTYPES},
}


@pytest.mark.parametrize("name", VALUES)
def test_a_value_is_packed_with_its_bytes(name):
    value, expected = VALUES[name]
    assert packed(value, len(expected)) == expected


@pytest.mark.parametrize("name", VALUES)
def test_a_type_from_the_cache_is_packed_identically(name):
    value, expected = VALUES[name]
    for _ in range(3):
        assert packed(value, len(expected)) == expected


REFUSED = {
    "str": "text",
    "bytes": b"abc",
    "bytearray": bytearray(b"abc"),
    "memoryview": memoryview(b"abc"),
    "list": [1],
    "tuple": (1,),
    "dict": {},
    "object": object(),
    "class": int,
    "function": print,
    "longdouble": np.longdouble(1),
    "clongdouble": np.clongdouble(1),
    "numpy str": np.str_("a"),
    "numpy bytes": np.bytes_(b"a"),
    "char pointer": ctypes.c_char_p(b"a"),
    "wide char": ctypes.c_wchar("a"),
    "swapped int": ctypes.c_int.__ctype_be__(1),
    "python object": ctypes.py_object(1),
    "0-d text": np.array("text"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_types_are_refused_by_name(name):
    with pytest.raises(TypeError, match="unsupported type: ") as caught:
        ParamHolder([1, REFUSED[name]])
    assert "argument 2 of 2" in str(caught.value)


def test_a_host_array_is_refused_with_the_reason():
    with pytest.raises(TypeError, match=r"host memory.*numpy\.ndarray"):
        ParamHolder([np.zeros(3)])


def test_an_array_interface_that_raises_means_a_host_array():
    class OnHost:
        @property
        def __cuda_array_interface__(self):
            raise AttributeError("not on a device")

    with pytest.raises(TypeError, match="host memory"):
        ParamHolder([OnHost()])


def test_a_dlpack_array_on_the_host_is_refused():
    class OnHost:
        def __dlpack_device__(self):
            return 1, 0

        def __dlpack__(self, **keywords):
            raise AssertionError("a host array is refused before it is exported")

    with pytest.raises(TypeError, match="host memory"):
        ParamHolder([OnHost()])


@pytest.mark.parametrize("versioned", [False, True], ids=["0.8", "1.x"])
def test_a_dlpack_array_on_the_device_gives_its_address_without_synchronization(versioned):
    streams = []

    class OnDevice:
        def __init__(self, buffer):
            self.buffer = buffer

        def __dlpack_device__(self):
            return 2, 0

        def __dlpack__(self, *, stream):
            streams.append(stream)
            return make_capsule(self.buffer.handle, versioned)

    buffer = Buffer.from_handle(0x4000, 64)
    assert packed(OnDevice(buffer), 8) == bytes_of("Q", 0x4010)
    assert streams == [-1]


def make_capsule(address, versioned):
    """Return a DLPack capsule over an address, with a byte offset of 16 and no deleter."""
    shape = ctypes.c_int64(8)
    KEPT.append(shape)
    tensor = struct.pack("<QiiiBBHQQQ", address, 2, 0, 1, 1, 8, 1, ctypes.addressof(shape), 0, 16)
    content = (struct.pack("<IIQQQ", 1, 0, 0, 0, 0) if versioned else b"") + tensor
    content += b"" if versioned else struct.pack("<QQ", 0, 0)
    memory = ctypes.create_string_buffer(content)
    KEPT.append(memory)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = (
        ctypes.py_object,
        (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p),
    )
    name = b"dltensor_versioned" if versioned else b"dltensor"
    return new(ctypes.addressof(memory), name, None)


KEPT = []


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1, 10**40], ids=["2^64", "below", "10^40"])
def test_an_int_beyond_64_bits_overflows(value):
    with pytest.raises(OverflowError, match=r"argument 1 of 1.*8 bytes"):
        ParamHolder([value])


def test_a_closed_buffer_is_refused():
    buffer = Buffer.from_handle(0x1000, 16)
    buffer.close()
    with pytest.raises(RuntimeError, match="Buffer has been closed"):
        ParamHolder([buffer])


def test_a_result_of_another_type_is_refused():
    with pytest.raises(TypeError, match=r"__cuda_kernel_arg__\(\) must return bytes or int"):
        ParamHolder([Own("text")])


def test_an_exception_of_the_protocol_propagates():
    class Broken:
        def __cuda_kernel_arg__(self):
            raise LookupError("no value yet")

    with pytest.raises(LookupError, match="no value yet"):
        ParamHolder([Broken()])


def test_the_protocol_can_be_added_to_a_refused_class():
    class Late:
        pass

    with pytest.raises(TypeError):
        ParamHolder([Late()])
    Late.__cuda_kernel_arg__ = lambda self: 5
    assert packed(Late(), 8) == bytes_of("q", 5)
    Late.__cuda_kernel_arg__ = lambda self: 6
    assert packed(Late(), 8) == bytes_of("q", 6)
    del Late.__cuda_kernel_arg__
    with pytest.raises(TypeError):
        ParamHolder([Late()])


def test_a_number_takes_precedence_over_the_protocol():
    class Both(int):
        def __cuda_kernel_arg__(self):
            raise AssertionError("a subclass of int is packed like an int")

    assert packed(Both(3), 8) == bytes_of("q", 3)


def test_no_arguments_give_no_array():
    assert ParamHolder([]).ptr == 0
    assert ParamHolder(()).ptr == 0


def test_any_sequence_is_accepted():
    assert packed_all((1, 2), (8, 8)) == packed_all([1, 2], [8, 8])


def test_the_values_are_copied():
    value = Point(1, 2.0)
    holder = ParamHolder([value])
    value.x = 99
    pointer = ctypes.c_void_p.from_address(holder.ptr).value
    assert Point.from_address(pointer).x == 1


def test_a_tensor_map_is_aligned_to_64_bytes():
    holder = ParamHolder([1, Own(bytes(128)), 2.0, Own(bytes(300))])
    pointers = (ctypes.c_void_p * 4).from_address(holder.ptr)
    assert pointers[1] % 64 == 0 and pointers[3] % 64 == 0


@pytest.mark.parametrize("count", [1, 8, 127, 128, 129, 1000, 4000])
def test_any_number_of_arguments(count):
    assert packed_all(range(count), [8] * count) == [bytes_of("q", i) for i in range(count)]


def test_values_do_not_overlap_whatever_their_size():
    values = [VALUES[name] for name in VALUES]
    expected = [content for _, content in values]
    assert packed_all([value for value, _ in values], map(len, expected)) == expected


def scalars():
    """Values of the types of fixed width, with their bytes."""
    numpy = st.sampled_from(NUMPY_INTEGERS).flatmap(
        lambda t: st.integers(int(np.iinfo(t).min), int(np.iinfo(t).max)).map(t)
    )
    return st.one_of(
        st.integers(-(2**63), 2**63 - 1).map(lambda v: (v, bytes_of("q", v))),
        st.floats().map(lambda v: (v, bytes_of("d", v))),
        st.complex_numbers().map(lambda v: (v, bytes_of("dd", v.real, v.imag))),
        st.booleans().map(lambda v: (v, bytes_of("?", v))),
        numpy.map(lambda v: (v, v.tobytes())),
        st.floats(width=32).map(lambda v: (np.float32(v), bytes_of("f", v))),
        st.sampled_from(INT_CTYPES + UINT_CTYPES).flatmap(
            lambda t: st.integers(-(2**63), 2**64 - 1).map(lambda v: (t(v), bytes(t(v))))
        ),
        st.binary(min_size=1, max_size=300).map(lambda v: (Own(v), v)),
    )


@given(st.lists(scalars(), min_size=1, max_size=150))
def test_any_mixture_is_packed_unchanged(values):
    expected = [content for _, content in values]
    assert packed_all([value for value, _ in values], [len(e) for e in expected]) == expected


def test_the_holder_is_initialized_once():
    holder = ParamHolder([1])
    with pytest.raises(RuntimeError):
        holder.__init__([2])


@pytest.mark.parametrize("name", VALUES)
def test_a_kernel_receives_the_bytes_of_a_value(name, argument_in_kernel):
    value, expected = VALUES[name]
    assert argument_in_kernel(value, len(expected)) == expected


@pytest.mark.parametrize("name", REFUSED)
def test_launch_refuses_other_types(name, argument_in_kernel):
    with pytest.raises(TypeError, match=r"store\(\) argument 2 of 2.*unsupported type: "):
        argument_in_kernel(REFUSED[name], 8)


@pytest.fixture
def library(monkeypatch):
    """Simulate an imported library with one class."""

    def pretend(module, cls):
        monkeypatch.setitem(sys.modules, module, ModuleType(module))
        setattr(sys.modules[module], cls.__name__, cls)
        return cls

    return pretend


def test_a_torch_tensor_gives_its_address_without_a_copy(library):
    @partial(library, "torch")
    class Tensor:
        def __init__(self, is_cuda):
            self.is_cuda = is_cuda

        def data_ptr(self):
            return 0x6000

        def __cuda_array_interface__(self):
            raise AssertionError("making the interface takes a microsecond")

    class Parameter(Tensor):
        pass

    assert packed(Tensor(True), 8) == bytes_of("Q", 0x6000)
    assert packed(Parameter(True), 8) == bytes_of("Q", 0x6000)
    with pytest.raises(TypeError, match="host memory"):
        ParamHolder([Tensor(False)])


def test_a_cupy_array_gives_its_address_without_a_copy(library):
    @partial(library, "cupy")
    class ndarray:
        data = SimpleNamespace(ptr=0x8000)

    assert packed(ndarray(), 8) == bytes_of("Q", 0x8000)


def test_arrays_of_other_libraries_use_their_interface():
    class DeviceArray:
        @property
        def __cuda_array_interface__(self):
            return {"data": (0x7000, True), "shape": (4,), "typestr": "<f4", "version": 3}

    for _ in range(2):
        assert packed(DeviceArray(), 8) == bytes_of("Q", 0x7000)


def test_an_empty_interface_is_refused():
    with pytest.raises(BufferError, match="argument 1 of 1: .* has no entry 'version'"):
        ParamHolder([SimpleNamespace(__cuda_array_interface__={})])


def test_nothing_is_imported_to_recognize_types(run_python):
    code = (
        "import sys, ctypes\nfrom cuda.core._kernel_arg_handler import ParamHolder\n"
        "ParamHolder([1, 2.5, 3j, True, None, ctypes.c_int(1)])\n"
        "try: ParamHolder([object()])\nexcept TypeError as error: print(type(error).__name__)\n"
        "print([name for name in ('numpy', 'torch', 'cupy', 'ml_dtypes') if name in sys.modules])"
    )
    assert run_python(code) == "TypeError\n[]\n"


def test_refused_values_are_not_retained():
    class Refused:
        pass

    value = Refused()
    alive = weakref.ref(value)
    with pytest.raises(TypeError):
        ParamHolder([1, value])
    del value
    gc.collect()
    assert alive() is None


@pytest.mark.skipif(keeps_classes, reason="this Python version never frees a class")
def test_classes_in_the_cache_can_be_destroyed():
    def meet():
        class Temporary(ctypes.Structure):
            _fields_ = (("x", ctypes.c_int),)

        ParamHolder([Temporary(5)])
        return weakref.ref(Temporary)

    alive = meet()
    gc.collect()
    assert alive() is None


def test_packing_leaks_no_memory():
    values = [value for value, _ in VALUES.values()]

    def memory_after(rounds):
        for _ in range(rounds):
            ParamHolder(values)
            for value in REFUSED.values():
                with contextlib.suppress(TypeError):
                    ParamHolder([value])
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = memory_after(20)  # fills caches
        grown = memory_after(200) - before
    finally:
        tracemalloc.stop()
    assert grown < 10_000  # less than one object per round


# Contents of a parameter of each PTX type for a Python number: bytes of an integer, negative for a
# signed one (compilers write unsigned and signed ones as unsigned); NumPy type of a float; None: no
# number.
NUMBER_PARAMETERS = {
    ".u8": (1, None),
    ".u16": (2, None),
    ".s8": (-1, None),
    ".s16": (-2, None),
    ".s32": (-4, None),
    ".u32": (4, None),
    ".s64": (-8, None),
    ".u64": (8, None),
    ".b32": (4, "f4"),
    ".b64": (8, "f8"),
    ".f16": (None, "f2"),
    ".f32": (None, "f4"),
    ".f64": (None, "f8"),
}


def expected_integer(value, parameter):
    """Return the bytes of an int in a parameter, or the exception that refuses it."""
    size, floating = NUMBER_PARAMETERS[parameter]
    if size is None:
        with np.errstate(over="ignore"):
            try:
                converted = np.dtype(floating).type(value)
            except OverflowError:
                return OverflowError
        if not np.isfinite(converted):
            return OverflowError
        return converted.tobytes() if int(converted) == value else TypeError
    bits = 8 * abs(size)
    if not -(2 ** (bits - 1)) <= value < 2 ** (bits - (size < 0)):
        return OverflowError
    return value.to_bytes(abs(size), "little", signed=value < 0)


def expected_float(value, parameter):
    floating = NUMBER_PARAMETERS[parameter][1]
    if floating is None:
        return TypeError
    with np.errstate(over="ignore"):
        converted = np.dtype(floating).type(value)
    if np.isinf(converted) and not np.isinf(value):
        return OverflowError
    return converted.tobytes()


INTEGERS = st.one_of(
    st.integers(-300, 300),
    st.integers(-(2**70), 2**70),
    st.sampled_from([s * 2**n + d for n in range(66) for s in (1, -1) for d in (-1, 0, 1)]),
)


@pytest.mark.parametrize("parameter", NUMBER_PARAMETERS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(value=st.one_of(INTEGERS, st.floats(allow_nan=False)))
def test_any_number_is_accepted_or_refused_for_any_parameter(parameter, value, argument_in_kernel):
    expect = expected_float if isinstance(value, float) else expected_integer
    expected = expect(value, parameter)
    size = int(parameter[2:]) // 8
    if isinstance(expected, bytes):
        assert argument_in_kernel(value, size, f"{parameter} value") == expected
    else:
        with pytest.raises(expected):
            argument_in_kernel(value, size, f"{parameter} value")


def test_a_class_named_like_a_handle_is_not_a_handle():
    """Such an object may have anything at the offset of a handle's value."""
    members = {"getPtr": lambda self: 0, "__slots__": ("value", "payload")}
    for bases in ((), (object,)):
        liar = type("cuda.bindings.driver.CUstream", bases, members)()
        liar.value, liar.payload = 1, 2
        with pytest.raises(TypeError, match="unsupported type"):
            packed(liar, 8)


def test_a_subclass_of_a_handle_is_a_handle():
    class Named(driver.CUdeviceptr):
        pass

    Named.__name__ = "other"
    assert packed(Named(0x7F12), 8) == (0x7F12).to_bytes(8, "little")


@pytest.mark.parametrize("bits", [29, 30, 31, 32, 47, 59, 60, 61, 62, 63, 64])
def test_ints_near_each_power_of_two_keep_their_bits(bits):
    """A Python int of that size has one, two or three digits; each case is read differently."""
    for value in (2**bits - 1, 2**bits, 2**bits + 1, -(2**bits), 1 - 2**bits):
        if -(2**63) <= value < 2**64:
            assert packed(value, 8) == (value % 2**64).to_bytes(8, "little")
        else:
            with pytest.raises(OverflowError, match="does not fit 8 bytes"):
                packed(value, 8)


@pytest.mark.parametrize("address", [-1, 2**64])
def test_an_array_without_an_address_is_refused(address):
    interface = {"shape": (1,), "typestr": "<f4", "data": (address, False), "version": 3}
    with pytest.raises(OverflowError, match="the address of the data of .* must be from 0 to"):
        packed(SimpleNamespace(__cuda_array_interface__=interface), 8)


# A bfloat16 has 7 fraction bits: 1 + 2**-8 is halfway between two bfloat16 numbers.
BFLOAT16 = {
    1 + 2**-8: 0x3F80,  # a tie rounds to even: down
    1 + 3 * 2**-8: 0x3F82,  # and up
    -(1 + 2**-8): 0xBF80,
    1 + 2**-8 + 2**-20: 0x3F81,
    1 + 2**-8 + 2**-40: 0x3F81,  # the float between them is the tie itself
    1 + 2**-8 - 2**-40: 0x3F80,
    1 + 3 * 2**-8 - 2**-40: 0x3F81,
    2.0**-133: 0x0001,  # the smallest
    2.0**-134: 0x0000,
    1.5 * 2.0**-134: 0x0001,
    float("inf"): 0x7F80,
    float("-inf"): 0xFF80,
    float.fromhex("0x1.FEp127"): 0x7F7F,  # the largest
}


@pytest.mark.parametrize("value", BFLOAT16)
def test_a_float_is_rounded_once_to_a_bfloat16(value, load_kernel, device, stream, pinned_block):
    kernel = load_kernel(
        ".param .u64 out, .param .align 2 .b8 value[2]",
        ".reg .u64 %rd<2>; .reg .u16 %h<2>; ld.param.u64 %rd1, [out]; ld.param.u16 %h1, [value]; "
        "st.global.u16 [%rd1], %h1;",
        name="_Z5storePt13__nv_bfloat16",
    )
    launch(stream, LaunchConfig(grid=1, block=1), kernel, pinned_block, value)
    stream.sync()
    assert ctypes.c_uint16.from_address(int(pinned_block.handle)).value == BFLOAT16[value]


def test_a_float_above_the_largest_bfloat16_overflows(load_kernel, stream, pinned_block):
    kernel = load_kernel(
        ".param .u64 out, .param .align 2 .b8 value[2]", "", name="_Z5storePt13__nv_bfloat16"
    )
    for value in (float.fromhex("0x1.FFp127"), 1e39, float.fromhex("-0x1.FFp127")):
        with pytest.raises(OverflowError, match="beyond the range"):
            launch(stream, LaunchConfig(grid=1, block=1), kernel, pinned_block, value)


# Mangled type of a parameter, its PTX size, and the smallest and largest value that it holds.
INTEGER_TYPES = {
    "bool": ("b", 1, 0, 1),
    "signed char": ("a", 1, -128, 127),
    "unsigned char": ("h", 1, 0, 255),
    "short": ("s", 2, -(2**15), 2**15 - 1),
    "unsigned short": ("t", 2, 0, 2**16 - 1),
    "int": ("i", 4, -(2**31), 2**31 - 1),
    "unsigned": ("j", 4, 0, 2**32 - 1),
    "long": ("l", 8, -(2**63), 2**63 - 1),
    "unsigned long": ("m", 8, 0, 2**64 - 1),
    "long long": ("x", 8, -(2**63), 2**63 - 1),
    "unsigned long long": ("y", 8, 0, 2**64 - 1),
    "pointer": ("Pf", 8, 0, 2**64 - 1),
}


@pytest.fixture
def stored(load_kernel, stream, pinned_block):
    """Launch a kernel with a mangled type and return the bytes of its parameter."""

    def run(mangled, size, value, declaration=None):
        declaration = declaration or f".u{8 * size} value"
        kernel = load_kernel(
            f".param .u64 out, .param {declaration}",
            f".reg .u64 %rd<3>; ld.param.u64 %rd1, [out]; ld.param.u{8 * size} %rd2, [value]; "
            f"st.global.u{8 * size} [%rd1], %rd2;",
            name=f"_Z5storePv{mangled}",
        )
        launch(stream, LaunchConfig(grid=1, block=1), kernel, pinned_block, value)
        stream.sync()
        return ctypes.string_at(pinned_block.handle, size)

    return run


@pytest.mark.parametrize("name", INTEGER_TYPES)
def test_an_int_that_does_not_fit_its_c_type_overflows(name, stored):
    mangled, size, lowest, highest = INTEGER_TYPES[name]
    for value in {lowest, highest, 0, 1, max(lowest, -1), highest // 2, highest // 3 + 1}:
        expected = value.to_bytes(size, "little", signed=value < 0)
        assert stored(mangled, size, value) == expected
    for value in (lowest - 1, highest + 1, 2**64, -(2**63) - 1, 10**30):
        with pytest.raises(OverflowError, match=f"must be from {lowest} to {highest}"):
            stored(mangled, size, value)


@pytest.mark.parametrize("name", INTEGER_TYPES)
def test_a_wider_numpy_integer_is_narrowed_into_the_range_only(name, stored):
    mangled, size, lowest, highest = INTEGER_TYPES[name]
    if size == 8:
        pytest.skip("no NumPy integer is wider")
    assert stored(mangled, size, np.int64(highest)) == highest.to_bytes(size, "little")
    for value in (lowest - 1, highest + 1):
        with pytest.raises(OverflowError, match=f"must be from {lowest} to {highest}"):
            stored(mangled, size, np.int64(value))


def test_a_bool_holds_only_0_and_1(stored):
    with pytest.raises(OverflowError, match="must be from 0 to 1"):
        stored("b", 1, np.uint8(2))
    assert stored("b", 1, True) == stored("b", 1, np.uint8(1)) == b"\1"


SHORT_FLOATS = {
    "6__half": np.float16,
    "13__nv_bfloat16": ml_dtypes.bfloat16,
    "13__nv_fp8_e4m3": ml_dtypes.float8_e4m3fn,
    "13__nv_fp8_e5m2": ml_dtypes.float8_e5m2,
    "13__nv_fp8_e8m0": ml_dtypes.float8_e8m0fnu,
    "13__nv_fp6_e2m3": ml_dtypes.float6_e2m3fn,
    "13__nv_fp6_e3m2": ml_dtypes.float6_e3m2fn,
    "13__nv_fp4_e2m1": ml_dtypes.float4_e2m1fn,
}
NUMBERS = [0.0, 1, 2, 4, True, 1.0, 0.5, 1.3, -1.7, 3.1, 6, 1e-3, -0.0, 2.0**-20, -4.0, 0.07]


@pytest.mark.parametrize("mangled", SHORT_FLOATS)
def test_a_number_is_converted_to_a_short_float(mangled, stored):
    scalar = SHORT_FLOATS[mangled]
    size = np.dtype(scalar).itemsize
    for value in NUMBERS:
        if "e8m0" in mangled and value not in (1, 2, 4, 0.5, 2.0**-20):
            with pytest.raises(OverflowError, match="powers of two"):
                stored(mangled, size, value, f".align {size} .b8 value[{size}]")
            continue
        content = stored(mangled, size, value, f".align {size} .b8 value[{size}]")
        assert content == scalar(value).tobytes(), value


@pytest.mark.parametrize("mangled", SHORT_FLOATS)
@pytest.mark.parametrize("value", [2**200, -1e300, 1e39])
def test_a_number_beyond_a_short_float_overflows(mangled, value, stored):
    size = np.dtype(SHORT_FLOATS[mangled]).itemsize
    with pytest.raises(OverflowError):
        stored(mangled, size, value, f".align {size} .b8 value[{size}]")


@pytest.mark.parametrize("mangled", ["4Pair", "6float2", "7__half2", "1WIiE"])
@pytest.mark.parametrize("value", [0, 5, 1 << 40, -1, 2.5, True, 10**30], ids=repr)
def test_a_number_is_refused_for_a_structure(mangled, value, stored):
    """The bits of a number are not the members of a structure."""
    for size in (1, 2, 4, 8):
        with pytest.raises(TypeError, match="the parameter is a structure"):
            stored(mangled, size, value, f".align {size} .b8 value[{size}]")


def test_a_structure_is_passed_by_its_bytes(stored):
    declaration, expected = ".align 8 .b8 value[8]", bytes_of("Q", 0x7000)
    record = np.array([(0x7000,)], dtype=[("p", "u8")])[0]
    structure = type("P", (ctypes.Structure,), {"_fields_": [("p", ctypes.c_void_p)]})(0x7000)
    values = (record, structure, np.void(expected), np.uint64(0x7000), Own(expected))
    for value in (*values, Buffer.from_handle(0x7000, 16), driver.CUdeviceptr(0x7000)):
        assert stored("4Pair", 8, value, declaration) == expected
