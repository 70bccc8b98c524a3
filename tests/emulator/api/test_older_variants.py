# SPDX-License-Identifier: Apache-2.0
"""Entry points that programs built with older CUDA headers look up in the emulator."""

import ctypes

import pytest
from cuda.bindings import _low, driver

# Releases of programs, with functions whose newest variant is later but has the same parameter
# types.
ASKED = [
    ("cuEventElapsedTime", 12000),
    ("cuEventElapsedTime", 2000),
    ("cuDeviceGetUuid", 11000),
    ("cuDeviceGetUuid", 9020),
    ("cuDevicePrimaryCtxRelease", 10000),
    ("cuStreamDestroy", 2000),
    ("cuIpcOpenMemHandle", 5000),
]


@pytest.fixture(autouse=True)
def emulated():
    if not _low.is_emulated():
        pytest.skip("a question to the emulator")
    driver.cuInit(0)


@pytest.mark.parametrize(("name", "version"), ASKED)
def test_a_program_of_an_older_release_finds_the_variant_of_its_release(name, version):
    code, address, status = driver.cuGetProcAddress(name.encode(), version, 0)
    assert code == driver.CUresult.CUDA_SUCCESS
    success = driver.CUdriverProcAddressQueryResult.CU_GET_PROC_ADDRESS_SUCCESS
    assert (address != 0, status) == (True, success)


def test_an_older_variant_returns_the_same_as_the_newest():
    _, address, _ = driver.cuGetProcAddress(b"cuDeviceGetUuid", 9020, 0)
    uuid = driver.CUuuid()
    code = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)(address)(uuid.getPtr(), 0)
    assert code == 0
    assert uuid.bytes == driver.cuDeviceGetUuid(0)[1].bytes


@pytest.mark.parametrize("name", ["cuEventElapsedTime", "cuDeviceGetUuid", "cuCtxDestroy"])
def test_first_variants_are_exported_under_their_names(name):
    assert _low.emulator_function(name) != 0


def test_a_release_before_the_first_variant_is_reported():
    code, address, status = driver.cuGetProcAddress(b"cuDeviceGetUuid", 9000, 0)
    too_old = driver.CUdriverProcAddressQueryResult.CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
    assert (int(code), int(address), status) == (0, 0, too_old)
