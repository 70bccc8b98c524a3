# SPDX-License-Identifier: Apache-2.0
"""Ask for the writer of a wrong value. The emulator needs CHECK=race."""

from common import device, run, stream
from cuda.core import emulation

SOURCE = """
extern "C" __global__ void k(int* out) {
    out[threadIdx.x] = threadIdx.x;
}
"""

with device.allocate(256, stream=stream) as out:
    run(SOURCE, out)
    for word in emulation.origin(out, offset=16, size=8):
        print(word.operation, word.block_index, word.thread, word.ptx_line)
