# SPDX-License-Identifier: Apache-2.0
"""cuDLA: imported everywhere, called where there is an accelerator."""

import ctypes
import enum
import pickle

import pytest
from cuda.bindings import cudla

POINTER = ctypes.c_void_p


def test_each_call_reports_a_missing_library():
    pathfinder = pytest.importorskip("cuda.pathfinder")
    messages = []
    for _ in range(2):
        with pytest.raises(pathfinder.DynamicLibNotFoundError, match="cudla") as caught:
            cudla.device_get_count()
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_calls_are_passed_on_and_raise_the_status_of_the_library(put):
    def create(device, handle, flags):
        ctypes.c_uint64.from_address(handle).value = 10 * device + flags

    put("cudlaCreateDevice", create, ctypes.c_uint64, POINTER, ctypes.c_uint32)
    assert cudla.create_device(3, cudla.Mode.STANDALONE) == 31
    put("cudlaDestroyDevice", lambda _: 8, POINTER)
    with pytest.raises(cudla.CudlaError, match=r"ERROR_INVALID_DEVICE \(8\)"):
        cudla.destroy_device(31)


def test_the_last_error_is_returned_not_raised(put):
    put("cudlaGetLastError", lambda _: 5, POINTER)
    assert cudla.get_last_error(1) == cudla.Status.ERROR_OS


def test_an_attribute_is_a_union(put):
    def attribute(device, kind, p):
        ctypes.c_uint32.from_address(p).value = 2

    put("cudlaDeviceGetAttribute", attribute, POINTER, ctypes.c_int, POINTER)
    result = cudla.device_get_attribute(1, cudla.DevAttributeType.DEVICE_VERSION)
    assert result.device_version == 2


def test_a_module_is_loaded_from_any_buffer(put):
    seen = []

    def load(device, p, size, module, flags):
        seen.append(ctypes.string_at(p, size))
        ctypes.c_uint64.from_address(module).value = 5

    put(
        "cudlaModuleLoadFromMemory",
        load, POINTER, POINTER, ctypes.c_size_t, POINTER, ctypes.c_uint32,
    )  # fmt: skip
    assert cudla.module_load_from_memory(1, b"loadable", 8, 0) == 5
    assert seen == [b"loadable"]


def test_check_status_raises_for_a_failure():
    assert cudla.check_status(0) == 0
    with pytest.raises(cudla.CudlaError):
        cudla.check_status(3)


def test_enumerations_derive_from_int_enum():
    assert issubclass(cudla.Status, enum.IntEnum)
    assert cudla.Status(1) is cudla.Status.ERROR_INVALID_PARAM
    assert cudla.ScratchMemoryConfig.DEFAULT is cudla.ScratchMemoryConfig.SCRATCH_MEMORY_DEFAULT
    assert pickle.loads(pickle.dumps(cudla.Mode.STANDALONE)) is cudla.Mode.STANDALONE
    assert cudla.Status.__module__ == "cuda.bindings.cudla"
    with pytest.raises(ValueError, match="is not a valid Status"):
        cudla.Status(12345)
