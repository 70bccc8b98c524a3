# SPDX-License-Identifier: Apache-2.0
"""Modules and libraries from files that hold no device code."""

import pytest
from cuda.bindings import _low, driver

LOADS = [
    lambda path: driver.cuModuleLoad(path),
    lambda path: driver.cuLibraryLoadFromFile(path, [], [], 0, [], [], 0),
]


@pytest.fixture(autouse=True)
def context():
    driver.cuInit(0)
    driver.cuCtxSetCurrent(driver.cuDevicePrimaryCtxRetain(0)[1])
    yield
    driver.cuCtxSetCurrent(None)
    driver.cuDevicePrimaryCtxRelease(0)


@pytest.mark.parametrize("load", LOADS, ids=["module", "library"])
@pytest.mark.parametrize("path", ["folder", "nothing", ""])
def test_an_unreadable_file_is_not_found(tmp_path, load, path):
    (tmp_path / "folder").mkdir()
    name = str(tmp_path / path).encode() if path else b""
    if _low.is_emulated():
        assert load(name) == (driver.CUresult.CUDA_ERROR_FILE_NOT_FOUND, None)
    else:
        assert load(name)[0] != driver.CUresult.CUDA_SUCCESS
