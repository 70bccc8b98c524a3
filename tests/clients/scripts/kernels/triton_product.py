# SPDX-License-Identifier: Apache-2.0
"""Triton: kernels with masks and a matrix product, on arrays of its caller."""

import numpy as np
import triton
import triton.language as tl
from cuda.bindings import driver


class Array:
    """An argument as Triton needs it: a type and an address."""

    def __init__(self, values):
        self.dtype, self.values = values.dtype, values
        _, self.place = driver.cuMemAlloc(values.nbytes)
        driver.cuMemcpyHtoD(self.place, values.ctypes.data, values.nbytes)

    def data_ptr(self):
        return int(self.place)

    def read(self):
        driver.cuCtxSynchronize()
        driver.cuMemcpyDtoH(self.values.ctypes.data, self.place, self.values.nbytes)
        return self.values


@triton.jit
def add(x, y, out, count, block: tl.constexpr):
    place = tl.program_id(0) * block + tl.arange(0, block)
    inside = place < count
    tl.store(out + place, tl.load(x + place, inside) + tl.load(y + place, inside), inside)


@triton.jit
def multiply(a, b, c, n: tl.constexpr):
    i = tl.arange(0, n)
    place = i[:, None] * n + i[None, :]
    tl.store(c + place, tl.dot(tl.load(a + place), tl.load(b + place)))


driver.cuInit(0)
_, context = driver.cuDevicePrimaryCtxRetain(0)
driver.cuCtxSetCurrent(context)

x = np.arange(1000, dtype=np.float32)
out = Array(np.zeros_like(x))
add[(8,)](Array(x), Array(x.copy()), out, x.size, block=128)
assert np.array_equal(out.read(), 2 * x)

a, b = np.random.default_rng(0).random((2, 32, 32)).astype(np.float16)
c = Array(np.zeros((32, 32), np.float32))
multiply[(1,)](Array(a), Array(b), c, n=32)
assert np.allclose(c.read(), a.astype(np.float32) @ b.astype(np.float32), rtol=1e-3)
print(f"triton: sum {out.values.sum():.0f}, a product of {c.values.shape}")
