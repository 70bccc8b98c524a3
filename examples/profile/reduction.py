# SPDX-License-Identifier: Apache-2.0
"""Count the atomic operations and the divergence of three sums.

The first kernel adds each number to one address. The second adds in shared memory, with a stride
that makes every warp diverge. The third adds in registers of a warp, and once for each warp. Runs
on the emulator. Prints the counters of the kernels, and "correct" if the sums equal NumPy's.
"""

import sys

import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, emulation, launch

SOURCE = r"""
extern "C" __global__ void sum_by_atomics(const int *in, int *out) {
    atomicAdd(out, in[blockIdx.x * blockDim.x + threadIdx.x]);
}

extern "C" __global__ void sum_in_shared_memory(const int *in, int *out) {
    __shared__ int part[256];
    const int t = threadIdx.x;
    part[t] = in[blockIdx.x * blockDim.x + t];
    for (int step = 1; step < blockDim.x; step *= 2) {
        __syncthreads();
        if (t % (2 * step) == 0) part[t] += part[t + step];
    }
    if (t == 0) atomicAdd(out, part[0]);
}

extern "C" __global__ void sum_in_warps(const int *in, int *out) {
    int value = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(~0u, value, step);
    if (threadIdx.x % 32 == 0) atomicAdd(out, value);
}
"""
BLOCKS, THREADS = 16, 256
N = BLOCKS * THREADS
NAMES = ("sum_by_atomics", "sum_in_shared_memory", "sum_in_warps")


def main() -> int:
    emulation.enable()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    options = ProgramOptions(arch=f"sm_{device.arch}", lineinfo=True, name="reduction.cu")
    code = Program(SOURCE, "c++", options).compile("cubin")
    config = LaunchConfig(grid=BLOCKS, block=THREADS)

    numbers = np.random.default_rng(1).integers(0, 1000, N, np.int32)
    sums = np.zeros(len(NAMES), np.int32)
    with (
        device.allocate(numbers.nbytes, stream=stream) as input,
        device.allocate(sums.nbytes, stream=stream) as output,
    ):
        input.copy_from(numbers, stream=stream)
        output.copy_from(sums, stream=stream)
        with emulation.profile() as profile:
            for i, name in enumerate(NAMES):
                target = int(output.handle) + i * sums.itemsize
                launch(stream, config, code.get_kernel(name), input, target)
        output.copy_to(sums, stream=stream)
        stream.sync()
    stream.close()

    print(profile)
    by_atomics, in_shared_memory, in_warps = (profile[name] for name in NAMES)
    # 31 of the 32 lanes of each warp wait for another one.
    assert by_atomics.atomic_repeats == N // 32 * 31
    assert in_shared_memory.atomic_repeats == in_warps.atomic_repeats == 0
    assert in_warps.atomics == N // 32
    # The first five steps divide all 8 warps of a block. The last three divide the warps of which
    # one lane adds, as does the last line.
    assert in_shared_memory.divergent_branches == BLOCKS * (5 * 8 + 4 + 2 + 1 + 1)
    assert in_warps.barriers == 0 and in_shared_memory.barriers == BLOCKS * 8 * 8
    correct = (sums == numbers.sum()).all()
    print("correct" if correct else "WRONG")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
