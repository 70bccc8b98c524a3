# SPDX-License-Identifier: Apache-2.0
"""MPI with mpi4py: each rank sums a part on its device, and all ranks get the total.

Run as `mpiexec -n 2 python -m mpi4py mpi_sum.py`. The kernel writes the result of a rank to
page-locked memory, which any MPI can read. If MPI can read device memory, set `CUDA_AWARE_MPI=1`
to pass a device buffer to the same call. Rank 0 prints the sum.
"""

import os
import sys
from importlib.util import find_spec

import numpy as np
from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    ProgramOptions,
    launch,
)

SOURCE = """
extern "C" __global__ void sum_squares(long long first, long long last, unsigned long long* sum) {
    unsigned long long mine = 0;
    for (long long i = first + threadIdx.x; i < last; i += blockDim.x) mine += i * i;
    atomicAdd(sum, mine);
}
"""


def sum_of(device: Device, stream, first: int, last: int, buffer) -> None:
    """Write the sum of the squares of first..last-1 to a buffer, and wait for it."""
    options = ProgramOptions(arch=f"sm_{device.arch}")
    kernel = Program(SOURCE, "c++", options).compile("cubin").get_kernel("sum_squares")
    buffer.fill(0, stream=stream)
    launch(stream, LaunchConfig(grid=1, block=128), kernel, first, last, buffer)
    stream.sync()  # MPI does not know the stream


def main(n: int = 20_000) -> int:
    if not find_spec("mpi4py"):
        print("nothing to do: mpi4py is not installed")
        return 0
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    node = world.Split_type(MPI.COMM_TYPE_SHARED)  # the ranks of this machine share its devices
    devices = Device.get_all_devices()
    device = devices[node.rank % len(devices)]
    device.set_current()
    stream = device.create_stream()
    is_aware = os.environ.get("CUDA_AWARE_MPI") == "1"
    memory = device.memory_resource if is_aware else LegacyPinnedMemoryResource()
    mine, whole = (memory.allocate(8, stream=stream) for _ in range(2))
    first, last = (n * (world.rank + i) // world.size for i in range(2))
    sum_of(device, stream, first, last, mine)
    world.Allreduce([mine, 1, MPI.UINT64_T], [whole, 1, MPI.UINT64_T])
    result = np.empty(1, np.uint64)
    whole.copy_to(result, stream=stream)
    stream.sync()
    places = world.gather(f"rank {world.rank}: device {device.device_id}, {last - first:,} numbers")
    is_right = int(result[0]) == sum(i * i for i in range(n))
    if world.rank == 0:
        print(*places, f"sum {result[0]}: {'correct' if is_right else 'WRONG'}", sep="\n")
    mine.close()
    whole.close()
    stream.close()
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
