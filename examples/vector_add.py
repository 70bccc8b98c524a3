# SPDX-License-Identifier: Apache-2.0
"""Instantiates one kernel template for several element types.

Compiles `add<T>` once with its instances as name expressions, and runs each on pinned host memory
that both NumPy and the device can access. Prints one line per type.
"""

import sys

import numpy as np
from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    ProgramOptions,
    launch,
)

SOURCE = """
template <typename T>
__global__ void add(const T* a, const T* b, T* c, size_t n) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        c[i] = a[i] + b[i];
}
"""
TYPES = {"int": np.int32, "float": np.float32, "double": np.float64}


def main(n: int = 50_000) -> int:
    device = Device()
    device.set_current()
    stream = device.create_stream()
    options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}")
    names = tuple(f"add<{name}>" for name in TYPES)
    module = Program(SOURCE, "c++", options).compile("cubin", name_expressions=names)
    pinned = LegacyPinnedMemoryResource()
    config = LaunchConfig(grid=16, block=128)
    failures = 0
    for name, dtype in TYPES.items():
        buffers = [pinned.allocate(n * dtype().itemsize) for _ in range(3)]
        a, b, c = (np.from_dlpack(buffer).view(dtype) for buffer in buffers)
        a[:] = np.arange(n)
        b[:] = 3
        launch(stream, config, module.get_kernel(f"add<{name}>"), *buffers, n)
        stream.sync()
        correct = bool(np.array_equal(c, a + b))
        failures += not correct
        print(f"add<{name}>: {n:,} elements, {'correct' if correct else 'WRONG'}")
    stream.close()
    return failures


if __name__ == "__main__":
    sys.exit(main())
