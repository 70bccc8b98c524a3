# SPDX-License-Identifier: Apache-2.0
"""Exceptions: raised with status, name, call and explanation; picklable; open to subclasses."""

import copy
import ctypes
import inspect
import pickle
import traceback

import pytest
from cuda.bindings import cudla, cufile, nvjitlink, nvml, nvvm

POINTER = (ctypes.c_void_p,)


def test_a_failed_call_raises_its_status(put):
    put("nvJitLinkComplete", lambda _: 5, *POINTER)
    with pytest.raises(nvjitlink.nvJitLinkError) as caught:
        nvjitlink.complete(1)
    error = caught.value
    assert error.status == nvjitlink.Result.ERROR_NVVM_COMPILE and type(error.status) is int
    assert str(error) == "ERROR_NVVM_COMPILE (5)"
    explanation = nvjitlink.Result.ERROR_NVVM_COMPILE.__doc__
    assert error.__notes__ == [f"nvjitlink.complete(): {explanation}"]
    assert explanation in "".join(traceback.format_exception(error))


def test_the_message_equals_the_reference():
    assert str(nvjitlink.nvJitLinkError(3)) == "ERROR_INVALID_INPUT (3)"
    assert str(nvvm.nvvmError(status=9)) == "ERROR_COMPILATION (9)"
    assert nvvm.nvvmError(9).args == ("ERROR_COMPILATION (9)",)
    assert str(cudla.CudlaError(1)) == "ERROR_INVALID_PARAM (1)"
    assert str(nvvm.nvvmError(999)) == "UNKNOWN_999 (999)"


def test_a_constructed_exception_is_explained_once():
    error = nvvm.nvvmError(8)
    assert error.__notes__ == [nvvm.Result.ERROR_NO_MODULE_IN_PROGRAM.__doc__]
    error.__init__(8)
    assert len(error.__notes__) == 1
    assert not hasattr(nvvm.nvvmError(999), "__notes__")


def test_an_unnamed_status_is_reported_by_its_number(put):
    put("nvJitLinkComplete", lambda _: 999, *POINTER)
    with pytest.raises(nvjitlink.nvJitLinkError) as caught:
        nvjitlink.complete(1)
    assert (caught.value.status, str(caught.value)) == (999, "UNKNOWN_999 (999)")
    assert caught.value.__notes__ == ["nvjitlink.complete() failed"]


@pytest.mark.parametrize(
    "cls", [nvjitlink.nvJitLinkError, nvml.NvmlError, nvml.UninitializedError, cufile.cuFileError]
)
@pytest.mark.parametrize(
    "wrong, message",
    [
        ((), "missing required argument 'status' (pos 1)"),
        (("text",), "argument 'status': expected an integer, got str"),
        ((None,), "argument 'status': expected an integer, got NoneType"),
        ((1.5,), "argument 'status': expected an integer, got float"),
        ((1, 2, 3), "takes at most "),
    ],
    ids=repr,
)
def test_an_exception_is_constructed_from_its_status_only(cls, wrong, message):
    with pytest.raises(TypeError) as caught:
        cls(*wrong)
    assert str(caught.value).startswith(f"{cls.__name__}() {message}")


def test_the_exceptions_have_signatures():
    assert str(inspect.signature(nvml.NvmlError)) == "(status)"
    assert str(inspect.signature(cufile.cuFileError)) == "(status, cu_err=None)"
    assert cufile.cuFileError(5001, cu_err=None).status == 5001


@pytest.mark.parametrize("duplicate", [copy.copy, lambda e: pickle.loads(pickle.dumps(e))])
def test_an_exception_keeps_its_contents_when_pickled(put, duplicate):
    put("nvJitLinkComplete", lambda _: 6, *POINTER)
    with pytest.raises(nvjitlink.nvJitLinkError) as caught:
        nvjitlink.complete(1)
    caught.value.note = "mine"
    other = duplicate(caught.value)
    assert type(other) is nvjitlink.nvJitLinkError
    assert (str(other), other.status, other.note) == (str(caught.value), 6, "mine")
    assert other.__notes__ == caught.value.__notes__


@pytest.mark.parametrize("duplicate", [copy.copy, lambda e: pickle.loads(pickle.dumps(e))])
@pytest.mark.parametrize("args", [(), ("other text",), ("text", 6)])
def test_an_exception_keeps_arguments_that_were_replaced(duplicate, args):
    error = nvjitlink.nvJitLinkError(6)
    error.args = args
    other = duplicate(error)
    assert (other.args, str(other), other.status) == (args, str(error), 6)
    assert vars(other) == vars(error)


def test_users_may_derive_from_an_exception():
    class Mine(nvjitlink.nvJitLinkError):
        pass

    with pytest.raises(nvjitlink.nvJitLinkError, match="ERROR_INTERNAL"):
        raise Mine(6)


def test_the_classes_know_their_module():
    error = nvjitlink.nvJitLinkError
    assert (error.__module__, error.__name__) == ("cuda.bindings.nvjitlink", "nvJitLinkError")
    assert issubclass(error, Exception) and not issubclass(error, RuntimeError)


def test_library_text_that_is_not_utf8_raises_nothing(put_text):
    put_text("nvvmGetErrorString", b"caf\xe9")
    assert nvvm.get_error_string(1) == "caf\N{REPLACEMENT CHARACTER}"
