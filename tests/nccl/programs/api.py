# SPDX-License-Identifier: Apache-2.0
"""The emulated NCCL and driver through ctypes, for programs that the tests start."""

import ctypes as c
import os

import numpy as np

SUM, PROD, MAX, MIN, AVG = range(5)
INVALID_ARGUMENT, INVALID_USAGE, REMOTE_ERROR, IN_PROGRESS, TIMEOUT = 4, 5, 6, 7, 8
INTEGERS = ("int8", "uint8", "int32", "uint32", "int64", "uint64")
FLOATS = ("float16", "float32", "float64", "bfloat16", "float8e4m3", "float8e5m2")
TYPES = (*INTEGERS, *FLOATS)  # in the order of their numbers
NUMBER_OF = {name: number for number, name in enumerate(TYPES)}
SIZES = dict(zip(TYPES, (1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1), strict=True))


class UniqueId(c.Structure):
    _fields_ = (("bytes", c.c_char * 128),)

    def __bytes__(self):
        return bytes(memoryview(self))


class Config(c.Structure):
    """The fields of ncclConfig_t that every release has."""

    _fields_ = (
        ("size", c.c_size_t),
        ("magic", c.c_uint),
        ("version", c.c_uint),
        ("blocking", c.c_int),
        ("rest", c.c_int * 3),
    )


def config(blocking):
    return Config(c.sizeof(Config), 0xCAFEBEEF, 23203, blocking)


class NcclError(Exception):
    def __init__(self, call, code, text):
        super().__init__(f"{call} returned {code}: {text}")
        self.code, self.text = code, text


class CudaError(Exception):
    def __init__(self, call, code):
        super().__init__(f"{call} returned {code}")
        self.code = code


nccl = c.CDLL("libnccl.so.2")
driver = c.CDLL("libcuda.so.1")
nccl.ncclGetLastError.restype = nccl.ncclGetErrorString.restype = c.c_char_p
SIZE_FIRST = (c.c_void_p, c.c_size_t, c.c_int)
TWO_BUFFERS = (c.c_void_p, *SIZE_FIRST)
END = (c.c_void_p, c.c_void_p)
for _name, _arguments in {
    "AllReduce": (*TWO_BUFFERS, c.c_int),
    "Reduce": (*TWO_BUFFERS, c.c_int, c.c_int),
    "Broadcast": (*TWO_BUFFERS, c.c_int),
    "Bcast": (*SIZE_FIRST, c.c_int),
    "AllGather": TWO_BUFFERS,
    "ReduceScatter": (*TWO_BUFFERS, c.c_int),
    "AlltoAll": TWO_BUFFERS,
    "Gather": (*TWO_BUFFERS, c.c_int),
    "Scatter": (*TWO_BUFFERS, c.c_int),
    "Send": (*SIZE_FIRST, c.c_int),
    "Recv": (*SIZE_FIRST, c.c_int),
}.items():
    getattr(nccl, f"nccl{_name}").argtypes = (*_arguments, *END)
nccl.ncclCommInitRank.argtypes = (c.c_void_p, c.c_int, UniqueId, c.c_int)
nccl.ncclCommInitRankConfig.argtypes = (c.c_void_p, c.c_int, UniqueId, c.c_int, c.c_void_p)


def call(name, *arguments):
    """Call a function of NCCL; raise NcclError unless it succeeds."""
    if code := getattr(nccl, name)(*arguments):
        raise NcclError(name, code, last_error())


def last_error(comm=None):
    return (nccl.ncclGetLastError(comm) or b"").decode()


def cuda(name, *arguments):
    if code := getattr(driver, name)(*arguments):
        raise CudaError(name, code)


def select(device):
    """Make the primary context of a device current."""
    context, number = c.c_void_p(), c.c_int()
    cuda("cuInit", 0)
    cuda("cuDeviceGet", c.byref(number), device)
    cuda("cuDevicePrimaryCtxRetain", c.byref(context), number)
    cuda("cuCtxSetCurrent", context)


def stream():
    handle = c.c_void_p()
    cuda("cuStreamCreate", c.byref(handle), 1)
    return handle


def buffer(values):
    """Return the address of device memory that holds a copy of an array."""
    address = c.c_uint64()
    cuda("cuMemAlloc_v2", c.byref(address), c.c_size_t(max(values.nbytes, 1)))
    if values.nbytes:
        source = np.ascontiguousarray(values)
        cuda("cuMemcpyHtoD_v2", address, c.c_void_p(source.ctypes.data), c.c_size_t(values.nbytes))
    return address.value


def free(address):
    cuda("cuMemFree_v2", c.c_uint64(address))


def read(address, like):
    """Return the values at an address, with the type and shape of `like`."""
    values = np.empty_like(like)
    if values.nbytes:
        cuda(
            "cuMemcpyDtoH_v2",
            c.c_void_p(values.ctypes.data),
            c.c_uint64(address),
            c.c_size_t(values.nbytes),
        )
    return values


def synchronize(handle):
    cuda("cuStreamSynchronize", handle)


def init_all(count):
    comms = (c.c_void_p * count)()
    call("ncclCommInitAll", comms, count, None)
    return [c.c_void_p(each) for each in comms]


def unique_id():
    value = UniqueId()
    call("ncclGetUniqueId", c.byref(value))
    return value


def id_from(raw):
    return UniqueId.from_buffer_copy(raw)


def init_rank(ranks, value, rank):
    comm = c.c_void_p()
    call("ncclCommInitRank", c.byref(comm), ranks, value, rank)
    return comm


def async_error(comm):
    error = c.c_int()
    call("ncclCommGetAsyncError", comm, c.byref(error))
    return error.value


class group:
    def __enter__(self):
        call("ncclGroupStart")

    def __exit__(self, kind, *_):
        if kind is None:
            call("ncclGroupEnd")
        else:
            nccl.ncclGroupEnd()


def process_rank():
    """Return the rank and number of processes, in the variables of torchrun."""
    return int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
