# SPDX-License-Identifier: Apache-2.0
"""A kernel whose tiles of a matrix are copied to shared memory by the copy unit (TMA).

The map describes the matrix. One thread of a block requests a tile by its coordinates, and all
threads write the tile transposed. Elements outside of the matrix are zero. Needs a GPU of compute
capability 9.0. Prints the map, and "correct" if the result equals NumPy's.
"""

import sys

import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
from cuda.core.utils import StridedMemoryView

SOURCE = r"""
struct alignas(64) Map { unsigned long long words[16]; };  // CUtensorMap of cuda.h

extern "C" __global__ void transpose(const __grid_constant__ Map map, float *out, unsigned rows,
                                     unsigned columns) {
    __shared__ alignas(128) float tile[16][16];
    __shared__ alignas(8) unsigned long long arrived;
    const unsigned to = (unsigned)__cvta_generic_to_shared(tile);
    const unsigned barrier = (unsigned)__cvta_generic_to_shared(&arrived);
    const unsigned x = blockIdx.x * 16, y = blockIdx.y * 16;
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(barrier));
        asm volatile("fence.proxy.async.shared::cta;");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;"
                     :: "r"(barrier) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
                     ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                     :: "r"(to), "l"(&map), "r"(x), "r"(y), "r"(barrier) : "memory");
    }
    __syncthreads();
    unsigned is_there = 0;
    while (!is_there)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0;"
                     " selp.u32 %0, 1, 0, p; }" : "=r"(is_there) : "r"(barrier) : "memory");
    const unsigned row = x + threadIdx.y, column = y + threadIdx.x;
    if (row < columns && column < rows)
        out[row * rows + column] = tile[threadIdx.x][threadIdx.y];
}
"""
ROWS, COLUMNS, TILE = 100, 72, 16


def main() -> int:
    device = Device()
    device.set_current()
    if device.compute_capability < (9, 0) or device.name.startswith("Emulated"):
        print("nothing to do: tensor maps need a GPU of compute capability 9.0")
        return 0
    stream = device.create_stream()
    options = ProgramOptions(arch=f"sm_{device.arch}")
    kernel = Program(SOURCE, "c++", options).compile("cubin").get_kernel("transpose")
    grid = (-(-COLUMNS // TILE), -(-ROWS // TILE))

    matrix = np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS)
    result = np.empty((COLUMNS, ROWS), np.float32)
    with (
        device.allocate(matrix.nbytes, stream=stream) as memory,
        device.allocate(matrix.nbytes, stream=stream) as out,
    ):
        memory.copy_from(matrix, stream=stream)
        view = StridedMemoryView.from_buffer(memory, matrix.shape, dtype=np.float32)
        tiles = view.as_tensor_map((TILE, TILE))
        config = LaunchConfig(grid=grid, block=(TILE, TILE))
        launch(stream, config, kernel, tiles, out, ROWS, COLUMNS)
        out.copy_to(result, stream=stream)
        stream.sync()
    stream.close()
    correct = (result == matrix.T).all()
    print(f"{tiles}: {'correct' if correct else 'WRONG'}")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
