# SPDX-License-Identifier: Apache-2.0
"""The values at the limit of an argument are accepted, the ones beyond are refused."""

import ctypes
import struct
from types import SimpleNamespace

import pytest
from cuda.bindings.driver import CUlimit

pytestmark = pytest.mark.usefixtures("emulated")
INVALID_VALUE, INVALID_DEVICE, PEER_UNSUPPORTED, UNSUPPORTED_LIMIT = 1, 101, 217, 215
NOT_PERMITTED, NOT_SUPPORTED = 800, 801
OUT = ctypes.c_uint64 * 16  # large enough for any output
KIB = 1 << 10
LIMITS = int(CUlimit.CU_LIMIT_MAX)


def words(*values):
    return (ctypes.c_uint32 * len(values))(*values)


def operation(number, address=0, value=0, flags=0, further=()):
    """A CUstreamBatchMemOpParams: operation, address, value, flags."""
    fields = [number, 0, address & 2**32 - 1, address >> 32, value, 0, flags]
    return words(*fields, *further, *([0] * (12 - len(fields) - len(further))))


def barrier(flags):
    return words(6, flags, *([0] * 10))


def reduction(o, kind, data_type):
    low, high = o.memory & 2**32 - 1, o.memory >> 32
    return words(8, 0, low, high, 1, 0, kind, data_type, *([0] * 4))


def batch(o, count, flags=0):
    """Write the same value `count` times."""
    each = bytes(operation(2, o.memory, 7))
    return (o.stream, count, each * max(count, 1), flags)


