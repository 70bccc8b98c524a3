# SPDX-License-Identifier: Apache-2.0
"""Which driver functions may be called with the interpreter's lock, as measured on a GPU.

A call of one thread that waits for the device, such as cuMemFree, holds the lock of the context
meanwhile, and other threads' calls of `WAITS` wait as long. What `core/locks/measure.py` found on
an H200 with a driver of CUDA 13.0.
"""


def names(text):
    return frozenset(text.split())


# They take the lock of the context, or wait for work themselves.
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

# They return at once whatever another thread waits for. What may load code at its first call is in
# neither list, and gives the lock back: cuKernelGetAttribute, cuLibraryGetGlobal.
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

# What of the runtime stands on `WAITS`.
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
