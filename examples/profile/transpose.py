# SPDX-License-Identifier: Apache-2.0
"""Count the bank conflicts of a transpose, with and without a padded column.

A block transposes a tile of 32 x 32 numbers through shared memory. Lanes that read a column of the
tile access one bank 32 times, unless each row has a column more. Runs on the emulator, which counts
every access. Prints the counters of both kernels, the advice, and "correct".
"""

import sys

import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, emulation, launch

SOURCE = r"""
template <int Width>
__device__ void transpose(const float *in, float *out, int n) {
    __shared__ float tile[32][Width];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void transpose_tile(const float *in, float *out, int n) {
    transpose<32>(in, out, n);
}
extern "C" __global__ void transpose_padded(const float *in, float *out, int n) {
    transpose<33>(in, out, n);
}
"""
N = 64


def main() -> int:
    emulation.enable()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    options = ProgramOptions(arch=f"sm_{device.arch}", lineinfo=True, name="transpose.cu")
    code = Program(SOURCE, "c++", options).compile("cubin")
    config = LaunchConfig(grid=(N // 32, N // 32), block=(32, 32))

    matrix = np.arange(N * N, dtype=np.float32).reshape(N, N)
    result = np.empty_like(matrix)
    with (
        device.allocate(matrix.nbytes, stream=stream) as input,
        device.allocate(matrix.nbytes, stream=stream) as output,
    ):
        input.copy_from(matrix, stream=stream)
        with emulation.profile() as profile:
            for name in ("transpose_tile", "transpose_padded"):
                launch(stream, config, code.get_kernel(name), input, output, N)
        output.copy_to(result, stream=stream)
        stream.sync()
    stream.close()

    print(profile)
    # Each of N * N / 32 loads of a column accesses 32 words of one bank, one after the other.
    assert profile["transpose_tile"].bank_conflicts == N * N // 32 * 31
    assert profile["transpose_padded"].bank_conflicts == 0
    # Global memory is read and written in whole sectors: 4 for a row of 32 numbers.
    assert profile["transpose_padded"].sectors_per_request == 4
    correct = (result == matrix.T).all()
    print("correct" if correct else "WRONG")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
