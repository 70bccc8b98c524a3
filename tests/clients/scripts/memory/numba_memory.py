# SPDX-License-Identifier: Apache-2.0
"""Numba allocates its device memory from our resource, and frees all of it."""

import gc

import numpy as np

if not hasattr(np, "row_stack"):  # numba-cuda 0.30 names it at import; NumPy 2.5 removed it
    np.row_stack = np.vstack
from cuda.core import Device, DeviceMemoryResource, StatisticsMemoryResource
from cuda.core.interop import numba_memory_manager
from numba import cuda

N = 1000

device = Device()
device.set_current()
mr = StatisticsMemoryResource(DeviceMemoryResource(device))
cuda.set_memory_manager(numba_memory_manager(mr))


@cuda.jit
def axpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


x = cuda.to_device(np.arange(N, dtype=np.float64))
y = cuda.to_device(np.ones(N))
assert mr.statistics()["allocated_bytes.current"] == 16 * N
axpy[8, 128](2.0, x, y)
assert np.array_equal(y.copy_to_host(), 1.0 + 2.0 * np.arange(N))
free, total = cuda.current_context().get_memory_info()
assert 0 < free <= total
view = y[: N // 2]
del x, y
gc.collect()
assert mr.statistics()["allocated_bytes.current"] == 8 * N
assert view.copy_to_host().sum() == 250000
del view
gc.collect()
figures = mr.statistics()
assert figures["allocated_bytes.current"] == 0, figures
print(f"numba took {figures['allocated_bytes.total']} bytes and gave them back")