# function, its arguments with the value in question, accepted values, refused values, code
FLAGS = [
    ("cuStreamCreate", lambda o, v: (OUT(), v), [0, 1], [2, 3], INVALID_VALUE),
    ("cuStreamWaitEvent", lambda o, v: (o.stream, o.event, v), [0, 1], [2], INVALID_VALUE),
    ("cuEventRecordWithFlags", lambda o, v: (o.event, o.stream, v), [0, 1], [2], INVALID_VALUE),
    ("cuEventCreate", lambda o, v: (OUT(), v), [0, 1, 2, 3, 6], [4, 5, 8], INVALID_VALUE),
    ("cuLaunchHostFunc_v2", lambda o, v: (o.stream, o.host, None, v), [0, 1], [2], INVALID_VALUE),
    ("cuStreamAddCallback", lambda o, v: (o.stream, o.host, None, v), [0], [1], INVALID_VALUE),
    ("cuCtxSetFlags", lambda o, v: (v,), [1, 2, 4, 0x80, 0], [3, 5, 6, 7, 0x100], INVALID_VALUE),
    ("cuCtxSetCacheConfig", lambda o, v: (v,), [1, 2, 3, 0], [4, -1], INVALID_VALUE),
    ("cuFuncSetCacheConfig", lambda o, v: (o.function, v), [0, 3], [4, -1], INVALID_VALUE),
    ("cuCtxGetLimit", lambda o, v: (OUT(), v), [0, 1, 2, 4], [-1, LIMITS], INVALID_VALUE),
    ("cuCtxGetLimit", lambda o, v: (OUT(), v), [], [3, LIMITS - 1], UNSUPPORTED_LIMIT),
    ("cuCtxEnablePeerAccess", lambda o, v: (o.context, v), [], [1], INVALID_VALUE),
    ("cuCtxEnablePeerAccess", lambda o, v: (o.context, v), [], [0], PEER_UNSUPPORTED),
    ("cuGraphCreate", lambda o, v: (OUT(), v), [], [1, 2], INVALID_VALUE),
    ("cuLogsCurrent", lambda o, v: (OUT(), v), [0], [1], INVALID_VALUE),
    ("cuLogsDumpToMemory", lambda o, v: (None, o.text, words(64), v), [0], [1], INVALID_VALUE),
    ("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
     lambda o, v: (OUT(), o.function, 32, 0, v), [0, 1], [2], INVALID_VALUE),
    ("cuOccupancyMaxPotentialBlockSizeWithFlags",
     lambda o, v: (OUT(), OUT(), o.function, None, 0, 0, v), [0, 1], [2], INVALID_VALUE),
    ("cuDeviceGetP2PAttribute", lambda o, v: (OUT(), v, 0, 0), [], [1, 2], INVALID_DEVICE),
    ("cuMemAllocManaged", lambda o, v: (o.out, 16, v), [1, 2], [0, 3, 4], INVALID_VALUE),
    ("cuMemHostAlloc", lambda o, v: (OUT(), 0, v), [0, 1, 2, 4, 7], [8], INVALID_VALUE),
    ("cuMemHostGetDevicePointer", lambda o, v: (OUT(), o.pinned, v), [0], [1], INVALID_VALUE),
    ("cuMemHostRegister", lambda o, v: (o.host_bytes, 64, v), [], [16, 32], INVALID_VALUE),
    ("cuMemHostRegister", lambda o, v: (o.host_bytes, 64, v), [], [4, 8, 12], NOT_SUPPORTED),
]  # fmt: skip
SIZES = [
    ("cuMemAllocPitch", lambda o, v: (OUT(), OUT(), 8, 2, v), [4, 8, 16],
     [0, 2, 5, 12, 32], INVALID_VALUE),
    ("cuMemAlloc", lambda o, v: (OUT(), v), [1], [0], INVALID_VALUE),
    ("cuMemHostRegister", lambda o, v: (o.host_bytes, v, 0), [], [0], INVALID_VALUE),
    ("cuMemsetD16", lambda o, v: (o.memory + v, 0, 4), [0, 2], [1, 3], INVALID_VALUE),
    ("cuMemsetD32", lambda o, v: (o.memory + v, 0, 4), [0, 4], [1, 2], INVALID_VALUE),
    ("cuMemsetD2D8", lambda o, v: (o.memory, v, 0, 8, 3), [8, 9], [7, 0], INVALID_VALUE),
    ("cuMemsetD2D8", lambda o, v: (o.memory, v, 0, 8, 1), [8, 7, 0], [], INVALID_VALUE),
    ("cuMemsetD2D16", lambda o, v: (o.memory, v, 0, 4, 3), [8, 10], [7, 9, 6], INVALID_VALUE),
    ("cuMemsetD2D32", lambda o, v: (o.memory, v, 0, 2, 3), [8, 12], [4, 10], INVALID_VALUE),
    ("cuMemsetD8", lambda o, v: (o.memory, 0, v), [0, 64 * KIB], [64 * KIB + 1], INVALID_VALUE),
    ("cuMemcpyDtoD", lambda o, v: (o.memory, o.other, v), [0, 64 * KIB],
     [64 * KIB + 1], INVALID_VALUE),
    ("cuDeviceGetName", lambda o, v: (o.text, v, 0), [1, 64], [0, -1], INVALID_VALUE),
    ("cuDeviceGetPCIBusId", lambda o, v: (o.text, v, 0), [1, 13], [0, -1], INVALID_VALUE),
    ("cuLogsDumpToMemory", lambda o, v: (None, o.text, words(v, 0), 0), [1], [0], INVALID_VALUE),
    ("cuOccupancyMaxActiveBlocksPerMultiprocessor", lambda o, v: (OUT(), o.function, v, 0),
     [1, 1024], [0, -1], INVALID_VALUE),
    ("cuOccupancyAvailableDynamicSMemPerBlock", lambda o, v: (OUT(), o.function, v, 32),
     [1, 2], [0, -1, 100], INVALID_VALUE),
    ("cuOccupancyAvailableDynamicSMemPerBlock", lambda o, v: (OUT(), o.function, 1, v),
     [1, 1024], [0, -1, 1025], INVALID_VALUE),
    ("cuFuncGetParamInfo", lambda o, v: (o.mixed, v, OUT(), OUT()), [0, 4],
     [5, 6], INVALID_VALUE),
    ("cuPointerGetAttributes", lambda o, v: (v, words(2), (ctypes.c_uint64 * 1)(
        ctypes.addressof(o.out)), o.memory), [1], [0], INVALID_VALUE),
    ("cuMemRangeGetAttribute", lambda o, v: (OUT(), v, 1, o.managed, 64), [4], [0, 3, 5, 8],
     INVALID_VALUE),
    ("cuMemRangeGetAttribute", lambda o, v: (OUT(), v, 3, o.managed, 64), [4, 8], [0, 6],
     INVALID_VALUE),
    ("cuMemRangeGetAttribute", lambda o, v: (OUT(), 4, 1, o.managed, v), [1, 64 * KIB],
     [0, 64 * KIB + 1], INVALID_VALUE),
    ("cuMemRangeGetAttribute", lambda o, v: (OUT(), 4, v, o.managed, 64), [1, 2, 3, 4, 5, 6, 7, 8],
     [0, 9], INVALID_VALUE),
]  # fmt: skip
STREAM_VALUES = [
    ("cuStreamWriteValue32_v2", lambda o, v: (o.stream, o.memory + v, 0, 0), [0, 4],
     [1, 2], INVALID_VALUE),
    ("cuStreamWriteValue64_v2", lambda o, v: (o.stream, o.memory + v, 0, 0), [0, 8],
     [1, 4], INVALID_VALUE),
    ("cuStreamWriteValue32_v2", lambda o, v: (o.stream, o.memory, 0, v), [0], [1, 2],
     INVALID_VALUE),
    ("cuStreamWaitValue32_v2", lambda o, v: (o.stream, o.memory, o.awaited[v], v), [0, 1, 2, 3],
     [4], INVALID_VALUE),
    ("cuStreamWaitValue64_v2", lambda o, v: (o.stream, o.memory, o.awaited[v], v), [0, 2, 3],
     [4], INVALID_VALUE),
    ("cuStreamWaitValue32_v2", lambda o, v: (o.stream, o.memory, 0, v), [], [1 << 30],
     NOT_SUPPORTED),
    ("cuStreamWriteValue32_v2", lambda o, v: (o.stream, v(o), 0, 0), [lambda o: o.pinned],
     [lambda o: 0, lambda o: o.managed, lambda o: ctypes.addressof(o.out)], INVALID_VALUE),
    ("cuStreamBatchMemOp_v2", lambda o, v: batch(o, v), [1, 256], [0, 257], INVALID_VALUE),
    ("cuStreamBatchMemOp_v2", lambda o, v: batch(o, 1, v), [0], [1], INVALID_VALUE),
    ("cuStreamBatchMemOp_v2", lambda o, v: (o.stream, 1, barrier(v), 0), [0, 1], [2],
     INVALID_VALUE),
    ("cuStreamBatchMemOp_v2", lambda o, v: (o.stream, 1, operation(v), 0), [], [7, 0, 9],
     INVALID_VALUE),
    ("cuStreamBatchMemOp_v2", lambda o, v: (o.stream, 1, operation(v), 0), [], [3],
     NOT_SUPPORTED),
    ("cuStreamBatchMemOp_v2", lambda o, v: (o.stream, 0, None, v), [], [0], INVALID_VALUE),
]  # fmt: skip
SHARED, CARVEOUT, WIDTH, HEIGHT, DEPTH, LARGE, POLICY = 8, 9, 11, 12, 13, 14, 15
KERNELS = [
    ("cuFuncSetAttribute", lambda o, v: (o.function, SHARED, v), [0, 100 * KIB, 48 * KIB],
     [-1, 1 << 20], INVALID_VALUE),
    ("cuFuncSetAttribute", lambda o, v: (o.function, SHARED, o.most_shared + v), [0],
     [1], INVALID_VALUE),
    ("cuFuncSetAttribute", lambda o, v: (o.function, CARVEOUT, v), [-1, 0, 100],
     [-2, 101], INVALID_VALUE),
    ("cuFuncSetAttribute", lambda o, v: (o.function, LARGE, v), [1, 0], [2, -1], INVALID_VALUE),
    ("cuFuncSetAttribute", lambda o, v: (o.function, POLICY, v), [1, 2, 0], [-1, 3],
     INVALID_VALUE),
    ("cuFuncSetAttribute", lambda o, v: (o.function, v, 1), [], [0, 1, 10, 1000], INVALID_VALUE),
    *[("cuFuncSetAttribute", lambda o, v, axis=axis: (o.function, axis, v), [2, 0], [-1],
       INVALID_VALUE) for axis in (WIDTH, HEIGHT, DEPTH)],
    *[("cuFuncSetAttribute", lambda o, v, axis=axis: (o.clustered, axis, v), [], [1, 2],
       NOT_PERMITTED) for axis in (WIDTH, HEIGHT, DEPTH)],
    ("cuFuncGetAttribute", lambda o, v: (OUT(), v, o.function), range(18), [18, -1],
     INVALID_VALUE),
]  # fmt: skip


