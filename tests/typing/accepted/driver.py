# SPDX-License-Identifier: Apache-2.0
"""Typical code for the driver API that type checkers accept; it is checked, never run."""

import ctypes
from typing import Any, assert_type

import numpy as np
from cuda.bindings import driver
from cuda.bindings.driver import CUdevice_attribute, CUresult

SUCCESS = CUresult.CUDA_SUCCESS


def check(result: tuple[Any, ...]) -> Any:
    """The helper of nearly every program: raise, or return the outputs."""
    if result[0] != CUresult.CUDA_SUCCESS:
        error, name = driver.cuGetErrorName(result[0])
        raise RuntimeError(name.decode() if error == SUCCESS else "unknown")
    return result[1] if len(result) == 2 else result[1:]


def devices() -> list[str]:
    (error,) = driver.cuInit(0)
    if error != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"{error.name} ({error.value})")
    error, count = driver.cuDeviceGetCount()
    names = []
    for ordinal in range(count):
        error, device = driver.cuDeviceGet(ordinal)
        error, name = driver.cuDeviceGetName(128, device)
        error, major = driver.cuDeviceGetAttribute(
            CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device
        )
        error, total = driver.cuDeviceTotalMem(device)
        assert_type(int(device), int)
        names.append(f"{name.decode()} {major} {total >> 30} GiB")
    return names


def looks_at_the_output() -> int:
    error, context = driver.cuCtxGetCurrent()
    if context is None:
        print(error)
        return 0
    return int(context)


def memory(host: "np.ndarray[Any, np.dtype[np.float32]]") -> bytes:
    size = host.nbytes
    error, pointer = driver.cuMemAlloc(size)
    driver.cuMemcpyHtoD(pointer, host.ctypes.data, size)
    driver.cuMemcpyHtoD(pointer, host, size)
    driver.cuMemcpyHtoD(int(pointer) + 4, b"\0" * 4, 4)
    target = bytearray(size)
    driver.cuMemcpyDtoH(target, pointer, size)
    error, free, total = driver.cuMemGetInfo()
    assert free <= total
    driver.cuMemFree(pointer)
    error, address = driver.cuMemAllocHost(64)
    view = (ctypes.c_char * 64).from_address(address)
    driver.cuMemFreeHost(address)
    return bytes(target) + bytes(view)


def streams() -> float:
    error, stream = driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING)
    error, stream = driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING.value)
    error, start = driver.cuEventCreate(0)
    error, end = driver.cuEventCreate(0)
    driver.cuEventRecord(start, stream)
    driver.cuEventRecord(end, 0)
    driver.cuStreamWaitEvent(stream, end, 0)
    driver.cuStreamSynchronize(driver.CU_STREAM_LEGACY)
    driver.cuStreamSynchronize(None)
    assert stream.__cuda_stream__() == (0, int(stream))
    error, milliseconds = driver.cuEventElapsedTime(start, end)
    return milliseconds * 1e-3


def launch(code: bytes, stream: driver.CUstream, pointer: driver.CUdeviceptr) -> None:
    error, module = driver.cuModuleLoadData(code)
    error, kernel = driver.cuModuleGetFunction(module, b"saxpy")
    values = (pointer, 1.5, 1024)
    types = (None, ctypes.c_float, ctypes.c_size_t)
    driver.cuLaunchKernel(kernel, 8, 1, 1, 128, 1, 1, 0, stream, (values, types), 0)
    addresses = np.array([int(pointer)], dtype=np.uint64)
    driver.cuLaunchKernel(kernel, 8, 1, 1, 128, 1, 1, 0, stream, addresses, 0)
    driver.cuLaunchKernel(kernel, 8, 1, 1, 128, 1, 1, 0, stream, addresses.ctypes.data, 0)
    config = driver.CUlaunchConfig()
    config.gridDimX = 8
    config.hStream = stream
    attribute = driver.CUlaunchAttribute()
    attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
    attribute.value.cooperative = 1
    config.attrs = [attribute]
    config.numAttrs = 1
    driver.cuLaunchKernelEx(config, kernel, (values, types), 0)


def structs() -> dict[str, Any]:
    properties = driver.CUmemPoolProps(
        allocType=driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED, maxSize=1 << 30
    )
    properties.location.id = 0
    properties.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    assert_type(properties.location.id, int)
    error, pool = driver.cuMemPoolCreate(properties)
    error, threshold = driver.cuMemPoolGetAttribute(
        pool, driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
    )
    assert int(threshold) >= 0
    driver.cuMemPoolSetAttribute(
        pool,
        driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
        driver.cuuint64_t(1 << 20),
    )
    copy = properties.copy()
    assert bytes(copy) == bytes(properties)
    assert driver.sizeof(driver.CUmemPoolProps) == len(bytes(copy))
    parameters = driver.CUDA_MEMCPY2D()
    parameters.srcHost = bytearray(64)
    assert_type(parameters.srcHost, int)
    return properties.asdict()


def enums() -> list[str]:
    limit = driver.CUlimit(0)
    assert limit is driver.CUlimit.CU_LIMIT_STACK_SIZE
    assert driver.CUlimit["CU_LIMIT_STACK_SIZE"] == 0
    flags = driver.CUctx_flags.CU_CTX_MAP_HOST | driver.CUctx_flags.CU_CTX_SCHED_SPIN
    driver.cuDevicePrimaryCtxSetFlags(0, flags)
    return [member.name for member in CUdevice_attribute]


def graphs(kernel: driver.CUfunction) -> None:
    error, graph = driver.cuGraphCreate(0)
    error, root = driver.cuGraphAddEmptyNode(graph, None, 0)
    parameters = driver.CUDA_KERNEL_NODE_PARAMS()
    parameters.func = kernel
    parameters.kernelParams = ((1,), (ctypes.c_int,))
    error, node = driver.cuGraphAddKernelNode(graph, [root], 1, parameters)
    error, nodes, count = driver.cuGraphGetNodes(graph)
    error, nodes, count = driver.cuGraphGetNodes(graph, count)
    for each in nodes:
        error, kind = driver.cuGraphNodeGetType(each)
        name: str = kind.name
        print(name)
    error, executable = driver.cuGraphInstantiate(graph, 0)
    driver.cuGraphLaunch(executable, 0)


def callbacks(stream: driver.CUstream) -> None:
    function_type = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    target = function_type(print)
    address = ctypes.cast(target, ctypes.c_void_p).value
    assert address is not None
    driver.cuLaunchHostFunc(stream, driver.CUhostFn(address), 0)


def options(ptx: bytes) -> bytes:
    log = bytearray(4096)
    names = [
        driver.CUjit_option.CU_JIT_ERROR_LOG_BUFFER,
        driver.CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ]
    error, module = driver.cuModuleLoadDataEx(ptx, len(names), names, [log, len(log)])
    if error != SUCCESS:
        return bytes(log)
    check(driver.cuModuleUnload(module))
    return b""


def python_callbacks(stream: driver.CUstream, seen: list[object]) -> None:
    (error,) = driver.cuLaunchHostFunc(stream, seen.append, {"any": "object"})
    (error,) = driver.cuLaunchHostFunc(stream, 0x1000, None)
    (error,) = driver.cuStreamAddCallback(stream, lambda s, code, data: seen.append(code), "x", 0)
    assert error == driver.CUresult.CUDA_SUCCESS
