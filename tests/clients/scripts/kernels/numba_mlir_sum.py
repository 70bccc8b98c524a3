# SPDX-License-Identifier: Apache-2.0
"""numba-cuda-mlir: atomics and shared memory, with PTX in the cubin."""

import numpy as np
from numba_cuda_mlir import cuda

BLOCKS, BLOCK = 8, 128


@cuda.jit(lineinfo=True)
def reverse(x, y, total):
    part = cuda.shared.array(BLOCK, np.int64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    part[BLOCK - 1 - t] = x[i]
    cuda.syncthreads()
    cuda.atomic.add(total, 0, part[t])
    y[x.size - 1 - i] = x[i]


x = cuda.to_device(np.arange(BLOCKS * BLOCK))
y = cuda.device_array_like(x)
total = cuda.to_device(np.zeros(1, np.int64))
reverse[BLOCKS, BLOCK](x, y, total)
assert np.array_equal(y.copy_to_host(), np.arange(BLOCKS * BLOCK)[::-1])
print(f"numba-cuda-mlir: sum {total.copy_to_host()[0]}")