def window(ratio=0.5, hit=2, miss=1):
    """An access policy window without memory, as the value of an attribute."""
    return struct.pack("QQfii", 0, 0, ratio, hit, miss).ljust(64, b"\0")


POLICY_WINDOW, SYNC_POLICY, DOMAIN, STREAM_PRIORITY = 1, 3, 10, 8
ATTRIBUTES = [
    ("cuStreamSetAttribute", lambda o, v: (o.stream, POLICY_WINDOW, window(ratio=v)),
     [0, 1, 0.5], [-0.01, 1.01, float("nan")], INVALID_VALUE),
    ("cuStreamSetAttribute", lambda o, v: (o.stream, POLICY_WINDOW, window(hit=v)),
     [0, 1, 2], [-1, 3], INVALID_VALUE),
    ("cuStreamSetAttribute", lambda o, v: (o.stream, POLICY_WINDOW, window(miss=v)),
     [0, 1], [-1, 2, 3], INVALID_VALUE),
    ("cuStreamSetAttribute", lambda o, v: (o.stream, v, bytes(64)), [], [0, 2, 1000],
     INVALID_VALUE),
    ("cuStreamGetAttribute", lambda o, v: (o.stream, v, bytes(64)),
     [POLICY_WINDOW, SYNC_POLICY, STREAM_PRIORITY, DOMAIN], [0, 2, 1000], INVALID_VALUE),
]  # fmt: skip
ROWS = FLAGS + SIZES + STREAM_VALUES + KERNELS + ATTRIBUTES
DESTROYERS = {
    "cuStreamCreate": "cuStreamDestroy",
    "cuEventCreate": "cuEventDestroy",
    "cuMemAlloc": "cuMemFree",
    "cuMemAllocManaged": "cuMemFree",
    "cuMemAllocPitch": "cuMemFree",
}
CLUSTERED = b""".version 8.0
.target sm_90
.address_size 64
.visible .entry clustered() .explicitcluster .reqnctapercluster 2, 1, 1 { ret; }
"""


