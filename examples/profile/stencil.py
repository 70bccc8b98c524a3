# SPDX-License-Identifier: Apache-2.0
"""Count the memory traffic of a stencil, with and without shared memory.

Each result is the mean of seven neighbors. The first kernel loads all seven from global memory. The
second loads a block of numbers once, and the seven from shared memory. Runs on the emulator. Prints
the counters of both kernels, and "correct" if the results equal NumPy's.
"""

import sys

import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, emulation, launch

SOURCE = r"""
constexpr int radius = 3, threads = 128;

extern "C" __global__ void stencil_global(const float *in, float *out) {
    const int i = blockIdx.x * threads + threadIdx.x;
    float sum = 0;
    for (int k = 0; k <= 2 * radius; ++k) sum += in[i + k];
    out[i] = sum;
}

extern "C" __global__ void stencil_shared(const float *in, float *out) {
    __shared__ float part[threads + 2 * radius];
    const int t = threadIdx.x, i = blockIdx.x * threads + t;
    part[t] = in[i];
    if (t < 2 * radius) part[threads + t] = in[i + threads];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k <= 2 * radius; ++k) sum += part[t + k];
    out[i] = sum;
}
"""
RADIUS, THREADS, BLOCKS = 3, 128, 8
N, WARPS = THREADS * BLOCKS, THREADS * BLOCKS // 32


def main() -> int:
    emulation.enable()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    options = ProgramOptions(arch=f"sm_{device.arch}", lineinfo=True, name="stencil.cu")
    code = Program(SOURCE, "c++", options).compile("cubin")

    numbers = np.arange(N + 2 * RADIUS, dtype=np.float32) % 100
    expected = sum(numbers[k : N + k] for k in range(2 * RADIUS + 1))
    result = np.empty(N, np.float32)
    correct = True
    with (
        device.allocate(numbers.nbytes, stream=stream) as input,
        device.allocate(result.nbytes, stream=stream) as output,
    ):
        input.copy_from(numbers, stream=stream)
        with emulation.profile() as profile:
            for name in ("stencil_global", "stencil_shared"):
                config = LaunchConfig(grid=BLOCKS, block=THREADS)
                launch(stream, config, code.get_kernel(name), input, output)
                output.copy_to(result, stream=stream)
                stream.sync()
                correct &= (result == expected).all()
    stream.close()

    print(profile)
    # A warp loads four sectors at a multiple of 32 bytes, and five at six other addresses.
    assert profile["stencil_global"].global_load_sectors == WARPS * (4 + 6 * 5)
    # Four sectors for each warp, and one for the numbers behind each block.
    assert profile["stencil_shared"].global_load_sectors == WARPS * 4 + BLOCKS
    assert profile["stencil_shared"].bank_conflicts == 0
    print("correct" if correct else "WRONG")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
