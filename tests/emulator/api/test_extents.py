# SPDX-License-Identifier: Apache-2.0
"""Pitches and sizes whose products do not fit 64 bits."""

import pytest
from cuda.bindings import _low, driver

HUGE = 2**63


@pytest.fixture
def memory():
    if not _low.is_emulated():
        pytest.skip("a device need not look at such sizes")
    driver.cuInit(0)
    driver.cuCtxSetCurrent(driver.cuDevicePrimaryCtxRetain(0)[1])
    _, address = driver.cuMemAlloc(1 << 16)
    yield address
    driver.cuMemFree(address)
    driver.cuCtxSetCurrent(None)
    driver.cuDevicePrimaryCtxRelease(0)


FILLS = {
    "cuMemsetD2D8": lambda at: driver.cuMemsetD2D8(at, HUGE, 1, 2, 3),
    "cuMemsetD2D16": lambda at: driver.cuMemsetD2D16(at, HUGE, 1, 2, 3),
    "cuMemsetD2D32Async": lambda at: driver.cuMemsetD2D32Async(at, HUGE, 1, 2, 3, None),
    "cuMemsetD2D8 of many rows": lambda at: driver.cuMemsetD2D8(at, 2**32, 1, 2, 2**33),
    "cuMemsetD8": lambda at: driver.cuMemsetD8(at, 1, 2**64 - 1),
    "cuMemcpyDtoD": lambda at: driver.cuMemcpyDtoD(at, at, 2**64 - 1),
}


@pytest.mark.parametrize("fill", FILLS)
def test_an_overflowing_size_is_refused(memory, fill):
    assert FILLS[fill](memory) == (driver.CUresult.CUDA_ERROR_INVALID_VALUE,)
    assert driver.cuCtxSynchronize() == (driver.CUresult.CUDA_SUCCESS,)
