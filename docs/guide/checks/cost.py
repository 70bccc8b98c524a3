# SPDX-License-Identifier: Apache-2.0
"""Print the time of three kernels in milliseconds, for each set of checks."""

import os
import subprocess
import sys
import time

from common import device, stream
from cuda.core import LaunchConfig, Program, ProgramOptions, launch

SETS = ("memory,sync", "race", "init", "hazard", "barrier", "all")
SOURCE = """
extern "C" __global__ void saxpy(float* y, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i] + y[i];
}
extern "C" __global__ void product(float* c, const float* a, const float* b, int n) {
    __shared__ float s[16][16], t[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        s[y][x] = a[row * n + k + x];
        t[y][x] = b[(k + y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += s[y][i] * t[i][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
extern "C" __global__ void reduction(float* total, const float* x, int n) {
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0) atomicAdd(total, s[0]);
}
"""


def times():
    """Return the shortest CPU time of each kernel, from 10 launches."""
    code = Program(SOURCE, "c++", ProgramOptions(arch="sm_90")).compile("ptx")
    elements, side = 1 << 20, 256
    a, b, c = (device.allocate(4 * elements, stream=stream) for _ in range(3))
    for each in (a, b, c):
        each.fill(0, stream=stream)
    lines = LaunchConfig(grid=elements // 256, block=256)
    tiles = LaunchConfig(grid=(side // 16, side // 16), block=(16, 16))
    launches = (
        ("saxpy", lines, (a, b, elements)),
        ("product", tiles, (c, a, b, side)),
        ("reduction", lines, (c, a, elements)),
    )
    for name, config, arguments in launches:
        kernel, spent = code.get_kernel(name), []
        for _ in range(10):
            stream.sync()
            start = time.process_time()
            launch(stream, config, kernel, *arguments)
            stream.sync()
            spent.append(time.process_time() - start)
        yield 1000 * min(spent)


def main():
    if "HALFWARP_EMULATOR_CHECK" in os.environ:
        print(*(f"{each:9.1f}" for each in times()))
        return
    print(f"{'':12}    saxpy   product reduction", flush=True)
    for checks in SETS:
        print(f"{checks:12}", end="", flush=True)
        environment = os.environ | {"HALFWARP_EMULATOR_CHECK": checks}
        subprocess.run([sys.executable, __file__], env=environment, check=True)


if __name__ == "__main__":
    main()
