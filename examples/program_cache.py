# SPDX-License-Identifier: Apache-2.0
"""A disk cache of compiled programs: the second run finds what the first one compiled.

The two runs could be two processes, in sequence or at the same time. One program is a kernel
template, whose symbols are stored with its code. Prints the numbers of compilations and cache
hits. Runs on a GPU, or on the CPU emulation of the driver (`HALFWARP_BACKEND=emulator`).
"""

import sys
import tempfile

import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
from cuda.core.utils import FileStreamProgramCache

SCALE = 'extern "C" __global__ void scale(float* x, float a) { x[threadIdx.x] *= a; }'
ADD = "template <class T> __global__ void add(T* x, T a) { x[threadIdx.x] += a; }"


def run(device, folder):
    """Compile or find both programs and launch them; return the statistics and the result."""
    with FileStreamProgramCache(folder, max_size_bytes=100 << 20) as cache:
        options = ProgramOptions(arch=f"sm_{device.arch}")
        scale = Program(SCALE, "c++", options).compile("cubin", cache=cache)
        add = Program(ADD, "c++", options).compile("cubin", ("add<float>",), cache=cache)
    x = np.arange(32, dtype=np.float32)
    with device.create_stream() as stream, device.allocate(x.nbytes, stream=stream) as buffer:
        buffer.copy_from(x, stream=stream)
        config = LaunchConfig(grid=1, block=32)
        launch(stream, config, scale.get_kernel("scale"), buffer, 2.0)
        launch(stream, config, add.get_kernel("add<float>"), buffer, 1.0)
        buffer.copy_to(x, stream=stream)
        stream.sync()
    return cache.stats(), x


def main() -> int:
    device = Device()
    device.set_current()
    with tempfile.TemporaryDirectory() as folder:
        first, _ = run(device, folder)
        second, x = run(device, folder)
    print(f"first run  compiled {first['writes']}, found {first['hits']}")
    print(f"second run found {second['hits']}, compiled {second['writes']}")
    is_right = np.array_equal(x, 2 * np.arange(32, dtype=np.float32) + 1)
    outcome = "correct" if is_right else "wrong"
    print(f"{second['entries']} entries, {second['bytes']:,} bytes, {outcome}")
    return 0 if is_right and second["hits"] == 2 else 1


if __name__ == "__main__":
    sys.exit(main())
