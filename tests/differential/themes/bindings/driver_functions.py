# SPDX-License-Identifier: Apache-2.0
"""cuda.bindings.driver: argument kinds and results of functions."""

import array
import ctypes
import inspect

import numpy as np
from cuda.bindings import driver as d

d.cuInit(0)
context = d.cuDevicePrimaryCtxRetain(0)[1]
d.cuCtxSetCurrent(context)
stream = d.cuStreamCreate(1)[1]
event = d.cuEventCreate(0)[1]
pool = d.cuDeviceGetDefaultMemPool(0)[1]
PTX = b"""
.version 8.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 counter;
.visible .entry store(.param .u64 out, .param .u32 n, .param .f32 x)
{
    .reg .u64 %rd<2>;
    .reg .u32 %r<2>;
    .reg .f32 %f<2>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    ld.param.f32 %f1, [x];
    st.global.u32 [%rd1], %r1;
    st.global.f32 [%rd1+4], %f1;
    ret;
}
"""
module = d.cuModuleLoadData(PTX)[1]
function = d.cuModuleGetFunction(module, b"store")[1]
block = d.cuMemAllocHost(64)[1]
memory = d.cuMemAlloc(64)[1]


class CIntSubclass(ctypes.c_int):
    pass


class Integer:
    def __int__(self):
        return 0


class Index:
    def __index__(self):
        return 0


def launched(parameters):
    ctypes.memset(block, 0, 64)
    result = d.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, 0)
    return result, d.cuStreamSynchronize(stream), ctypes.string_at(block, 8)


def types_of_arguments(*types):
    return launched(((block, 5, 1.5), types))


def addresses(make):
    values = [ctypes.c_uint64(block), ctypes.c_uint32(5), ctypes.c_float(1.5)]
    return launched(make([ctypes.addressof(value) for value in values]))


def launched_ex(**attributes):
    config = d.CUlaunchConfig()
    config.gridDimX = config.gridDimY = config.gridDimZ = 1
    config.blockDimX = config.blockDimY = config.blockDimZ = 1
    config.hStream = stream
    values = ((block, 6, 2.5), (ctypes.c_void_p, ctypes.c_int, ctypes.c_float))
    result = d.cuLaunchKernelEx(config, function, values, 0)
    return result, d.cuStreamSynchronize(stream), ctypes.string_at(block, 8)


def jit_log():
    log = bytearray(4096)
    names = [
        d.CUjit_option.CU_JIT_ERROR_LOG_BUFFER,
        d.CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ]
    result = d.cuModuleLoadDataEx(b".version 8.0\nnonsense", 2, names, [log, 4096])
    return result, log.rstrip(b"\0") != b""


def copied():
    source, target = bytearray(b"abcdefgh"), bytearray(8)
    first = d.cuMemcpyHtoD(memory, source, 8)
    second = d.cuMemcpyDtoH(target, memory, 8)
    return first, second, bytes(target)


def copied_through_addresses():
    target = np.zeros(8, dtype=np.uint8)
    first = d.cuMemcpyHtoD(int(memory), b"ABCDEFGH", 8)
    return first, d.cuMemcpyDtoH(target.ctypes.data, memory, 8), target.tobytes()


def callback():
    seen = []
    function_type = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    target = function_type(seen.append)
    address = ctypes.cast(target, ctypes.c_void_p).value
    result = d.cuLaunchHostFunc(stream, d.CUhostFn(address), 5)
    return result, d.cuStreamSynchronize(stream), seen


def pool_attribute(name, value=None):
    key = getattr(d.CUmemPool_attribute, f"CU_MEMPOOL_ATTR_{name}")
    result = d.cuMemPoolSetAttribute(pool, key, value) if value is not None else None
    error, read = d.cuMemPoolGetAttribute(pool, key)
    return result, error, type(read), int(read)


def pointer_attribute(name, of):
    result = d.cuPointerGetAttribute(
        getattr(d.CUpointer_attribute, f"CU_POINTER_ATTRIBUTE_{name}"), of
    )
    return result[0], type(result[1]), int(result[1]) if isinstance(result[1], int) else None


