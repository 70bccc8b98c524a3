# SPDX-License-Identifier: Apache-2.0
"""Times three kernels on the emulator and their C twins; prints one JSON line per kernel.

Started by `python -m benchmarks.emulator_speed` with the library of the twins and the rounds.
"""

import ctypes
import json
import sys
import time

import numpy
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

SOURCE = r"""
extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void matmul(int n, const float* a, const float* b, float* c) {
  __shared__ float left[16][16], right[16][16];
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int tile = 0; tile < n; tile += 16) {
    left[threadIdx.y][threadIdx.x] = a[row * n + tile + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

extern "C" __global__ void reduction(int n, const float* x, float* sums) {
  __shared__ float values[256];
  values[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
  for (int step = 128; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) values[threadIdx.x] += values[threadIdx.x + step];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = values[0];
}
"""
ELEMENTS, ORDER = 1 << 20, 192
# Kernel: grid, block, the number and the float it takes, the sizes of its arrays.
KERNELS = {
    "saxpy": (ELEMENTS // 256, 256, (ELEMENTS, 2.0), (ELEMENTS, ELEMENTS)),
    "matmul": ((ORDER // 16, ORDER // 16), (16, 16), (ORDER,), (ORDER * ORDER,) * 3),
    "reduction": (ELEMENTS // 256, 256, (ELEMENTS,), (ELEMENTS, ELEMENTS // 256)),
}


def least(call, rounds):
    """Return the minimum milliseconds of a call."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter_ns()
        call()
        times.append(time.perf_counter_ns() - start)
    return min(times) / 1e6


class Comparison:
    def __init__(self, twins):
        self.twins = ctypes.CDLL(twins)
        device = Device()
        device.set_current()
        self.stream = device.create_stream()
        self.module = Program(SOURCE, "c++").compile("ptx")
        self.memory = LegacyPinnedMemoryResource()

    def arrays(self, sizes):
        """Return equal arrays of host memory for the kernel and for its twin."""
        buffers = [self.memory.allocate(4 * size) for size in sizes]
        views = [numpy.from_dlpack(buffer).view(numpy.float32) for buffer in buffers]
        for number, view in enumerate(views):
            view[:] = numpy.random.default_rng(number).random(view.size, numpy.float32)
        return buffers, views, [view.copy() for view in views]

    def compare(self, name, rounds):
        """Return the milliseconds of the twin and of the kernel, after a check of the results."""
        grid, block, scalars, sizes = KERNELS[name]
        buffers, views, copies = self.arrays(sizes)
        kernel, config = self.module.get_kernel(name), LaunchConfig(grid=grid, block=block)
        twin = getattr(self.twins, name)
        kinds = {int: ctypes.c_int, float: ctypes.c_float}
        values = [kinds[type(value)](value) for value in scalars]
        values += [ctypes.c_void_p(copy.ctypes.data) for copy in copies]

        def emulate():
            launch(self.stream, config, kernel, *scalars, *buffers)
            self.stream.sync()

        emulate()
        twin(*values)
        numpy.testing.assert_allclose(views[-1], copies[-1], rtol=1e-4)
        return least(lambda: twin(*values), 4 * rounds), least(emulate, rounds)


def main(twins, rounds):
    comparison = Comparison(twins)
    for name in KERNELS:
        twin, emulated = comparison.compare(name, int(rounds))
        print(json.dumps({"kernel": name, "openmp": twin, "emulated": emulated}))


if __name__ == "__main__":
    main(*sys.argv[1:])
