# SPDX-License-Identifier: Apache-2.0
"""Managed memory: one address for host and device, prefetched before its use.

NumPy writes a vector, a kernel doubles it in place, and NumPy reads the result. The memory is
prefetched to host or device before each use. Prints the locations, and whether the result is
correct.
"""

import sys

import numpy as np
from cuda.core import (
    Device,
    Host,
    LaunchConfig,
    ManagedMemoryResource,
    Program,
    ProgramOptions,
    launch,
)

SOURCE = """
extern "C" __global__ void twice(float* x, size_t n) {
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}
"""


def main(n: int = 100_000) -> int:
    device = Device()
    device.set_current()
    if not device.properties.concurrent_managed_access:
        print("this device has no concurrent managed access")
        return 0
    stream = device.create_stream()
    program = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}"))
    kernel = program.compile("cubin").get_kernel("twice")

    managed = ManagedMemoryResource({"preferred_location": device.device_id})
    with managed.allocate(4 * n, stream=stream) as buffer:
        stream.sync()
        numbers = np.frombuffer(buffer, np.float32)
        numbers[:] = np.arange(n)

        buffer.prefetch(device, stream=stream)
        print(f"prefetched to {buffer.last_prefetch_location}")
        launch(stream, LaunchConfig(grid=-(-n // 256), block=256), kernel, buffer, n)
        buffer.prefetch(Host(), stream=stream)
        print(f"prefetched to {buffer.last_prefetch_location}")
        stream.sync()

        correct = bool(np.array_equal(numbers, 2 * np.arange(n, dtype=np.float32)))
        print(f"{n:,} elements, {'correct' if correct else 'WRONG'}")
        del numbers
    managed.close()
    stream.close()
    return not correct


if __name__ == "__main__":
    sys.exit(main())
