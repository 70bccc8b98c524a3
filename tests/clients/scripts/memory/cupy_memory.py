# SPDX-License-Identifier: Apache-2.0
"""CuPy allocates from our resource, on its current stream, and frees the memory."""

import gc

import cupy
from cuda.core import (
    Device,
    DeviceMemoryResource,
    LimitingMemoryResource,
    StatisticsMemoryResource,
    TrackingMemoryResource,
)
from cuda.core.interop import cupy_allocator

N = 1000

device = Device()
device.set_current()
limited = LimitingMemoryResource(DeviceMemoryResource(device), 1 << 20)
tracked = TrackingMemoryResource(limited)
mr = StatisticsMemoryResource(tracked)
allocator = cupy.cuda.PythonFunctionAllocator(*cupy_allocator(mr))
cupy.cuda.set_allocator(allocator.malloc)

x = cupy.arange(N, dtype=cupy.float32)
stream = cupy.cuda.Stream(non_blocking=True)
with stream:
    y = cupy.ones(N, cupy.float32)
    y += 2 * cupy.arange(N, dtype=cupy.float32)
    total = float(y.sum())
assert total == N + N * (N - 1)
assert mr.statistics()["allocated_bytes.current"] >= 8 * N
streams = {record.stream for record in tracked.report_leaks()}
assert stream.ptr in streams and len(streams) == 2, streams
try:
    cupy.empty(1 << 20, cupy.float32)
except MemoryError as error:
    assert "its limit of 1048576 bytes" in str(error), error
else:
    raise AssertionError("the limit was not kept")
assert cupy.empty(0).size == 0
del stream, x
del y  # after the stream on which it is freed
gc.collect()
figures = mr.statistics()
assert figures["allocated_bytes.current"] == 0, tracked.report_leaks()
print(f"CuPy took {figures['allocated_bytes.total']} bytes and gave them back")
