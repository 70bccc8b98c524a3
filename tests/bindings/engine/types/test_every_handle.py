# SPDX-License-Identifier: Apache-2.0
"""Properties of each handle class of driver, runtime and nvrtc, by its shape."""

import copy
import operator
import pickle

import numpy as np
import pytest
from cuda.bindings import driver, nvrtc, runtime

MODULES = (driver, runtime, nvrtc)


def is_handle(thing):
    return (
        isinstance(thing, type)
        and hasattr(thing, "getPtr")
        and hasattr(thing, "__int__")
        and not thing.__name__.startswith("anon_")
    )


HANDLES = sorted(
    {cls for m in MODULES for name in dir(m) if is_handle(cls := getattr(m, name))},
    key=lambda cls: (cls.__module__, cls.__name__),
)
OPAQUE = [cls for cls in HANDLES if cls(5) == cls(5) and "0x" in repr(cls(5))]
CALLBACKS = [cls for cls in HANDLES if cls(5) != cls(5)]
INTEGERS = [cls for cls in HANDLES if "0x" not in repr(cls(5))]
SIGNED = {"CUdevice", "CUdevice_v1"}
FROM_DRIVER = {
    "cudaStream_t": "CUstream",
    "cudaEvent_t": "CUevent",
    "cudaGraph_t": "CUgraph",
    "cudaGraphNode_t": "CUgraphNode",
    "cudaGraphExec_t": "CUgraphExec",
    "cudaUserObject_t": "CUuserObject",
    "cudaFunction_t": "CUfunction",
    "cudaMemPool_t": "CUmemoryPool",
    "cudaEglStreamConnection": "CUeglStreamConnection",
}


class WithIndex:
    def __index__(self):
        return 5


class WithInt:
    def __int__(self):
        return 5


def test_there_are_exactly_three_shapes():
    assert len(HANDLES) == len(OPAQUE) + len(CALLBACKS) + len(INTEGERS)
    assert {"CUhostFn", "cudaHostFn_t"} <= {cls.__name__ for cls in CALLBACKS}
    assert {"CUdeviceptr", "cudaTextureObject_t"} <= {cls.__name__ for cls in INTEGERS}
    assert {"CUstream", "cudaStream_t", "nvrtcProgram"} <= {cls.__name__ for cls in OPAQUE}


@pytest.mark.parametrize("cls", HANDLES, ids=lambda cls: cls.__name__)
class TestHandle:
    @pytest.mark.parametrize(
        "value",
        [5, np.uint8(5), np.int64(5), WithIndex(), WithInt(), driver.CUdevice(5)],
        ids=lambda value: type(value).__name__,
    )
    def test_it_is_created_from_any_integer(self, cls, value):
        assert int(cls(value)) == operator.index(cls(value)) == 5

    @pytest.mark.parametrize("value", [True, np.True_], ids=repr)
    def test_it_is_created_from_truth_values(self, cls, value):
        assert int(cls(value)) == 1

    @pytest.mark.parametrize("value", [5.0, np.float32(5), "5", b"5", None, [5]], ids=repr)
    def test_it_is_created_from_nothing_else(self, cls, value):
        with pytest.raises(TypeError, match="expected an integer"):
            cls(value)

    def test_an_oversized_value_is_refused(self, cls):
        for value in (2**64, -(2**63) - 1, *(() if cls.__name__ in SIGNED else (-1,))):
            with pytest.raises(OverflowError):
                cls(value)

    def test_it_has_an_address_and_can_be_a_view(self, cls):
        handle = cls(5)
        assert int(cls(_ptr=handle.getPtr())) == 5
        assert cls(_ptr=handle.getPtr()).getPtr() == handle.getPtr()

    def test_it_is_truthy_and_no_int(self, cls):
        assert bool(cls(0))
        assert cls(5) != 5
        with pytest.raises(TypeError):
            cls(5) + 1

    @pytest.mark.parametrize("make", [pickle.dumps, copy.copy, copy.deepcopy])
    def test_it_cannot_leave_this_process(self, cls, make):
        with pytest.raises(TypeError, match="cannot pickle"):
            make(cls(5))


@pytest.mark.parametrize("cls", OPAQUE + INTEGERS, ids=lambda cls: cls.__name__)
def test_equal_values_are_equal_and_hash_alike(cls):
    assert cls(5) == cls(5)
    assert cls(5) != cls(6)
    assert hash(cls(5)) == hash(5)


@pytest.mark.parametrize("cls", OPAQUE + CALLBACKS, ids=lambda cls: cls.__name__)
def test_pointers_are_shown_in_hexadecimal(cls):
    name = cls.__base__.__name__ if cls.__base__ is not object else cls.__name__
    # The repr of a runtime class names the driver's class.
    assert repr(cls(255)) == f"<{name} 0xff>"


@pytest.mark.parametrize("cls", INTEGERS, ids=lambda cls: cls.__name__)
def test_integers_are_shown_in_decimal(cls):
    assert repr(cls(255)) == f"<{cls.__name__} 255>"


@pytest.mark.parametrize("name", FROM_DRIVER)
def test_handles_of_driver_and_runtime_are_interchangeable(name):
    runtime_class, driver_class = getattr(runtime, name), getattr(driver, FROM_DRIVER[name])
    assert runtime_class.__mro__[1] is driver_class
    assert runtime_class(5) == driver_class(5)
    assert driver_class(5) == runtime_class(5)
    assert driver_class(5) != runtime_class(6)


def test_handles_without_a_common_base_convert_through_their_value():
    assert not issubclass(runtime.cudaArray_t, driver.CUarray)
    assert int(runtime.cudaArray_t(driver.CUarray(5))) == 5
    assert runtime.cudaArray_t(5) != driver.CUarray(5)


@pytest.mark.parametrize("cls", [driver.CUstream, runtime.cudaStream_t])
def test_streams_implement_the_stream_protocol(cls):
    assert cls(5).__cuda_stream__() == (0, 5)


@pytest.mark.parametrize(
    ("module", "cls"), [(m, cls) for m in MODULES for cls in HANDLES if hasattr(m, cls.__name__)]
)
def test_its_size_equals_the_c_type(module, cls):
    assert module.sizeof(getattr(module, cls.__name__)) in (4, 8)