def signature(name):
    return [
        (p.name, p.default is not p.empty)
        for p in inspect.signature(getattr(d, name)).parameters.values()
    ]


CASES = [
    copied,
    copied_through_addresses,
    callback,
    launched_ex,
    jit_log,
    lambda: d.cuInit(0),
    lambda: d.cuDriverGetVersion(),
    lambda: d.cuDeviceGetCount(),
    lambda: [type(each) for each in d.cuDeviceGet(0)],
    lambda: int(d.cuDeviceGet(0)[1]),
    lambda: d.cuDeviceGet(5),
    lambda: d.cuDeviceGet(True)[0],
    lambda: d.cuDeviceGet(np.int32(0))[0],
    lambda: d.cuDeviceGet(Integer())[0],
    lambda: d.cuDeviceGet(Index())[0],
    lambda: d.cuDeviceGet(0.5)[0],
    lambda: d.cuDeviceGet("0"),
    lambda: d.cuDeviceGet(None),
    lambda: d.cuDeviceGet(2**31),
    lambda: d.cuDeviceGet(2**70),
    lambda: d.cuDeviceGet(),
    lambda: d.cuDeviceGet(0, 0),
    lambda: d.cuDeviceGet(ordinal=0)[0],
    lambda: d.cuDeviceGet(number=0),
    lambda: d.cuInit(-1),
    lambda: d.cuInit(2**32),
    lambda: d.cuDeviceGetName(128, 0)[0],
    lambda: len(d.cuDeviceGetName(128, 0)[1]),
    lambda: d.cuDeviceGetName(128, 0)[1].split(b"\0")[0],
    lambda: d.cuDeviceGetName(length=128, dev=d.CUdevice(0))[0],
    lambda: d.cuDeviceGetUuid(0)[1].bytes,
    lambda: d.cuDeviceTotalMem(0),
    lambda: d.cuDeviceGetAttribute(d.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0),
    lambda: d.cuDeviceGetAttribute(10, 0),
    lambda: d.cuDeviceGetAttribute(None, 0),
    lambda: d.cuDeviceGetAttribute("x", 0),
    lambda: d.cuDeviceGetAttribute(99999, 0),
    lambda: d.cuDeviceGetAttribute(10, 7),
    lambda: d.cuDeviceComputeCapability(0),
    lambda: d.cuGetErrorName(d.CUresult.CUDA_ERROR_INVALID_VALUE),
    lambda: d.cuGetErrorName(1),
    lambda: d.cuGetErrorName(12345),
    lambda: d.cuGetErrorString(0)[0],
    lambda: d.cuCtxGetCurrent()[1] == context,
    lambda: d.cuCtxSetCurrent(None),
    lambda: d.cuCtxGetCurrent(),
    lambda: d.cuCtxSynchronize(),
    lambda: d.cuCtxSetCurrent(context),
    lambda: d.cuCtxSetCurrent(int(context)),
    lambda: d.cuCtxSetCurrent(stream),
    lambda: d.cuCtxSetCurrent("x"),
    lambda: d.cuCtxGetDevice()[0],
    lambda: d.cuCtxGetStreamPriorityRange(),
    lambda: d.cuCtxGetLimit(d.CUlimit.CU_LIMIT_STACK_SIZE),
    lambda: d.cuCtxGetApiVersion(context)[0],
    lambda: d.cuDevicePrimaryCtxGetState(0)[0],
    lambda: d.cuStreamQuery(stream),
    lambda: d.cuStreamQuery(0),
    lambda: d.cuStreamQuery(None),
    lambda: d.cuStreamQuery(int(stream)),
    lambda: d.cuStreamQuery(event),
    lambda: d.cuStreamQuery(-1),
    lambda: d.cuStreamQuery(1.0),
    lambda: d.cuStreamGetPriority(stream),
    lambda: d.cuStreamGetFlags(stream),
    lambda: d.cuStreamGetCtx(stream)[1] == context,
    lambda: d.cuStreamCreateWithPriority(1, 99)[0],
    lambda: d.cuEventRecord(event, stream),
    lambda: d.cuEventSynchronize(event),
    lambda: d.cuEventQuery(event),
    lambda: d.cuEventElapsedTime(event, event)[0],
    lambda: d.cuEventElapsedTime(d.cuEventCreate(2)[1], event),
    lambda: type(d.cuMemAlloc(8)[1]),
    lambda: d.cuMemAlloc(0),
    lambda: d.cuMemAlloc(2**50),
    lambda: d.cuMemAlloc(-1),
    lambda: d.cuMemFree(0),
    lambda: d.cuMemAllocAsync(8, stream)[0],
    lambda: d.cuMemAllocAsync(0, stream),
    lambda: d.cuMemGetInfo()[0],
    lambda: d.cuMemGetAddressRange(memory)[0],
    lambda: d.cuMemGetAddressRange(memory)[2],
    lambda: d.cuMemsetD8(memory, 7, 64),
    lambda: d.cuMemsetD8(memory, 256, 64),
    lambda: d.cuMemsetD32Async(memory, 2**32 - 1, 16, stream),
    lambda: d.cuMemcpyHtoD(memory, "text", 4),
    lambda: d.cuMemcpyHtoD(memory, None, 0),
    lambda: d.cuMemcpyHtoD(memory, np.arange(8), 64),
    lambda: d.cuMemcpyHtoD(memory, array.array("i", [1, 2]), 8),
    lambda: d.cuMemcpyHtoD(memory, memoryview(b"abcd"), 4),
    lambda: d.cuMemcpyHtoD(memory, np.zeros((4, 4))[:, 1], 8),
    lambda: d.cuMemcpyHtoD(memory, [1, 2], 8),
    lambda: d.cuMemcpyHtoD(memory, 1.5, 8),
    lambda: d.cuMemcpyDtoDAsync(memory, memory, 0, stream),
    lambda: pool_attribute("RELEASE_THRESHOLD", d.cuuint64_t(4096)),
    lambda: pool_attribute("RELEASE_THRESHOLD", 4096),
    lambda: pool_attribute("REUSE_ALLOW_OPPORTUNISTIC", 0),
    lambda: pool_attribute("REUSE_ALLOW_OPPORTUNISTIC", 1),
    lambda: pool_attribute("USED_MEM_CURRENT"),
    lambda: d.cuMemPoolGetAttribute(pool, None),
    lambda: pointer_attribute("MEMORY_TYPE", memory),
    lambda: pointer_attribute("CONTEXT", memory),
    lambda: pointer_attribute("DEVICE_ORDINAL", memory),
    lambda: pointer_attribute("IS_MANAGED", memory),
    lambda: pointer_attribute("RANGE_SIZE", memory),
    lambda: pointer_attribute("DEVICE_POINTER", memory),
    lambda: pointer_attribute("HOST_POINTER", memory),
    lambda: pointer_attribute("MAPPED", memory),
    lambda: pointer_attribute("MEMORY_TYPE", block),
    lambda: pointer_attribute("MEMPOOL_HANDLE", memory),
    lambda: d.cuPointerGetAttributes(
        1, [d.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE], memory
    ),
    lambda: d.cuPointerGetAttributes(
        2, [d.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE], memory
    ),
    lambda: d.cuPointerGetAttributes(0, [], memory),
    lambda: d.cuPointerGetAttributes(1, [2], memory),
    lambda: d.cuModuleLoadData(b"nonsense"),
    lambda: d.cuModuleLoadData("nonsense"),
    lambda: d.cuModuleLoadData(None)[0],
    lambda: d.cuModuleGetFunction(module, b"missing"),
    lambda: d.cuModuleGetFunction(module, "store"),
    lambda: d.cuModuleGetFunction(module, None),
    lambda: d.cuModuleGetFunction(module, bytearray(b"store"))[0],
    lambda: d.cuModuleGetGlobal(module, b"counter")[2],
    lambda: type(d.cuModuleGetGlobal(module, b"counter")[1]),
    lambda: d.cuModuleGetGlobal(module, b"missing"),
    lambda: d.cuFuncGetAttribute(d.CUfunction_attribute.CU_FUNC_ATTRIBUTE_PTX_VERSION, function),
    lambda: d.cuFuncGetName(function),
    lambda: d.cuFuncGetParamInfo(function, 1),
    lambda: d.cuFuncGetParamInfo(function, 9),
    lambda: d.cuLibraryLoadData(PTX, None, None, 0, None, None, 0)[0],
    lambda: d.cuLibraryLoadData(PTX, [], [], 0, [], [], 0)[0],
    lambda: d.cuLibraryLoadData(PTX, [], [], 1, [], [], 0),
    lambda: d.cuLibraryLoadData(PTX, [3], [3], 1, [], [], 0),
    lambda: types_of_arguments(ctypes.c_void_p, ctypes.c_int, ctypes.c_float),
    lambda: types_of_arguments(ctypes.c_uint64, ctypes.c_uint, ctypes.c_float),
    lambda: types_of_arguments(ctypes.c_void_p, ctypes.c_int),
    lambda: types_of_arguments(ctypes.c_void_p, None, ctypes.c_float),
    lambda: types_of_arguments(ctypes.c_void_p, str, ctypes.c_float),
    lambda: types_of_arguments(ctypes.c_void_p, CIntSubclass, ctypes.c_float),
    lambda: launched(((block, 5.5, 1.5), (ctypes.c_void_p, ctypes.c_int, ctypes.c_float))),
    lambda: launched(((block, "5", 1.5), (ctypes.c_void_p, ctypes.c_int, ctypes.c_float))),
    lambda: launched(((block, 2**31, 1.5), (ctypes.c_void_p, ctypes.c_int, ctypes.c_float))),
    lambda: launched(((block, 2**32 + 5, 1.5), (ctypes.c_void_p, ctypes.c_uint, ctypes.c_float))),
    lambda: launched(((block, True, 1), (ctypes.c_void_p, ctypes.c_int, ctypes.c_float))),
    lambda: launched(
        (
            (block, ctypes.c_int(9), ctypes.c_float(1.5)),
            (ctypes.c_void_p, ctypes.c_int, ctypes.c_float),
        )
    ),
    lambda: launched(
        (
            (ctypes.c_void_p(block), np.int32(9), np.float32(1.5)),
            (ctypes.c_void_p, ctypes.c_int, ctypes.c_float),
        )
    ),
    lambda: launched(((d.CUdeviceptr(block), 5, 1.5), (None, ctypes.c_int, ctypes.c_float))),
    lambda: launched(([block, 5, 1.5], (ctypes.c_void_p, ctypes.c_int, ctypes.c_float))),
    lambda: launched("text"),
    lambda: launched(5.5),
    lambda: launched([1, 2]),
    lambda: addresses(lambda a: np.array(a, dtype=np.uint64)),
    lambda: addresses(lambda a: array.array("Q", a)),
    lambda: d.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, 0, None),
    lambda: d.cuLaunchKernel(function, 0, 1, 1, 1, 1, 1, 0, stream, 0, 0),
    lambda: d.cuLaunchKernel(None, 1, 1, 1, 1, 1, 1, 0, stream, 0, 0),
    lambda: d.cuOccupancyMaxActiveBlocksPerMultiprocessor(function, 128, 0),
    lambda: d.cuOccupancyMaxPotentialBlockSize(function, None, 0, 0),
    lambda: d.cuGraphCreate(1),
    lambda: d.cuStreamBeginCapture(stream, None),
    lambda: d.cuStreamIsCapturing(stream),
    lambda: d.sizeof(d.CUuuid),
    lambda: d.sizeof(d.CUdeviceptr),
    lambda: d.sizeof(int),
    lambda: d.cuFlushGPUDirectRDMAWrites(None, None),
    lambda: signature("cuMemcpyHtoD"),
    lambda: signature("cuLaunchKernel"),
    lambda: signature("cuGraphGetNodes"),
    lambda: d.cuMemAlloc.__name__,
    lambda: d.CUDA_VERSION,
    lambda: (d.CU_STREAM_LEGACY, d.CU_DEVICE_CPU, d.CU_LAUNCH_PARAM_END),
    lambda: d.missing_name,
]
