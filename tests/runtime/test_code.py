# SPDX-License-Identifier: Apache-2.0
"""Libraries of kernels: loading, finding, asking, launching."""

import ctypes

import numpy as np
import pytest
from cuda.bindings import driver, runtime

from .conftest import launch, ok

Error = runtime.cudaError_t
Attribute = runtime.cudaFuncAttribute
Kind = runtime.cudaMemcpyKind


@pytest.fixture
def kernel(library):
    return ok(runtime.cudaLibraryGetKernel(library, b"with_shared"))


def test_a_kernel_of_a_library_computes(library, memory, stream):
    n = 1000
    rng = np.random.default_rng(seed=3)
    x, y = (rng.random(n, dtype=np.float32) for _ in range(2))
    got = np.empty_like(y)
    device_x, device_y = memory(x.nbytes), memory(y.nbytes)
    up, down = Kind.cudaMemcpyHostToDevice, Kind.cudaMemcpyDeviceToHost
    ok(runtime.cudaMemcpyAsync(device_x, x.ctypes.data, x.nbytes, up, stream))
    ok(runtime.cudaMemcpyAsync(device_y, y.ctypes.data, y.nbytes, up, stream))
    launch(
        ok(runtime.cudaLibraryGetKernel(library, b"saxpy")),
        ctypes.c_float(2.5),
        ctypes.c_void_p(device_x),
        ctypes.c_void_p(device_y),
        ctypes.c_int(n),
        grid=8,
        block=128,
        stream=stream,
    )
    ok(runtime.cudaMemcpyAsync(got.ctypes.data, device_y, y.nbytes, down, stream))
    ok(runtime.cudaStreamSynchronize(stream))
    assert np.allclose(got, np.float32(2.5) * x + y)


def test_a_library_lists_its_kernels(library):
    count = ok(runtime.cudaLibraryGetKernelCount(library))
    kernels = ok(runtime.cudaLibraryEnumerateKernels(count, library))
    names = {ok(driver.cuKernelGetName(each)) for each in kernels}
    assert names == {b"saxpy", b"latch", b"with_shared"}


def test_a_name_that_a_library_lacks_is_not_found(library):
    code, kernel = runtime.cudaLibraryGetKernel(library, b"nothing_like_it")
    assert (code, kernel) == (Error.cudaErrorSymbolNotFound, None)


def test_a_variable_of_a_library_is_read_and_written(library):
    address, size = ok(runtime.cudaLibraryGetGlobal(library, b"counter"))
    value = np.zeros(1, np.int32)
    assert size == value.nbytes
    ok(runtime.cudaMemcpy(value.ctypes.data, address, size, Kind.cudaMemcpyDeviceToHost))
    assert value[0] == 5


def test_what_is_no_code_has_no_kernel():
    """A driver that loads lazily looks at the code when a kernel is asked for."""
    code, library = runtime.cudaLibraryLoadData(b"not PTX\0" * 9, None, None, 0, None, None, 0)
    if code == Error.cudaSuccess:
        code = runtime.cudaLibraryGetKernel(library, b"kernel")[0]
        ok(runtime.cudaLibraryUnload(library))
    assert code in (
        Error.cudaErrorInvalidPtx,
        Error.cudaErrorInvalidKernelImage,
        Error.cudaErrorNoKernelImageForDevice,
    )


def test_attributes_of_a_kernel_are_the_drivers(kernel):
    told = ok(runtime.cudaFuncGetAttributes(int(kernel)))
    assert told.sharedSizeBytes == 1024
    function = ok(driver.cuKernelGetFunction(kernel))
    Of = driver.CUfunction_attribute
    for value, attribute in (
        (told.numRegs, Of.CU_FUNC_ATTRIBUTE_NUM_REGS),
        (told.maxThreadsPerBlock, Of.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        (told.ptxVersion, Of.CU_FUNC_ATTRIBUTE_PTX_VERSION),
        (told.maxDynamicSharedSizeBytes, Of.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES),
    ):
        assert value == ok(driver.cuFuncGetAttribute(attribute, function))


def test_an_attribute_that_was_set_is_told(kernel):
    size = Attribute.cudaFuncAttributeMaxDynamicSharedMemorySize
    ok(runtime.cudaFuncSetAttribute(int(kernel), size, 50000))
    assert ok(runtime.cudaFuncGetAttributes(int(kernel))).maxDynamicSharedSizeBytes == 50000


def test_an_attribute_is_set_for_one_device(kernel):
    size = Attribute.cudaFuncAttributeMaxDynamicSharedMemorySize
    ok(runtime.cudaKernelSetAttributeForDevice(kernel, size, 40000, 0))
    assert ok(runtime.cudaFuncGetAttributes(int(kernel))).maxDynamicSharedSizeBytes == 40000


def test_occupancy_is_the_drivers(kernel):
    function = ok(driver.cuKernelGetFunction(kernel))
    for block in (32, 256, 1024):
        assert ok(
            runtime.cudaOccupancyMaxActiveBlocksPerMultiprocessor(int(kernel), block, 0)
        ) == ok(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(function, block, 0))
    assert ok(runtime.cudaOccupancyAvailableDynamicSMemPerBlock(int(kernel), 1, 128)) == ok(
        driver.cuOccupancyAvailableDynamicSMemPerBlock(function, 1, 128)
    )


def test_nothing_is_no_kernel():
    assert runtime.cudaFuncGetAttributes(0)[0] == Error.cudaErrorInvalidDeviceFunction


def test_a_function_of_the_driver_is_found_by_name():
    Status = runtime.cudaDriverEntryPointQueryResult
    usual = runtime.cudaGetDriverEntryPointFlags.cudaEnableDefault
    found, status = ok(runtime.cudaGetDriverEntryPointByVersion(b"cuMemAlloc", 12000, usual))
    assert found and status == Status.cudaDriverEntryPointSuccess
    found, status = ok(runtime.cudaGetDriverEntryPointByVersion(b"cuNothing", 12000, usual))
    assert (found, status) == (0, Status.cudaDriverEntryPointSymbolNotFound)


def test_entry_points_are_of_compiled_programs(kernel):
    """The handle of a kernel is none, and so this process has none."""
    assert runtime.cudaGetKernel(int(kernel))[0] == Error.cudaErrorInvalidDeviceFunction


def test_a_function_of_the_driver_is_no_kernel(kernel):
    function = int(ok(driver.cuKernelGetFunction(kernel)))
    wanted = runtime.cudaFuncCache.cudaFuncCachePreferL1
    ok(runtime.cudaFuncSetCacheConfig(int(kernel), wanted))
    code = runtime.cudaFuncSetCacheConfig(function, wanted)[0]
    assert code == Error.cudaErrorInvalidResourceHandle
