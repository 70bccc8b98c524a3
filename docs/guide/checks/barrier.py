# SPDX-License-Identifier: Apache-2.0
"""Half of the block skips a barrier."""

import sys

from common import device, run, stream

SOURCE = """
extern "C" __global__ void k(int* out) {
    if (threadIdx.x < 32) __syncthreads();
    out[threadIdx.x] = 1;
}
"""
CORRECTED = SOURCE.replace("if (threadIdx.x < 32) ", "")

with device.allocate(256, stream=stream) as out:
    run(CORRECTED if "corrected" in sys.argv else SOURCE, out)
    stream.sync()
