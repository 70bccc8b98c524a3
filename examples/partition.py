# SPDX-License-Identifier: Apache-2.0
"""Divides a device in two, with a context and a stream for each half.

Long work in one half does not occupy the multiprocessors of the other. Prints the size of the
halves, and "verified" if both results are correct.
"""

import sys

import numpy as np
from cuda.core import (
    ContextOptions,
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    ProgramOptions,
    launch,
)

SOURCE = r"""
extern "C" __global__ void scale(float *values, float factor, unsigned n) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        values[i] *= factor;
}
"""
N = 4096


def main() -> int:
    device = Device()
    device.set_current()
    multiprocessors = device.resources.sm
    unit = multiprocessors.coscheduled_alignment
    half = multiprocessors.sm_count // 2 // unit * unit
    groups, rest = multiprocessors.split({"count": [half, half]})
    print(
        f"groups     {', '.join(str(g.sm_count) for g in groups)} of "
        f"{multiprocessors.sm_count} multiprocessors, {rest.sm_count} left"
    )

    options = ProgramOptions(arch=f"sm_{device.arch}")
    code = Program(SOURCE, code_type="c++", options=options).compile("ptx")
    scale = code.get_kernel("scale")
    memory = LegacyPinnedMemoryResource()

    contexts = [device.create_context(ContextOptions([group])) for group in groups]
    streams = [context.create_stream() for context in contexts]
    buffers = [memory.allocate(N * 4) for _ in streams]
    for number, (stream, buffer) in enumerate(zip(streams, buffers, strict=True)):
        np.from_dlpack(buffer).view(np.float32)[:] = 1
        config = LaunchConfig(grid=stream.resources.sm.sm_count, block=128)
        launch(stream, config, scale, buffer, 2.0 + number, N)
    for stream in streams:
        stream.sync()
    results = [np.from_dlpack(buffer).view(np.float32).copy() for buffer in buffers]

    for opened in (*buffers, *streams, *contexts):
        opened.close()
    correct = (results[0] == 2).all() and (results[1] == 3).all()
    print("verified" if correct else "WRONG")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
