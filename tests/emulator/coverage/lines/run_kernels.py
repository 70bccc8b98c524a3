# SPDX-License-Identifier: Apache-2.0
"""Launch the kernel of each file: run_kernels.py FOLDER. The names end with n: loop.32.cu."""

import sys
from pathlib import Path

import numpy as np
from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    ProgramOptions,
    launch,
)


def main(folder):
    device = Device()
    device.set_current()
    stream = device.create_stream()
    buffer = LegacyPinnedMemoryResource().allocate(256, stream=stream)
    data = np.from_dlpack(buffer).view(np.int32)
    for path in sorted(Path(folder).glob("*.cu")):
        program = Program(path.read_text(), "c++", ProgramOptions(name=str(path), std="c++17"))
        code = program.compile("cubin", name_expressions=("kernel",))
        data[:] = range(64)
        n = int(path.name.split(".")[1])
        config = LaunchConfig(grid=1, block=32)
        launch(stream, config, code.get_kernel("kernel"), buffer, np.int32(n))
        stream.sync()
        print(path.name, *data)


if __name__ == "__main__":
    main(sys.argv[1])
