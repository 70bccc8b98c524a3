# SPDX-License-Identifier: Apache-2.0
"""Two streams use one buffer: the second does not wait for the first."""

import sys

from common import device, run, stream

SOURCE = """
extern "C" __global__ void k(int* values) {
    values[threadIdx.x] += threadIdx.x;
}
"""

other = device.create_stream()
with device.allocate(256, stream=stream) as values:
    values.fill(0, stream=stream)
    if "corrected" in sys.argv:
        other.wait(stream)
    run(SOURCE, values, on=other)
    stream.wait(other)
    stream.sync()
