# SPDX-License-Identifier: Apache-2.0
"""CUDAError and its subclasses: attributes and text."""

import importlib
import pickle
import re
import sys

import cuda.core
import pytest
from cuda.bindings import driver, nvjitlink, nvrtc
from cuda.core import CUDAError, NVRTCError, ObjectCode, OutOfMemoryError, emulation
from cuda.core._core import make_driver_error, make_nvrtc_error
from cuda.core._utils import cuda_utils
from cuda.core.graph import GraphUpdateError


def test_the_classes_are_public_and_private():
    assert cuda_utils.CUDAError is CUDAError
    assert cuda_utils.NVRTCError is NVRTCError
    assert CUDAError.__module__ == "cuda.core"


def test_their_bases():
    assert issubclass(CUDAError, Exception)
    assert not issubclass(CUDAError, RuntimeError)
    assert issubclass(NVRTCError, CUDAError)
    assert OutOfMemoryError.__bases__ == (CUDAError, MemoryError)


def test_a_failing_driver_call_reports_function_and_reason(device):
    with pytest.raises(CUDAError) as caught:
        device.allocate(1 << 60, stream=device.default_stream)
    assert isinstance(caught.value, OutOfMemoryError)
    assert caught.value.code == 2
    assert caught.value.name == "CUDA_ERROR_OUT_OF_MEMORY"


@pytest.mark.parametrize("text", [".version 8.0\nnonsense\n", ".version 8.0\n.target sm_75\n"])
def test_the_text_of_an_error_ends_with_the_function(device, text):
    with pytest.raises(CUDAError) as caught:
        ObjectCode.from_ptx(text).get_kernel("absent")
    assert str(caught.value).endswith(f" [{caught.value.where}]")
    assert caught.value.where.startswith("cuLibrary")


def test_name_code_and_where_are_attributes(device):
    with pytest.raises(CUDAError) as caught:
        ObjectCode.from_cubin(b"no machine code").get_kernel("k")
    error = caught.value
    assert error.where in ("cuLibraryLoadData", "cuLibraryGetKernel")  # a device loads lazily
    assert error.name == driver.CUresult(error.code).name
    assert str(error).startswith(f"{error.name}: ")
    assert f"[{error.where}]" in str(error)


@pytest.mark.parametrize("member", [m for m in driver.CUresult if m], ids=lambda m: m.name)
def test_every_status_has_an_explanation_of_halfwarp(device, member):
    error = make_driver_error(int(member))
    assert (error.code, error.where) == (int(member), None)
    assert error.name == member.name
    advice = (
        member.__doc__.partition(" The emulator (")[0] if emulation.is_active() else member.__doc__
    )
    assert str(error).startswith(f"{member.name}: {advice}")
    driver_text = driver.cuGetErrorString(member)[1]  # None for a newer status
    assert driver_text is None or member.__doc__.strip() != driver_text.decode()


def test_an_unknown_status_is_reported(device):
    error = make_driver_error(7777)
    assert str(error).startswith("UNEXPECTED ERROR CODE: 7777")
    assert (error.code, error.name) == (7777, None)


class TestPartlyRemovedPackage:
    def test_the_driver_names_a_status_without_its_enum(self, device, monkeypatch):
        def unknown(code):
            raise ValueError(code)

        expected = make_driver_error(1)
        monkeypatch.setattr(driver, "CUresult", unknown)
        error = make_driver_error(1, b"cuMemFree")
        assert (error.name, error.code, error.where) == (expected.name, 1, "cuMemFree")
        assert str(error).startswith("CUDA_ERROR_INVALID_VALUE: ")
        assert str(make_driver_error(12345)).startswith("UNEXPECTED ERROR CODE: 12345")

    def test_an_error_of_the_emulator_is_marked_without_its_module(self, device, monkeypatch):
        if not emulation.is_active():
            pytest.skip("the driver marks no error")
        monkeypatch.setitem(sys.modules, "cuda.core.emulation", None)
        assert str(make_driver_error(1)).splitlines()[0].endswith(" [emulated]")


def test_only_out_of_memory_has_its_own_class(device):
    assert type(make_driver_error(1)) is CUDAError
    assert type(make_driver_error(2)) is OutOfMemoryError


def test_emulated_errors_are_marked(device):
    assert str(make_driver_error(1)).endswith("[emulated]") is emulation.is_active()


@pytest.mark.parametrize("code", [700, 719])
def test_the_emulator_recommends_no_other_tool(device, code):
    advises = "compute-sanitizer" in str(make_driver_error(code))
    assert advises is not emulation.is_active()


def test_an_error_of_nvrtc_has_number_name_and_log():
    error = make_nvrtc_error(6, "line 1: no\n")
    assert str(error).startswith("6: NVRTC_ERROR_COMPILATION")
    assert "compilation log" in str(error)
    assert "line 1: no" in str(error)
    assert error.name == nvrtc.nvrtcResult(6).name
    assert "compilation log" not in str(make_nvrtc_error(6))
    assert str(make_nvrtc_error(4242)).startswith("4242: UNEXPECTED ERROR CODE")


@pytest.mark.parametrize(
    "error",
    [
        CUDAError("text", code=1, name="N", where="cuX"),
        NVRTCError("text", code=6),
        OutOfMemoryError("text", code=2, requested=10, largest_allocations=[1]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_survive_pickling(error):
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert (str(copy), vars(copy)) == (str(error), vars(error))


def exception_classes():
    """List the exception classes of all public modules."""
    modules = [cuda.core, cuda.core.graph, cuda.core.system, cuda.core.utils, cuda.core.checkpoint]
    names = ("driver", "runtime", "nvrtc", "nvjitlink", "nvvm", "nvfatbin", "nvml", "cufile")
    modules += [importlib.import_module(f"cuda.bindings.{name}") for name in (*names, "cudla")]
    public = [getattr(module, name, None) for module in modules for name in dir(module)]
    classes = [each for each in public if isinstance(each, type)]
    return {each for each in classes if issubclass(each, BaseException)} | derived(Exception)


def derived(base):
    """Return the classes of this project that derive from a class, directly or not.

    Other packages add modules to the namespace `cuda`, as `cuda.pathfinder` does.
    """
    classes = {each for child in type.__subclasses__(base) for each in {child, *derived(child)}}
    ours = re.compile(r"(cuda\.(core|bindings)|halfwarp)(\.|$)")
    return {each for each in classes if ours.match(each.__module__)}


def an_instance(cls):
    try:
        return cls(3)  # the errors of the libraries take a status
    except TypeError:
        return cls("text")


def test_every_exception_class_is_importable_by_its_name():
    classes = exception_classes()
    assert {CUDAError, GraphUpdateError, nvjitlink.nvJitLinkError} < classes and len(classes) > 20
    for cls in classes:
        assert getattr(importlib.import_module(cls.__module__), cls.__qualname__) is cls


def test_every_exception_survives_pickling():
    for cls in exception_classes():
        error = an_instance(cls)
        error.add_note("advice")
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is cls
        assert (str(copy), copy.args, vars(copy)) == (str(error), error.args, vars(error))


def test_out_of_memory_has_no_numbers_by_default():
    error = OutOfMemoryError("text")
    assert error.requested is error.device_free is error.limit is None
    assert error.largest_allocations == []


def test_an_error_can_be_raised_with_only_a_text():
    with pytest.raises(cuda.core.CUDAError, match=re.escape("only text")) as caught:
        raise CUDAError("only text")
    assert caught.value.code is caught.value.name is caught.value.where is None
