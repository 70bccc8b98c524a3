# SPDX-License-Identifier: Apache-2.0
"""Cooperative launches: the whole grid waits together; groups of several warps; exited members."""

import numpy as np
import pytest
from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    ProgramOptions,
    launch,
)

from ...libraries import header_options

NAMES = ["pass_on", "tiles_of_64", "tiles_of_128", "with_exited", "from_exited"]
SOURCE = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

// Each round reads a value that another block wrote in the previous round.
extern "C" __global__ void pass_on(unsigned* cells, unsigned rounds) {
    cg::grid_group grid = cg::this_grid();
    unsigned from = (blockIdx.x + 1) % gridDim.x;
    for (unsigned i = 0; i < rounds; ++i) {
        unsigned seen = cells[from * blockDim.x + threadIdx.x];
        grid.sync();
        cells[blockIdx.x * blockDim.x + threadIdx.x] = seen + 1;
        grid.sync();
    }
}

template <int Size>
__device__ void sum_in_tiles(unsigned* out) {
    __shared__ cg::block_tile_memory<256> scratch;
    auto block = cg::this_thread_block(scratch);
    auto tile = cg::tiled_partition<Size>(block);
    for (unsigned i = 0; i < 3; ++i) {
        out[threadIdx.x] += cg::reduce(tile, threadIdx.x + i, cg::plus<unsigned>());
        tile.sync();
    }
}
extern "C" __global__ void tiles_of_64(unsigned* out) { sum_in_tiles<64>(out); }
extern "C" __global__ void tiles_of_128(unsigned* out) { sum_in_tiles<128>(out); }

// Finished lanes return; the others name them in the mask all the same.
extern "C" __global__ void with_exited(unsigned* out) {
    if (threadIdx.x >= 10) return;
    unsigned value = threadIdx.x;
    unsigned next = __shfl_sync(0xffffffff, value, threadIdx.x == 9 ? 9 : threadIdx.x + 1);
    value = threadIdx.x == 9 ? next : value + next;
    __syncwarp();
    if (__all_sync(0xffffffff, 1)) out[threadIdx.x] = value;
}

// All lanes have exchanged other values before, and three of four have exited.
extern "C" __global__ void from_exited(unsigned* out) {
    unsigned value = __shfl_xor_sync(0xffffffff, threadIdx.x + 100, 1);
    if (threadIdx.x % 4 != 0) return;
    value += __shfl_down_sync(0xffffffff, value, 1, 4);
    out[threadIdx.x] = value + __shfl_down_sync(0xffffffff, value, 2, 4);
}
"""


@pytest.fixture(scope="module")
def kernels():
    device = Device()
    device.set_current()
    options = ProgramOptions(arch=f"sm_{device.arch}", std="c++17", **header_options())
    code = Program(SOURCE, "c++", options).compile("cubin")
    return {name: code.get_kernel(name) for name in NAMES}  # loaded before the first test


def run(kernel, out, *values, grid=1, block=256, cooperative=False):
    memory = LegacyPinnedMemoryResource()
    with memory.allocate(out.nbytes) as buffer, Device().create_stream() as stream:
        view = np.from_dlpack(buffer).view(out.dtype)
        view[:] = out
        config = LaunchConfig(grid=grid, block=block, is_cooperative=cooperative)
        launch(stream, config, kernel, buffer, *values)
        stream.sync()
        return view.copy()


@pytest.mark.parametrize("blocks", [1, 2, 4])
def test_the_blocks_of_a_grid_wait_for_each_other(kernels, blocks):
    rounds = 7
    start = np.arange(blocks * 64, dtype=np.uint32)
    done = run(
        kernels["pass_on"], start, np.uint32(rounds),
        grid=blocks, block=64, cooperative=True,
    )  # fmt: skip
    expected = np.roll(start.reshape(blocks, 64), -rounds, axis=0) + rounds
    np.testing.assert_array_equal(done.reshape(blocks, 64), expected)


def test_a_second_cooperative_launch_synchronizes_again(kernels):
    for _ in range(3):
        done = run(
            kernels["pass_on"], np.zeros(64, dtype=np.uint32), np.uint32(1),
            grid=2, block=32, cooperative=True,
        )  # fmt: skip
        assert (done == 1).all()


@pytest.mark.parametrize("size", [64, 128])
def test_tiles_of_several_warps_reduce_and_wait(kernels, size):
    done = run(kernels[f"tiles_of_{size}"], np.zeros(256, dtype=np.uint32))
    ranks = np.arange(256, dtype=np.uint32).reshape(-1, size)
    sums = sum(np.repeat((ranks + i).sum(axis=1), size) for i in range(3))
    np.testing.assert_array_equal(done, sums)


def test_a_mask_may_name_lanes_that_have_exited(kernels):
    done = run(kernels["with_exited"], np.zeros(32, dtype=np.uint32), block=32)
    assert done.tolist() == [2 * i + 1 for i in range(9)] + [9] + [0] * 22


def test_the_value_of_a_lane_that_has_exited_is_0(kernels):
    done = run(kernels["from_exited"], np.zeros(32, dtype=np.uint32), block=32)
    assert done.tolist() == [0 if i % 4 else i + 101 for i in range(32)]
