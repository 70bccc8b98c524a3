# SPDX-License-Identifier: Apache-2.0
"""Number of threads of a kernel that fit on a multiprocessor, for each block size.

Each thread uses eight bytes of shared memory. Enables the logger `halfwarp`. Prints the table, and
the file with the picture that a notebook would show.
"""

import logging
import sys
import tempfile
from pathlib import Path

from cuda.core import Device, Program, ProgramOptions

SOURCE = """
extern "C" __global__ void spread(double* x) {
    extern __shared__ double mine[];
    mine[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = mine[blockDim.x - 1 - threadIdx.x];
}
"""


def main() -> int:
    device = Device()
    device.set_current()
    logging.basicConfig(stream=sys.stdout, format="%(message)s")
    logging.getLogger("halfwarp").setLevel(logging.INFO)
    options = ProgramOptions(arch=f"sm_{device.arch}")
    kernel = Program(SOURCE, "c++", options).compile("cubin").get_kernel("spread")
    curve = kernel.occupancy.plot(dynamic_shared_memory_size=lambda threads: 8 * threads)
    print(curve)
    part, threads = max(zip(curve.occupancy, curve.block_sizes, strict=True))
    picture = Path(tempfile.mkdtemp(prefix="halfwarp-")) / "occupancy.svg"
    picture.write_text(curve._repr_svg_())
    print(f"best with {threads} threads: {part:.0%}, in {picture}".replace("%", " %"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
