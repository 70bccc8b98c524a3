# SPDX-License-Identifier: Apache-2.0
"""Private names of the low layer that shipped packages import."""

import ctypes
import importlib
from pathlib import Path

import pytest
from cuda.bindings import _internal, _low, driver
from cuda.bindings._internal import _fast_enum, utils
from cuda.pathfinder import DynamicLibNotFoundError

APIS = Path(__file__).parents[2] / "generator" / "api"
A_FUNCTION = {
    "driver": "cuInit",
    "runtime": "cudaRuntimeGetVersion",
    "nvrtc": "nvrtcVersion",
    "nvjitlink": "nvJitLinkVersion",
    "nvvm": "nvvmVersion",
    "nvfatbin": "nvFatbinVersion",
    "cufile": "cuFileGetVersion",
    "nvml": "nvmlSystemGetNVMLVersion",
    "cudla": "cudlaGetVersion",
}
LIBRARIES = [name for name in _internal.LIBRARIES if name in _low.library_names()]


def addresses_of(library):
    return importlib.import_module(f"cuda.bindings._internal.{library}")


def test_every_library_has_a_row_and_none_has_a_file():
    assert set(_internal.LIBRARIES) == set(A_FUNCTION)
    assert set(_internal.LIBRARIES) >= {path.stem for path in APIS.glob("*.api")}
    folder = Path(_internal.__file__).parent
    assert not [name for name in _internal.LIBRARIES if (folder / f"{name}.py").exists()]


def test_other_modules_and_names_are_refused():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("cuda.bindings._internal.nothing")
    with pytest.raises(ImportError):
        from cuda.bindings._internal.nvrtc import nothing  # noqa: F401


@pytest.mark.parametrize("library", LIBRARIES)
class TestAddresses:
    @pytest.fixture
    def module(self, library):
        module = addresses_of(library)
        try:
            module._inspect_function_pointer(f"__{A_FUNCTION[library]}")
        except DynamicLibNotFoundError as error:
            pytest.skip(str(error).partition(":")[0])
        return module

    def test_a_function_has_an_address(self, module, library):
        assert module._inspect_function_pointer(f"__{A_FUNCTION[library]}") > 0

    def test_all_addresses_are_found_by_their_exported_names(self, module, library):
        all_of_them = module._inspect_function_pointers()
        assert list(all_of_them) == [f"__{name}" for name in _low.exported_names(library)]
        name = f"__{A_FUNCTION[library]}"
        assert all_of_them[name] == module._inspect_function_pointer(name)

    @pytest.mark.parametrize("prefix", ["", "_", "__no"])
    def test_names_of_another_form_are_unknown(self, module, library, prefix):
        with pytest.raises(KeyError):
            module._inspect_function_pointer(prefix + A_FUNCTION[library])

    @pytest.mark.parametrize("name", [None, 5, b"__nvrtcVersion"], ids=repr)
    def test_a_nonstring_name_is_refused(self, module, library, name):
        message = r"^_inspect_function_pointer\(\) argument 'name': expected str, got "
        with pytest.raises(TypeError, match=message):
            module._inspect_function_pointer(name)
        with pytest.raises(TypeError, match=r"^_inspect_function_pointer\(\) missing"):
            module._inspect_function_pointer()


def test_it_is_the_address_that_calls_use():
    address = addresses_of("nvrtc")._inspect_function_pointer("__nvrtcVersion")
    major, minor = ctypes.c_int(), ctypes.c_int()
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    assert kind(address)(ctypes.byref(major), ctypes.byref(minor)) == 0
    assert major.value >= 12


def test_a_function_missing_in_the_driver_has_no_address(run_python):
    code = """
from cuda.bindings import _low
from cuda.bindings._internal import driver
_low._answer_as_driver_of(12020)
print(driver._inspect_function_pointer("__cuInit") > 0)
print(driver._inspect_function_pointer("__cuCtxCreate_v4"))
print(driver._inspect_function_pointers()["__cuCtxCreate_v4"])
"""
    assert run_python(code, HALFWARP_BACKEND="emulator").split() == ["True", "0", "0"]


def test_a_missing_library_is_reported(run_python):
    code = """
import cuda.pathfinder
from cuda.pathfinder import DynamicLibNotFoundError
def refuse(name):
    raise DynamicLibNotFoundError(name)
cuda.pathfinder.load_nvidia_dynamic_lib = refuse
from cuda.bindings._internal.nvrtc import _inspect_function_pointer, _inspect_function_pointers
for function, arguments in (
    (_inspect_function_pointer, ["__nvrtcVersion"]), (_inspect_function_pointers, [])
):
    try:
        function(*arguments)
    except DynamicLibNotFoundError as error:
        print("nvidia-cuda-nvrtc" in str(error))
"""
    assert run_python(code).split() == ["True", "True"]


def test_enumerations_derive_from_the_base_that_others_import():
    assert issubclass(driver.CUresult, _fast_enum.FastEnum)
    assert type(driver.CUresult) is _fast_enum.FastEnumMetaclass


def test_exceptions_of_the_loader_are_runtime_errors():
    assert issubclass(utils.FunctionNotFoundError, RuntimeError)
    assert issubclass(utils.NotSupportedError, RuntimeError)


def test_the_compiler_of_the_package_is_stated():
    name, _, version = utils.get_c_compiler().partition(" ")
    assert name in ("GCC", "Clang")
    assert version[0].isdigit()
