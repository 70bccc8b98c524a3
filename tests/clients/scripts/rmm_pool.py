# SPDX-License-Identifier: Apache-2.0
"""rmm: a pool and buffers on our streams, read through our driver and runtime calls."""

import numpy as np
import rmm
from cuda.bindings import driver, runtime
from cuda.core import Device
from rmm.pylibrmm.stream import Stream

N = 1000

device = Device()
device.set_current()
pool = rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), 1 << 20, 1 << 22)
counted = rmm.mr.StatisticsResourceAdaptor(pool)
rmm.mr.set_current_device_resource(counted)

ours = device.create_stream()
stream = Stream(ours)
assert stream.__cuda_stream__()[1] == int(ours.handle)
host = np.arange(N, dtype=np.float64)
first = rmm.DeviceBuffer.to_device(host.view(np.uint8), stream)
assert first.size == 8 * N and counted.allocation_counts.current_bytes >= first.size

# rmm copies with cudaMemcpyAsync, cimported from our cyruntime
readback = np.zeros(N)
first.copy_to_host(readback.view(np.uint8), stream)
stream.synchronize()
assert np.array_equal(readback, host)

second = rmm.DeviceBuffer(size=8 * N, stream=stream)
second.copy_from_device(first, stream)
(error,) = driver.cuMemsetD8Async(first.ptr, 0, 8 * N, ours.handle)
assert error == driver.CUresult.CUDA_SUCCESS
error, attributes = runtime.cudaPointerGetAttributes(second.ptr)
assert error == runtime.cudaError_t.cudaSuccess
assert attributes.type == runtime.cudaMemoryType.cudaMemoryTypeDevice
read = np.empty((2, N))
for row, source in zip(read, (first, second), strict=True):
    kind = runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost
    (error,) = runtime.cudaMemcpyAsync(row.ctypes.data, source.ptr, 8 * N, kind, ours.handle)
    assert error == runtime.cudaError_t.cudaSuccess
ours.sync()
assert not read[0].any() and np.array_equal(read[1], host)
del first, second, source
assert counted.allocation_counts.current_bytes == 0
print(f"rmm buffers of {8 * N} bytes on a pool, sum {read.sum():.0f}")
