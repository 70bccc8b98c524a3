# SPDX-License-Identifier: Apache-2.0
"""Blocks of a cluster read each other's shared memory.

Each block of a cluster counts its part of the numbers in shared memory. The first block sums the
counts of all blocks, which it reads from their shared memory. Needs a GPU of compute capability
9.0. Prints the maximum size of a cluster, and "correct" if the histogram equals NumPy's.
"""

import sys

import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

SOURCE = r"""
__device__ void wait_for_the_cluster() {
    asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
}

extern "C" __global__ void count(const unsigned char *values, unsigned n, unsigned *totals) {
    __shared__ unsigned counts[256];
    unsigned rank, size;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[values[i]], 1);
    wait_for_the_cluster();
    if (rank == 0) {
        unsigned sum = 0;
        const unsigned here = (unsigned)__cvta_generic_to_shared(&counts[threadIdx.x]);
        for (unsigned of = 0; of < size; ++of) {
            unsigned there, part;
            asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(of));
            asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(part) : "r"(there));
            sum += part;
        }
        atomicAdd(&totals[threadIdx.x], sum);
    }
    wait_for_the_cluster();  // a block must not exit while its memory is read
}
"""
N, CLUSTER, BLOCK = 20_000, 4, 256


def main() -> int:
    device = Device()
    device.set_current()
    if device.compute_capability < (9, 0):
        print("nothing to do: clusters need a GPU of compute capability 9.0")
        return 0
    stream = device.create_stream()
    options = ProgramOptions(arch=f"sm_{device.arch}")
    kernel = Program(SOURCE, "c++", options).compile("cubin").get_kernel("count")
    config = LaunchConfig(grid=2, cluster=CLUSTER, block=BLOCK)  # the grid is counted in clusters
    largest = kernel.occupancy.max_potential_cluster_size(config, stream=stream)

    values = np.random.default_rng(1).integers(0, 256, N, np.uint8)
    totals = np.empty(256, np.uint32)
    with (
        device.allocate(N, stream=stream) as input,
        device.allocate(totals.nbytes, stream=stream) as output,
    ):
        input.copy_from(values, stream=stream)
        output.fill(0, stream=stream)
        launch(stream, config, kernel, input, N, output)
        output.copy_to(totals, stream=stream)
        stream.sync()
    stream.close()
    correct = (totals == np.bincount(values, minlength=256)).all()
    print(f"clusters of {CLUSTER} blocks, {largest} at most: {'correct' if correct else 'WRONG'}")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
