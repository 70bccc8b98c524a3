# SPDX-License-Identifier: Apache-2.0
"""numba-cuda: kernels with shared memory and atomics, through NVVM and nvJitLink."""

import numpy as np

if not hasattr(np, "row_stack"):  # numba-cuda 0.30 names it at import; NumPy 2.5 removed it
    np.row_stack = np.vstack
from numba import cuda, float64

N, BLOCK = 1000, 128


@cuda.jit(lineinfo=True, lto=True)
def axpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


@cuda.jit(lineinfo=True, lto=True)
def total(x, out):
    part = cuda.shared.array(BLOCK, float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    part[t] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    step = BLOCK // 2
    while step:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, part[0])


stream = cuda.stream()
x = cuda.to_device(np.arange(N, dtype=np.float64), stream=stream)
y = cuda.to_device(np.ones(N), stream=stream)
out = cuda.to_device(np.zeros(1), stream=stream)
start, end = cuda.event(), cuda.event()
blocks = (N + BLOCK - 1) // BLOCK

start.record(stream)
axpy[blocks, BLOCK, stream](2.0, x, y)
total[blocks, BLOCK, stream](y, out)
end.record(stream)
end.synchronize()

assert np.array_equal(y.copy_to_host(), 1.0 + 2.0 * np.arange(N))
assert out.copy_to_host()[0] == 1e6, out.copy_to_host()
assert start.elapsed_time(end) >= 0.0
print(f"numba kernels: sum {out.copy_to_host()[0]:.0f}")
