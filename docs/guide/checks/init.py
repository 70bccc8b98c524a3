# SPDX-License-Identifier: Apache-2.0
"""A kernel counts in memory that nobody has filled: a memset is missing."""

import sys

from common import device, run, stream

SOURCE = """
extern "C" __global__ void k(int* count) {
    atomicAdd(count, 1);
}
"""

with device.allocate(4, stream=stream) as count:
    if "corrected" in sys.argv:
        count.fill(0, stream=stream)
    run(SOURCE, count)
    stream.sync()
