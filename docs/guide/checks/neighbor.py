# SPDX-License-Identifier: Apache-2.0
"""An index is too large, and the store lands in the next variable of shared memory."""

import sys

from common import device, run, stream

SOURCE = """
extern "C" __global__ void k(int* out, int last) {
    __shared__ int s[64], t[64];
    t[threadIdx.x] = s[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x == 0) s[last] = 1;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x] + t[threadIdx.x];
}
"""

with device.allocate(256, stream=stream) as out:
    run(SOURCE, out, 63 if "corrected" in sys.argv else 64)
    stream.sync()
