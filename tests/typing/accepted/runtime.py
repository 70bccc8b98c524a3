# SPDX-License-Identifier: Apache-2.0
"""Typical code for the runtime API that type checkers accept; it is checked, never run."""

from typing import Any

import numpy as np
from cuda.bindings import driver, runtime
from cuda.bindings.runtime import cudaError_t, cudaMemcpyKind


def check(result: tuple[Any, ...]) -> Any:
    error, *outputs = result
    if error != cudaError_t.cudaSuccess:
        _, text = runtime.cudaGetErrorString(error)
        raise RuntimeError(text.decode())
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def properties() -> str:
    error, count = runtime.cudaGetDeviceCount()
    error, result = runtime.cudaGetDeviceProperties(0)
    if error != cudaError_t.cudaSuccess:
        raise RuntimeError(error.name)
    threads: int = result.maxThreadsPerBlock
    name: bytes = result.name
    (error,) = runtime.cudaSetDevice(count - 1)
    error, version = runtime.cudaRuntimeGetVersion()
    return f"{name.decode()} {result.major}.{result.minor} {threads} {version // 1000}"


def memory(host: "np.ndarray[Any, np.dtype[np.float32]]") -> bytearray:
    error, pointer = runtime.cudaMalloc(host.nbytes)
    kind = cudaMemcpyKind.cudaMemcpyHostToDevice
    runtime.cudaMemcpy(pointer, host.ctypes.data, host.nbytes, kind)
    runtime.cudaMemcpy(pointer, host, host.nbytes, kind)
    error, stream = runtime.cudaStreamCreateWithFlags(runtime.cudaStreamNonBlocking)
    target = bytearray(host.nbytes)
    back = cudaMemcpyKind.cudaMemcpyDeviceToHost
    runtime.cudaMemcpyAsync(target, pointer, host.nbytes, back, stream)
    runtime.cudaStreamSynchronize(stream)
    runtime.cudaStreamSynchronize(runtime.cudaStreamLegacy)
    runtime.cudaFree(pointer)
    error, free, total = runtime.cudaMemGetInfo()
    assert free <= total
    return target


def shared_with_the_driver(stream: driver.CUstream) -> float:
    runtime.cudaStreamSynchronize(stream)
    error, mine = runtime.cudaStreamCreate()
    driver.cuStreamSynchronize(mine)
    error, start = runtime.cudaEventCreate()
    error, end = runtime.cudaEventCreate()
    runtime.cudaEventRecord(start, mine)
    runtime.cudaEventRecord(end, stream)
    error, milliseconds = runtime.cudaEventElapsedTime(start, end)
    return milliseconds / 1e3


def arrays() -> runtime.cudaArray_t:
    error, channels = runtime.cudaCreateChannelDesc(
        32, 0, 0, 0, runtime.cudaChannelFormatKind.cudaChannelFormatKindFloat
    )
    extent = runtime.make_cudaExtent(64, 64, 1)
    width: int = extent.width
    error, array = runtime.cudaMalloc3DArray(channels, extent, 0)
    resource = runtime.cudaResourceDesc()
    resource.resType = runtime.cudaResourceType.cudaResourceTypeArray
    resource.res.array.array = array
    error, texture = runtime.cudaCreateTextureObject(resource, runtime.cudaTextureDesc(), None)
    print(int(texture), width)
    result: runtime.cudaArray_t = check(runtime.cudaMallocArray(channels, 8, 8, 0))
    return result
