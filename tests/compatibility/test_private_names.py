# SPDX-License-Identifier: Apache-2.0
"""Private names that published packages import, imported in the same way."""

import importlib
import threading

import cuda.core
import pytest
from cuda.bindings import driver
from cuda.core.typing import IsStreamType

from ..threads import run_together

# module -> names, and the current object if it has a public name
FROM_CORE = {
    "_stream": {"Stream": cuda.core.Stream, "IsStreamT": IsStreamType},
    "_memory": {"Buffer": cuda.core.Buffer, "MemoryResource": cuda.core.MemoryResource},
    "_module": {"Kernel": cuda.core.Kernel, "ObjectCode": cuda.core.ObjectCode},
    "_device": {"Device": cuda.core.Device},
    "_event": {"Event": cuda.core.Event, "EventOptions": cuda.core.EventOptions},
    "_launcher": {"launch": cuda.core.launch},
    "_launch_config": {"LaunchConfig": cuda.core.LaunchConfig},
    "_program": {"Program": cuda.core.Program, "ProgramOptions": cuda.core.ProgramOptions},
    "_context": {"Context": cuda.core.Context},
    "_utils.cuda_utils": {
        "CUDAError": cuda.core.CUDAError,
        "NVRTCError": cuda.core.NVRTCError,
    },
}
ROWS = [(module, name) for module, names in FROM_CORE.items() for name in names]


@pytest.mark.parametrize(("module", "name"), ROWS)
def test_it_is_identical_to_the_current_object(module, name):
    result = importlib.import_module(f"cuda.core.{module}")
    assert getattr(result, name) is FROM_CORE[module][name]


@pytest.mark.parametrize(("module", "name"), ROWS)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_it_is_the_same_below_experimental(module, name):
    result = importlib.import_module(f"cuda.core.experimental.{module}")
    assert getattr(result, name) is FROM_CORE[module][name]


def test_private_modules_are_available_after_one_import(run_python):
    names = (
        "_context _device _event _kernel_arg_handler _launch_config _launcher _memory _module "
        "_program _stream _utils _utils.cuda_utils _memory._buffer _memory._legacy"
    )
    code = f"""
import cuda.core
from operator import attrgetter
for path in {names!r}.split():
    assert attrgetter(path)(cuda.core).__name__ == f"cuda.core.{{path}}"
assert cuda.core._utils.cuda_utils.CUDAError is cuda.core.CUDAError
assert cuda.core._device.Device is cuda.core.Device
print("_stream" in dir(cuda.core), hasattr(cuda.core, "_nothing"))
"""
    assert run_python(code).strip() == "False False"


class TestThreadState:
    """`cuda.core._device._tls`, by which test suites clear a thread's devices."""

    def test_deleting_the_devices_creates_new_ones(self):
        def in_thread():
            from cuda.core._device import _tls

            first = cuda.core.Device(0)
            assert _tls.devices[0] is first
            assert vars(_tls) == {"devices": _tls.devices}
            del _tls.devices
            assert not hasattr(_tls, "devices")
            assert vars(_tls) == {}
            second = cuda.core.Device(0)
            assert second is not first
            assert second == first
            assert cuda.core.Device(0) is second

        run_together(in_thread)  # its devices are destroyed with it

    def test_it_is_specific_to_the_calling_thread(self):
        from cuda.core._device import _tls

        cuda.core.Device(0)
        seen = []
        thread = threading.Thread(target=lambda: seen.append(hasattr(_tls, "devices")))
        thread.start()
        thread.join()
        assert seen == [False]
        assert hasattr(_tls, "devices")

    def test_missing_devices_cannot_be_deleted(self):
        def in_thread():
            from cuda.core._device import _tls

            cuda.core.Device(0)
            del _tls.devices
            with pytest.raises(AttributeError):
                del _tls.devices

        run_together(in_thread)  # its devices are destroyed with it


def test_private_names_cause_no_warning(recwarn):
    for module, name in ROWS:
        getattr(importlib.import_module(f"cuda.core.{module}"), name)
    from cuda.bindings._internal.nvjitlink import _inspect_function_pointer  # noqa: F401

    assert not recwarn


class TestCudaUtils:
    """For numba-cuda, cccl, flashinfer and mlir."""

    def test_a_result_is_unpacked_or_raised(self):
        from cuda.core._utils.cuda_utils import CUDAError, handle_return

        assert handle_return((driver.CUresult.CUDA_SUCCESS, 5)) == 5
        with pytest.raises(CUDAError, match="^CUDA_ERROR_INVALID_VALUE"):
            handle_return((driver.CUresult.CUDA_ERROR_INVALID_VALUE,))

    def test_results_of_the_runtime_are_accepted_too(self):
        from cuda.bindings import runtime
        from cuda.core._utils.cuda_utils import CUDAError, handle_return

        assert handle_return((runtime.cudaError_t.cudaSuccess, 1, 2)) == (1, 2)
        with pytest.raises(CUDAError, match="^cudaErrorInvalidValue: ") as caught:
            handle_return((runtime.cudaError_t.cudaErrorInvalidValue,))
        assert caught.value.name == "cudaErrorInvalidValue"

    def test_versions_are_tuples(self):
        from cuda.core._utils.cuda_utils import get_binding_version, get_driver_version

        assert get_binding_version() == (13, 5, 0)
        assert get_driver_version() >= (12, 0, 0)


class TestBindings:
    def test_numba_recognizes_the_linker_by_its_address(self):
        from cuda.bindings._internal.nvjitlink import _inspect_function_pointer
        from cuda.bindings._internal.utils import NotSupportedError
        from cuda.pathfinder import DynamicLibNotFoundError

        try:
            assert _inspect_function_pointer("__nvJitLinkVersion") != 0
        except DynamicLibNotFoundError as error:
            pytest.skip(str(error).partition(":")[0])
        assert issubclass(NotSupportedError, RuntimeError)

    def test_enumerations_have_the_private_base(self):
        from cuda.bindings._internal._fast_enum import FastEnum, FastEnumMetaclass

        class Color(FastEnum):
            RED = 1

        assert type(Color) is FastEnumMetaclass
        assert Color(1) is Color.RED

    def test_versions_equal_the_level(self):
        from cuda.bindings._version import __version__, __version_tuple__

        assert __version__ == "13.5.0"
        assert __version_tuple__ == (13, 5, 0)
