# SPDX-License-Identifier: Apache-2.0
"""Synchronizes all blocks of a grid within one launch.

Smooths a line of numbers in several steps. Each step reads what the neighboring blocks wrote in the
previous one, so all blocks synchronize in between. Only a cooperative launch guarantees that all
blocks run at the same time; the grid has as many blocks as fit on the device. Prints the grid, and
"correct" if the numbers equal NumPy's.
"""

import sys

import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

SOURCE = r"""
__device__ void wait_for_all_blocks(unsigned *arrived, unsigned turn) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < turn * gridDim.x) continue;
        __threadfence();
    }
    __syncthreads();
}

extern "C" __global__ void smooth(float *now, float *next, unsigned n, unsigned steps,
                                  unsigned *arrived) {
    for (unsigned step = 1; step <= steps; ++step) {
        for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
            next[i] = (now[i == 0 ? 0 : i - 1] + now[i] + now[i + 1 == n ? i : i + 1]) / 3;
        wait_for_all_blocks(arrived, step);
        float *const old = now;
        now = next;
        next = old;
    }
}
"""
N, STEPS, BLOCK = 1000, 10, 64


def smoothed(line):
    for _ in range(STEPS):
        wide = np.pad(line, 1, mode="edge")
        line = (wide[:-2] + wide[1:-1] + wide[2:]) / np.float32(3)
    return line


def main() -> int:
    device = Device()
    device.set_current()
    if not device.properties.cooperative_launch:
        print("nothing to do: this device has no cooperative launches")
        return 0
    stream = device.create_stream()
    options = ProgramOptions(arch=f"sm_{device.arch}")
    kernel = Program(SOURCE, "c++", options).compile("cubin").get_kernel("smooth")
    blocks_at_once = kernel.occupancy.max_active_blocks_per_multiprocessor(BLOCK, 0)
    grid = min(8, blocks_at_once * device.properties.multiprocessor_count)
    config = LaunchConfig(grid=grid, block=BLOCK, is_cooperative=True)

    line = np.random.default_rng(1).random(N, np.float32)
    result = np.empty_like(line)
    with (
        device.allocate(line.nbytes, stream=stream) as first,
        device.allocate(line.nbytes, stream=stream) as second,
        device.allocate(4, stream=stream) as arrived,
    ):
        first.copy_from(line, stream=stream)
        arrived.fill(0, stream=stream)
        launch(stream, config, kernel, first, second, N, STEPS, arrived)
        (first if STEPS % 2 == 0 else second).copy_to(result, stream=stream)
        stream.sync()
    stream.close()
    correct = np.allclose(result, smoothed(line), rtol=1e-5)
    print(f"{grid} blocks of {BLOCK} threads, {STEPS} steps: {'correct' if correct else 'WRONG'}")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
