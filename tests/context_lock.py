# SPDX-License-Identifier: Apache-2.0
"""Driver functions that may be called while the GIL is held, as measured on a GPU.

A call that waits for the device, such as cuMemFree, holds the context lock, and calls of `WAITS` on
other threads wait for that lock. `core/locks/measure.py` measured this on an H200 with a CUDA 13.0
driver.
"""


def names(text):
    return frozenset(text.split())


# These acquire the context lock, or wait for work.
WAITS = names(
    """
    cuCtxGetFlags cuCtxGetLimit cuCtxSynchronize
    cuEventCreate cuEventDestroy cuEventRecord cuEventSynchronize
    cuKernelSetAttribute cuLaunchHostFunc cuLaunchKernel cuLaunchKernelEx
    cuMemAlloc cuMemAllocHost cuMemFree cuMemFreeHost
    cuMemcpyAsync cuMemsetD8Async cuMemsetD16Async cuMemsetD32Async
    cuOccupancyAvailableDynamicSMemPerBlock cuOccupancyMaxActiveBlocksPerMultiprocessor
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
    cuOccupancyMaxPotentialBlockSize cuOccupancyMaxPotentialBlockSizeWithFlags
    cuOccupancyMaxPotentialClusterSize
    cuStreamCreate cuStreamCreateWithPriority cuStreamDestroy cuStreamSynchronize
    """
)

# These return immediately whatever another thread waits for. Functions that may load code at their
# first call are in neither list, and release the GIL: cuKernelGetAttribute, cuLibraryGetGlobal.
RETURNS_AT_ONCE = names(
    """
    cuCtxGetApiVersion cuCtxGetCurrent cuCtxGetDevice cuCtxGetDevice_v2 cuCtxGetId
    cuCtxGetStreamPriorityRange cuCtxPopCurrent cuCtxPushCurrent cuCtxSetCurrent
    cuDeviceCanAccessPeer cuDeviceComputeCapability cuDeviceGet cuDeviceGetAttribute
    cuDeviceGetCount cuDeviceGetLuid cuDeviceGetMemPool cuDeviceGetName cuDeviceGetP2PAttribute
    cuDeviceGetPCIBusId cuDeviceGetProperties cuDeviceGetUuid cuDevicePrimaryCtxGetState
    cuDeviceTotalMem cuDriverGetVersion cuEventElapsedTime cuFuncGetName cuGetErrorName
    cuGetErrorString cuInit cuMemGetInfo cuMemPoolGetAttribute cuMemPoolSetAttribute
    cuPointerGetAttributes cuStreamGetCaptureInfo cuStreamGetCtx cuStreamGetCtx_v2
    cuStreamGetDevice cuStreamGetFlags cuStreamGetId cuStreamGetPriority cuStreamIsCapturing
    cuStreamWaitEvent
    """
)

# Runtime functions that call functions of `WAITS`.
RUNTIME_WAITS = names(
    """
    cudaDeviceGetLimit cudaDeviceSynchronize cudaGetDeviceFlags
    cudaEventCreate cudaEventCreateWithFlags cudaEventDestroy cudaEventRecord
    cudaEventRecordWithFlags cudaEventSynchronize
    cudaFree cudaFreeHost cudaHostAlloc cudaMalloc cudaMallocHost
    cudaFuncSetAttribute cudaLaunchHostFunc
    cudaMemcpyAsync cudaMemsetAsync
    cudaOccupancyAvailableDynamicSMemPerBlock cudaOccupancyMaxActiveBlocksPerMultiprocessor
    cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
    cudaStreamCreate cudaStreamCreateWithFlags cudaStreamCreateWithPriority cudaStreamDestroy
    cudaStreamSynchronize
    """
)