@pytest.fixture
def objects(driver, stream):
    o = SimpleNamespace(stream=stream, context=driver.context)
    o.out, o.text, o.host_bytes = OUT(), ctypes.create_string_buffer(64), bytes(64)
    o.host = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)
    o.event = driver.output("cuEventCreate", 0)
    o.memory, o.other = (driver.output("cuMemAlloc", 64 * KIB) for _ in range(2))
    o.managed = driver.output("cuMemAllocManaged", 64 * KIB, 1)
    o.pinned = driver.output("cuMemAllocHost", 64)
    assert driver.cuMemsetD8(o.memory, 5, 64 * KIB) == 0
    # The memory meets each condition: at least, equal, a common bit, a bit that neither has.
    o.awaited = {0: 0x05050505, 1: 0x05050505, 2: 1, 3: 0, 4: 0}
    o.function, o.mixed = driver.kernel("with_shared"), driver.kernel("mixed")
    driver.modules.append(driver.output("cuModuleLoadData", CLUSTERED))
    o.clustered = driver.output("cuModuleGetFunction", driver.modules[-1], b"clustered")
    o.most_shared = driver.output("cuDeviceGetAttribute", 97, 0, kind=ctypes.c_int32) - KIB
    yield o
    assert driver.cuStreamSynchronize(stream) == 0
    driver.cuEventDestroy(o.event)
    for address in (o.memory, o.other, o.managed):
        driver.cuMemFree(address)
    driver.cuMemFreeHost(o.pinned)


@pytest.mark.parametrize("row", ROWS, ids=[f"{row[0]}-{i}" for i, row in enumerate(ROWS)])
def test_values_beyond_the_limit_are_refused(driver, objects, row):
    name, arguments, accepted, refused, code = row
    function, destroy = getattr(driver, name), DESTROYERS.get(name)
    for value in accepted:
        values = arguments(objects, value)
        assert function(*values) == 0, value
        if destroy:
            assert getattr(driver, destroy)(values[0][0]) == 0
    assert [function(*arguments(objects, value)) for value in refused] == [code] * len(refused)
