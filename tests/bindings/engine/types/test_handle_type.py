# SPDX-License-Identifier: Apache-2.0
"""Handle classes: opaque pointers, function pointers, named integers."""

import copy
import ctypes
import pickle
import weakref

import pytest
from cuda.bindings import driver, nvrtc

OPAQUE = [driver.CUstream, driver.CUcontext, driver.CUlinkState, nvrtc.nvrtcProgram]
FUNCTIONS = [driver.CUhostFn, driver.CUoccupancyB2DSize]
INTEGERS = [driver.CUdevice, driver.CUdeviceptr, driver.cuuint32_t, driver.cuuint64_t]
ALL = OPAQUE + FUNCTIONS + INTEGERS


@pytest.mark.parametrize("cls", ALL)
def test_a_new_handle_is_null(cls):
    assert int(cls()) == 0
    assert int(cls(0)) == 0


@pytest.mark.parametrize("cls", ALL)
def test_a_handle_holds_its_initial_value(cls):
    assert int(cls(5)) == int(cls(init_value=5)) == cls(5).__index__() == 5


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("value", ["x", None, 1.5, b"1"])
def test_a_handle_is_created_from_integers_only(cls, value):
    name = cls.__name__
    with pytest.raises(
        TypeError, match=rf"^{name}\(\) argument 'init_value': expected an integer, got"
    ):
        cls(value)
    with pytest.raises(TypeError, match=rf"^{name}\(\) argument '_ptr': expected an integer, got"):
        cls(0, _ptr=value)


@pytest.mark.parametrize(
    ("cls", "value"),
    [
        (driver.CUstream, -1),
        (driver.CUstream, 2**64),
        (driver.CUdevice, 2**31),
        (driver.CUdevice, -(2**31) - 1),
        (driver.cuuint32_t, -1),
        (driver.cuuint32_t, 2**32),
        (driver.cuuint64_t, 2**64),
    ],
)
def test_an_oversized_value_is_refused(cls, value):
    message = rf"^{cls.__name__}\(\) argument 'init_value': {value} does not fit "
    with pytest.raises(OverflowError, match=message):
        cls(value)
    with pytest.raises(OverflowError, match=message):
        type("Derived", (cls,), {})(value)


@pytest.mark.parametrize(
    ("handle", "value"),
    [
        (driver.CUdevice(-2), -2),
        (driver.cuuint32_t(2**32 - 1), 2**32 - 1),
        (driver.cuuint64_t(2**64 - 1), 2**64 - 1),
        (driver.CUstream(2**59 + 3), 2**59 + 3),
        (driver.CUdeviceptr(2**60), 2**60),
    ],
)
def test_values_of_all_widths_are_stored(handle, value):
    assert int(handle) == value


@pytest.mark.parametrize(
    ("handle", "text"),
    [
        (driver.CUstream(5), "<CUstream 0x5>"),
        (driver.CUhostFn(0), "<CUhostFn 0x0>"),
        (driver.CUdevice(3), "<CUdevice 3>"),
        (driver.CUdevice(-1), "<CUdevice -1>"),
        (driver.CUdeviceptr(255), "<CUdeviceptr 255>"),
    ],
)
def test_representation(handle, text):
    assert repr(handle) == text


@pytest.mark.parametrize("cls", OPAQUE + INTEGERS)
def test_equal_values_of_a_class_are_equal_and_hash_like_their_number(cls):
    assert cls(5) == cls(5)
    assert cls(5) != cls(6)
    assert hash(cls(5)) == hash(5)
    assert cls(5) != 5


def test_function_pointers_are_equal_by_identity_only():
    handle = driver.CUhostFn(5)
    assert handle == handle
    assert handle != driver.CUhostFn(5)


def test_handles_of_different_classes_differ():
    assert driver.CUstream(5) != driver.CUevent(5)


def test_a_handle_is_always_true():
    assert driver.CUstream(0)


def test_get_ptr_is_the_address_of_the_value():
    handle = driver.CUdeviceptr(77)
    assert ctypes.c_uint64.from_address(handle.getPtr()).value == 77


def test_a_view_follows_foreign_memory():
    memory = ctypes.c_uint64(1)
    view = driver.CUstream(_ptr=ctypes.addressof(memory))
    memory.value = 2
    assert int(view) == 2
    assert view.getPtr() == ctypes.addressof(memory)
    assert int(driver.CUstream(0, ctypes.addressof(memory))) == 2


@pytest.mark.parametrize("make", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_handle_cannot_be_pickled_or_copied(make):
    with pytest.raises(TypeError, match="cannot pickle"):
        make(driver.CUstream(5))


@pytest.mark.parametrize("cls", ALL)
def test_classes_are_pickled_by_name(cls):
    assert pickle.loads(pickle.dumps(cls)) is cls


def test_classes_cannot_be_changed():
    with pytest.raises(TypeError, match="immutable type"):
        driver.CUstream.extra = 1
    with pytest.raises(AttributeError):
        driver.CUstream(5).extra = 1


def test_a_stream_implements_the_stream_protocol():
    assert driver.CUstream(5).__cuda_stream__() == (0, 5)
    assert not hasattr(driver.CUevent(5), "__cuda_stream__")


def test_subclasses_may_have_attributes():
    class Mine(driver.CUstream):
        pass

    stream = Mine(5)
    stream.name = "mine"
    assert (int(stream), stream.name, repr(stream)) == (5, "mine", "<CUstream 0x5>")
    assert stream == driver.CUstream(5)
    reference = weakref.ref(stream)
    del stream
    assert reference() is None


def test_many_handles_live_at_once_and_are_distinct():
    handles = [driver.CUdeviceptr(i) for i in range(1000)]
    assert [int(h) for h in handles] == list(range(1000))
    assert len({h.getPtr() for h in handles}) == 1000


@pytest.mark.parametrize(
    ("args", "keywords"), [((1, 2, 3), {}), ((1,), {"init_value": 1}), ((), {"value": 1})]
)
def test_wrong_arguments_of_the_constructor_are_refused(args, keywords):
    with pytest.raises(TypeError, match=r"CUstream\(\)"):
        driver.CUstream(*args, **keywords)
