# SPDX-License-Identifier: Apache-2.0
"""Copies of rows and slices by the driver's functions, on any backend."""

import numpy as np
import pytest
from cuda.bindings import driver as cuda

Memory = cuda.CUmemorytype
INVALID_VALUE = cuda.CUresult.CUDA_ERROR_INVALID_VALUE
FUNCTIONS = [
    "cuMemcpy2D",
    "cuMemcpy2DUnaligned",
    "cuMemcpy2DAsync",
    "cuMemcpy3D",
    "cuMemcpy3DAsync",
]


@pytest.fixture
def device(driver):
    """Allocate 4 rows of 64 bytes; return the address and the contents."""
    content = np.arange(256, dtype=np.uint8).reshape(4, 64)
    address = int(cuda.cuMemAlloc(256)[1])
    assert cuda.cuMemcpyHtoD(address, content.ctypes.data, 256)[0] == 0
    yield address, content
    cuda.cuMemFree(address)


def request_for(function, source, target, *, kind=Memory.CU_MEMORYTYPE_DEVICE):
    """Request two rows of 8 bytes from row 1, byte 16 to a dense target on the host."""
    request = cuda.CUDA_MEMCPY3D() if "3D" in function else cuda.CUDA_MEMCPY2D()
    request.srcMemoryType, request.srcDevice, request.srcPitch = kind, source, 64
    request.srcXInBytes, request.srcY = 16, 1
    request.dstMemoryType, request.dstHost, request.dstPitch = Memory.CU_MEMORYTYPE_HOST, target, 8
    request.WidthInBytes, request.Height = 8, 2
    if "3D" in function:
        request.Depth = 1
    return request


def run(function, request):
    stream = (0,) if function.endswith("Async") else ()
    return getattr(cuda, function)(request, *stream)[0]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_rectangle_is_copied_out_of_rows(device, function):
    address, content = device
    received = np.zeros((2, 8), np.uint8)
    assert run(function, request_for(function, address, received.ctypes.data)) == 0
    assert cuda.cuCtxSynchronize()[0] == 0
    assert np.array_equal(received, content[1:3, 16:24])


@pytest.mark.parametrize("function", FUNCTIONS)
def test_rows_that_overlap_are_refused(device, function):
    request = request_for(function, device[0], np.zeros(64, np.uint8).ctypes.data)
    request.srcPitch = 8
    assert run(function, request) == INVALID_VALUE


@pytest.mark.parametrize("function", FUNCTIONS)
def test_rows_past_the_end_are_refused(device, function):
    received = np.zeros((1000, 8), np.uint8)
    request = request_for(function, device[0], received.ctypes.data)
    request.srcY, request.srcPitch, request.Height = 0, 1 << 20, 1000  # starts inside
    assert run(function, request) == INVALID_VALUE


def test_host_memory_is_not_accepted_as_device_memory(device, emulated):
    received = np.zeros((2, 8), np.uint8)
    request = request_for("cuMemcpy2D", received.ctypes.data, received.ctypes.data)
    assert run("cuMemcpy2D", request) == INVALID_VALUE


def test_an_invalid_array_is_refused(device, emulated):
    request = request_for("cuMemcpy2D", 0, device[0], kind=Memory.CU_MEMORYTYPE_ARRAY)
    assert run("cuMemcpy2D", request) == cuda.CUresult.CUDA_ERROR_INVALID_HANDLE
