# SPDX-License-Identifier: Apache-2.0
"""HALFWARP_BACKEND=emulator python -m benchmarks.tensor_cores [--order N] [--rounds N]

Times a tiled product of matrices of f16 with mma, and the same product without tensor cores. Both
kernels share tiles of 64 by 64 results with the same loads, and add floats. The times are the
minima of alternating rounds in milliseconds. The program fails if the results differ by more than
rounding, or if mma takes longer.
"""

import argparse
import sys
import time

import numpy
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

SOURCE = r"""
typedef unsigned short half;
__device__ float number(half x) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x));
  return f;
}

// A by rows, and B by columns: each row of 16 elements has two units of 16 bytes.
__device__ void load(int n, int k, const half* from, int first, half (*to)[16]) {
  int row = threadIdx.x / 2, unit = threadIdx.x % 2 * 8;
  *(uint4*)&to[row][unit] = *(const uint4*)&from[(first + row) * n + k + unit];
}

extern "C" __global__ void scalar(int n, const half* a, const half* b, float* c) {
  __shared__ __align__(16) half left[64][16], right[64][16];
  int row = threadIdx.x / 16 * 8, column = threadIdx.x % 16;
  float sums[8][4] = {};
  for (int k = 0; k < n; k += 16) {
    load(n, k, a, blockIdx.y * 64, left);
    load(n, k, b, blockIdx.x * 64, right);
    __syncthreads();
    for (int i = 0; i < 16; ++i) {
      float x[8], y[4];
      for (int r = 0; r < 8; ++r) x[r] = number(left[row + r][i]);
      for (int j = 0; j < 4; ++j) y[j] = number(right[column + 16 * j][i]);
      for (int r = 0; r < 8; ++r)
        for (int j = 0; j < 4; ++j) sums[r][j] += x[r] * y[j];
    }
    __syncthreads();
  }
  for (int r = 0; r < 8; ++r)
    for (int j = 0; j < 4; ++j)
      c[(blockIdx.y * 64 + row + r) * n + blockIdx.x * 64 + column + 16 * j] = sums[r][j];
}

extern "C" __global__ void tensor(int n, const half* a, const half* b, float* c) {
  __shared__ __align__(16) half left[64][16], right[64][16];
  int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16;
  float sums[8][4] = {};
  for (int k = 0; k < n; k += 16) {
    load(n, k, a, blockIdx.y * 64, left);
    load(n, k, b, blockIdx.x * 64, right);
    __syncthreads();
    unsigned x[4], y[4];
    unsigned at = (unsigned)__cvta_generic_to_shared(&left[row + lane % 16][lane / 16 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(at));
    for (int j = 0; j < 8; j += 2) {
      int unit = lane / 8 % 2 * 8, column = (j + lane / 16) * 8 + lane % 8;
      at = (unsigned)__cvta_generic_to_shared(&right[column][unit]);
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(y[0]), "=r"(y[1]), "=r"(y[2]), "=r"(y[3]) : "r"(at));
      for (int i = 0; i < 2; ++i) {
        float* d = sums[j + i];
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3},"
                     "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[2 * i]),
                       "r"(y[2 * i + 1]));
      }
    }
    __syncthreads();
  }
  for (int j = 0; j < 8; ++j)
    for (int i = 0; i < 4; ++i) {
      int to = blockIdx.y * 64 + row + lane / 4 + i / 2 * 8;
      c[to * n + blockIdx.x * 64 + 8 * j + lane % 4 * 2 + i % 2] = sums[j][i];
    }
}
"""


def products(order, rounds):
    """Return the minimum milliseconds and the result of each kernel."""
    device = Device()
    device.set_current()
    stream, memory = device.create_stream(), LegacyPinnedMemoryResource()
    module = Program(SOURCE, "c++").compile("ptx")
    generator = numpy.random.default_rng(1)
    inputs = [memory.allocate(2 * order * order) for _ in range(2)]
    for buffer in inputs:
        view = numpy.from_dlpack(buffer).view(numpy.float16)
        view[:] = generator.standard_normal(view.size).astype(numpy.float16)
    config = LaunchConfig(grid=(order // 64, order // 64), block=128)
    times, results = {"scalar": [], "tensor": []}, {}
    for name in list(times) * (rounds + 1):
        result = results.setdefault(name, memory.allocate(4 * order * order))
        start = time.perf_counter_ns()
        launch(stream, config, module.get_kernel(name), order, *inputs, result)
        stream.sync()
        times[name].append((time.perf_counter_ns() - start) / 1e6)
    views = {name: numpy.from_dlpack(each).view(numpy.float32) for name, each in results.items()}
    return {name: (min(times[name][1:]), views[name].copy()) for name in times}


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tensor_cores", description=__doc__)
    parser.add_argument("--order", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=5)
    parsed = parser.parse_args()
    if parsed.order < 64 or parsed.order % 64:
        parser.error("the order must be a multiple of 64")
    rows = products(parsed.order, parsed.rounds)
    for name, (milliseconds, _) in rows.items():
        print(f"{name:8}{milliseconds:10.3f} ms")
    (scalar, expected), (tensor, result) = rows["scalar"], rows["tensor"]
    if not numpy.allclose(result, expected, rtol=1e-4, atol=1e-2):
        sys.exit("the results differ")
    if tensor > scalar:
        sys.exit("mma takes longer")


if __name__ == "__main__":
    main()
