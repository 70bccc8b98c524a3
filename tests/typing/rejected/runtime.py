# SPDX-License-Identifier: Apache-2.0
"""Mistakes in the use of the runtime API that a type checker must find; `E:` names the error."""

from cuda.bindings import driver, runtime


def mistakes(
    stream: runtime.cudaStream_t, event: runtime.cudaEvent_t, graph: driver.CUgraph
) -> None:
    runtime.cudaMalloc("64")  # E: arg-type
    runtime.cudaMalloc()  # E: call-arg
    runtime.cudaMalloc(64, 0)  # E: call-arg
    error, pointer, size = runtime.cudaMalloc(64)  # E: misc
    runtime.cudaMemcpy(0, "text", 4, runtime.cudaMemcpyKind.cudaMemcpyDefault)  # E: arg-type
    runtime.cudaMemcpy(0, 0, 4, "HostToDevice")  # E: arg-type
    runtime.cudaMemcpy(0, 0, 4)  # E: call-arg
    runtime.cudaMemcpyKind.HostToDevice  # E: attr-defined
    runtime.cudaStreamSynchronize(event)  # E: arg-type
    runtime.cudaStreamSynchronize(graph)  # E: arg-type
    runtime.cudaStreamSynchronize(0.0)  # E: arg-type
    runtime.cudaEventRecord(stream, event)  # E: arg-type, arg-type
    driver.cuEventRecord(stream, event)  # E: arg-type, arg-type
    runtime.cudaSetDevice("cuda:0")  # E: arg-type
    runtime.cudaGetDeviceProperties(device=0).name  # E: attr-defined
    runtime.cudaGetErrorString("cudaSuccess")  # E: arg-type
    runtime.cudaError_t.CUDA_SUCCESS  # E: attr-defined
    runtime.make_cudaExtent(1, 2)  # E: call-arg
    runtime.make_cudaExtent(1, 2, 3)[0]  # E: index
    runtime.make_cudaExtent(1, 2, 3).depht  # E: attr-defined
    runtime.dim3(x="8")  # E: arg-type
    runtime.dim3().w  # E: attr-defined
    runtime.cudaLaunchKernel  # E: attr-defined
