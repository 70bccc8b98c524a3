# SPDX-License-Identifier: Apache-2.0
"""SAXPY from source text to a checked result.

Compiles a CUDA C++ kernel for the current device, copies NumPy data to it, launches on a stream,
times the kernel with events, copies the result back and compares it with NumPy. Prints the device,
the time, the bandwidth and the largest error. Runs on a GPU, or on the CPU emulation of the driver
(`HALFWARP_BACKEND=emulator`, or `auto` to use a GPU if there is one).
"""

import sys

import numpy as np
from cuda.core import Device, EventOptions, LaunchConfig, Program, ProgramOptions, launch

SOURCE = """
extern "C" __global__ void saxpy(float a, const float* x, float* y, size_t n) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""


def main(n: int = 1_000_000) -> int:
    device = Device()
    device.set_current()
    stream = device.create_stream()
    program = Program(SOURCE, "c++", ProgramOptions(std="c++17", arch=f"sm_{device.arch}"))
    kernel = program.compile("cubin").get_kernel("saxpy")

    rng = np.random.default_rng(seed=0)
    a = 2.5
    x, y = (rng.random(n, dtype=np.float32) for _ in range(2))
    device_x = device.allocate(x.nbytes, stream=stream)
    device_y = device.allocate(y.nbytes, stream=stream)
    device_x.copy_from(x, stream=stream)
    device_y.copy_from(y, stream=stream)

    block = 256
    config = LaunchConfig(grid=(n + block - 1) // block, block=block)
    launch(stream, config, kernel, a, device_x, device_y, 0)  # loads the code before the timing
    start = stream.record(options=EventOptions(timing_enabled=True))
    launch(stream, config, kernel, a, device_x, device_y, n)
    end = stream.record(options=EventOptions(timing_enabled=True))
    end.sync()

    result = np.empty_like(y)
    device_y.copy_to(result, stream=stream)
    stream.sync()
    error = float(np.max(np.abs(result - (np.float32(a) * x + y))))
    milliseconds = end - start
    bandwidth = 3 * x.nbytes / (milliseconds * 1e-3) / 1e9
    print(f"device     {device.name} (sm_{device.arch})")
    print(f"elements   {n:,}")
    print(f"kernel     {milliseconds:.3f} ms, {bandwidth:.1f} GB/s")
    print(f"max error  {error:.2e} against NumPy")
    for owner in (device_x, device_y, start, end, stream, program):
        owner.close()
    if error > 1e-6:
        print("FAILED: the device and NumPy disagree", file=sys.stderr)
        return 1
    print("verified")
    return 0


if __name__ == "__main__":
    sys.exit(main())
