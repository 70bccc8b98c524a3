# SPDX-License-Identifier: Apache-2.0
"""Mistakes in the use of the driver API that a type checker must find; `E:` names the error."""

from cuda.bindings import driver
from cuda.bindings.driver import cuMemAlocate  # E: attr-defined

SUCCESS = driver.CUresult.CUDA_SUCCESS


def mistakes(
    stream: driver.CUstream,
    event: driver.CUevent,
    pointer: driver.CUdeviceptr,
    kernel: driver.CUfunction,
    graph: driver.CUgraph,
) -> None:
    driver.cuInit()  # E: call-arg
    driver.cuInit("0")  # E: arg-type
    driver.cuInit(0, 0)  # E: call-arg
    driver.cuInit(flags=0)  # E: call-arg
    error, count, extra = driver.cuDeviceGetCount()  # E: misc
    driver.cuDeviceGet("cuda:0")  # E: arg-type
    driver.cuDeviceGet(0)[2]  # E: misc
    driver.cuDeviceGetName(128, "0")  # E: arg-type
    driver.cuDeviceGetAttribute("WARP_SIZE", 0)  # E: arg-type
    driver.CUdevice_attribute.WARP_SIZE  # E: attr-defined
    driver.cuStreamSynchronize(event)  # E: arg-type
    driver.cuStreamSynchronize("stream")  # E: arg-type
    driver.cuStreamSynchronize(1.0)  # E: arg-type
    driver.cuEventRecord(stream, event)  # E: arg-type, arg-type
    driver.cuEventElapsedTime(event)  # E: call-arg
    driver.cuMemAlloc(1.5)  # E: arg-type
    driver.cuMemAlloc("64")  # E: arg-type
    driver.cuMemAlloc(bytesize=64, stream=stream)  # E: call-arg
    driver.cuMemcpyHtoD(pointer, "text", 4)  # E: arg-type
    driver.cuMemcpyHtoD(pointer, 1.5, 4)  # E: arg-type
    driver.cuMemFree(stream)  # E: arg-type
    driver.cuModuleLoad("kernel.ptx")  # E: arg-type
    driver.cuModuleGetFunction(kernel, b"f")  # E: arg-type
    driver.cuModuleGetFunction(0, "f")  # E: arg-type
    driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream)  # E: call-arg
    driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, [1], 0)  # E: arg-type
    driver.cuLaunchKernel(kernel, "1", 1, 1, 1, 1, 1, 0, stream, 0, 0)  # E: arg-type
    driver.cuGraphAddEmptyNode(graph, 3, 1)  # E: arg-type
    driver.cuGraphAddEmptyNode(graph, [graph], 1)  # E: list-item
    driver.cuMemPoolCreate({"maxSize": 1})  # E: arg-type
    driver.cuMemPoolCreate(driver.CUmemLocation())  # E: arg-type
    driver.CUstream("0")  # E: arg-type
    driver.CUstream(None)  # E: arg-type
    driver.CUstream(value=3)  # E: call-arg
    driver.CUresult.CUDA_SUCCES  # E: attr-defined
    stream + 1  # E: operator
    pointer + 4  # E: operator
    stream.synchronize()  # E: attr-defined
    driver.cuMemAlloc(64) + 1  # E: operator
    driver.cuDeviceGetCount().value  # E: attr-defined
    driver.cuDeviceGetCount()[1].count  # E: union-attr
    driver.CUmemPoolProps(size=3)  # E: call-arg
    driver.CUmemPoolProps(maxSize="1")  # E: arg-type


def structs(config: driver.CUlaunchConfig, location: driver.CUmemLocation) -> None:
    config.gridDimX = "8"  # E: assignment
    config.gridDimX = 1.5  # E: assignment
    config.gridDim = 8  # E: attr-defined
    config.hStream = 1.5  # E: assignment
    config.attrs = driver.CUlaunchAttribute()  # E: assignment
    config.attrs[0].value.coop = 1  # E: attr-defined
    location.type = "device"  # E: assignment
    location.identifier  # E: attr-defined
    driver.CUmemPoolProps().location = 3  # E: assignment
    driver.CUuuid().bytes = b""  # E: misc
    driver.CUDA_MEMCPY2D().srcHost = 1.5  # E: assignment
    driver.cuLaunchKernelEx(None, config, None, 0)  # E: arg-type
