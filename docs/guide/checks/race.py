# SPDX-License-Identifier: Apache-2.0
"""A thread reads an element of shared memory that another warp stores: a barrier is missing."""

import sys

from common import device, run, stream

SOURCE = """
extern "C" __global__ void k(int* out) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    // here
    out[threadIdx.x] = s[63 - threadIdx.x];
}
"""
CORRECTED = SOURCE.replace("// here", "__syncthreads();")

with device.allocate(256, stream=stream) as out:
    run(CORRECTED if "corrected" in sys.argv else SOURCE, out)
    stream.sync()
