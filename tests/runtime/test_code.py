# SPDX-License-Identifier: Apache-2.0
"""Libraries of kernels: loading, look-up, queries, launches."""

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
    received = np.empty_like(y)
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
    ok(runtime.cudaMemcpyAsync(received.ctypes.data, device_y, y.nbytes, down, stream))
    ok(runtime.cudaStreamSynchronize(stream))
    assert np.allclose(received, np.float32(2.5) * x + y)


def test_a_library_lists_its_kernels(library):
    count = ok(runtime.cudaLibraryGetKernelCount(library))
    kernels = ok(runtime.cudaLibraryEnumerateKernels(count, library))
    names = {ok(driver.cuKernelGetName(each)) for each in kernels}
    assert names == {b"saxpy", b"latch", b"with_shared"}


def test_a_missing_name_is_not_found(library):
    code, kernel = runtime.cudaLibraryGetKernel(library, b"nothing_like_it")
    assert (code, kernel) == (Error.cudaErrorSymbolNotFound, None)


def test_a_variable_of_a_library_is_read_and_written(library):
    address, size = ok(runtime.cudaLibraryGetGlobal(library, b"counter"))
    value = np.zeros(1, np.int32)
    assert size == value.nbytes
    ok(runtime.cudaMemcpy(value.ctypes.data, address, size, Kind.cudaMemcpyDeviceToHost))
    assert value[0] == 5


def test_invalid_code_has_no_kernel():
    """A driver that loads lazily reads the code when a kernel is looked up."""
    code, library = runtime.cudaLibraryLoadData(b"not PTX\0" * 9, None, None, 0, None, None, 0)
    if code == Error.cudaSuccess:
        code = runtime.cudaLibraryGetKernel(library, b"kernel")[0]
        ok(runtime.cudaLibraryUnload(library))
    assert code in (
        Error.cudaErrorInvalidPtx,
        Error.cudaErrorInvalidKernelImage,
        Error.cudaErrorNoKernelImageForDevice,
    )


def test_attributes_of_a_kernel_equal_the_driver(kernel):
    attributes = ok(runtime.cudaFuncGetAttributes(int(kernel)))
    assert attributes.sharedSizeBytes == 1024
    function = ok(driver.cuKernelGetFunction(kernel))
    Of = driver.CUfunction_attribute
    for value, attribute in (
        (attributes.numRegs, Of.CU_FUNC_ATTRIBUTE_NUM_REGS),
        (attributes.maxThreadsPerBlock, Of.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        (attributes.ptxVersion, Of.CU_FUNC_ATTRIBUTE_PTX_VERSION),
        (attributes.maxDynamicSharedSizeBytes, Of.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES),
    ):
        assert value == ok(driver.cuFuncGetAttribute(attribute, function))


def test_a_set_attribute_is_returned(kernel):
    size = Attribute.cudaFuncAttributeMaxDynamicSharedMemorySize
    ok(runtime.cudaFuncSetAttribute(int(kernel), size, 50000))
    assert ok(runtime.cudaFuncGetAttributes(int(kernel))).maxDynamicSharedSizeBytes == 50000


def test_an_attribute_is_set_for_one_device(kernel):
    size = Attribute.cudaFuncAttributeMaxDynamicSharedMemorySize
    ok(runtime.cudaKernelSetAttributeForDevice(kernel, size, 40000, 0))
    assert ok(runtime.cudaFuncGetAttributes(int(kernel))).maxDynamicSharedSizeBytes == 40000


def test_occupancy_equals_the_driver(kernel):
    function = ok(driver.cuKernelGetFunction(kernel))
    for block in (32, 256, 1024):
        assert ok(
            runtime.cudaOccupancyMaxActiveBlocksPerMultiprocessor(int(kernel), block, 0)
        ) == ok(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(function, block, 0))
    assert ok(runtime.cudaOccupancyAvailableDynamicSMemPerBlock(int(kernel), 1, 128)) == ok(
        driver.cuOccupancyAvailableDynamicSMemPerBlock(function, 1, 128)
    )


def test_null_is_no_kernel():
    assert runtime.cudaFuncGetAttributes(0)[0] == Error.cudaErrorInvalidDeviceFunction


def test_a_function_of_the_driver_is_found_by_name():
    Status = runtime.cudaDriverEntryPointQueryResult
    usual = runtime.cudaGetDriverEntryPointFlags.cudaEnableDefault
    pointer, status = ok(runtime.cudaGetDriverEntryPointByVersion(b"cuMemAlloc", 12000, usual))
    assert pointer and status == Status.cudaDriverEntryPointSuccess
    pointer, status = ok(runtime.cudaGetDriverEntryPointByVersion(b"cuNothing", 12000, usual))
    assert (pointer, status) == (0, Status.cudaDriverEntryPointSymbolNotFound)


def test_entry_points_belong_to_compiled_programs(kernel):
    """A kernel handle is no entry point, so this process has none."""
    assert runtime.cudaGetKernel(int(kernel))[0] == Error.cudaErrorInvalidDeviceFunction


def test_a_function_of_the_driver_is_no_kernel(kernel):
    function = int(ok(driver.cuKernelGetFunction(kernel)))
    preference = runtime.cudaFuncCache.cudaFuncCachePreferL1
    ok(runtime.cudaFuncSetCacheConfig(int(kernel), preference))
    code = runtime.cudaFuncSetCacheConfig(function, preference)[0]
    assert code == Error.cudaErrorInvalidResourceHandle


def test_a_driver_function_is_that_of_this_release():
    usual = runtime.cudaGetDriverEntryPointFlags.cudaEnableDefault
    pointer, status = ok(runtime.cudaGetDriverEntryPoint(b"cuMemcpyBatchAsync", usual))
    version = ok(runtime.getLocalRuntimeVersion())
    expected = ok(runtime.cudaGetDriverEntryPointByVersion(b"cuMemcpyBatchAsync", version, usual))
    assert (pointer, status) == expected
    assert status == runtime.cudaDriverEntryPointQueryResult.cudaDriverEntryPointSuccess
