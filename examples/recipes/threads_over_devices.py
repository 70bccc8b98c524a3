# SPDX-License-Identifier: Apache-2.0
"""A thread per device, each with a part of the numbers.

Compiles once per architecture. Each thread makes its device current, loads the kernel and uses its
own stream. Prints the numbers per device, and whether the result is correct.
"""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from cuda.core import Device, LaunchConfig, ObjectCode, Program, ProgramOptions, launch

SOURCE = """
extern "C" __global__ void square(const float* x, float* y, size_t n) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) y[i] = x[i] * x[i];
}
"""


def compiled(devices: list[Device]) -> dict[str, bytes]:
    """Return machine code for each architecture of the devices."""
    codes = {}
    for arch in {device.arch for device in devices}:
        with Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{arch}")) as program:
            codes[arch] = program.compile("cubin").code
    return codes


def work(device: Device, codes: dict, x: np.ndarray, y: np.ndarray) -> str:
    """Square one part. The current device is per thread, so it is set first."""
    device.set_current()
    kernel = ObjectCode.from_cubin(codes[device.arch]).get_kernel("square")
    with device.create_stream() as stream:
        source, target = (device.allocate(x.nbytes, stream=stream) for _ in range(2))
        source.copy_from(x, stream=stream)
        config = LaunchConfig(grid=(x.size + 255) // 256, block=256)
        launch(stream, config, kernel, source, target, x.size)
        target.copy_to(y, stream=stream)
        source.close(stream)
        target.close(stream)
        stream.sync()
    return f"device {device.device_id}: {x.size:,} numbers"


def main(n: int = 100_000) -> int:
    devices = Device.get_all_devices()
    x = np.arange(n, dtype=np.float32)
    y = np.empty_like(x)
    codes = [compiled(devices)] * len(devices)
    parts = np.array_split(x, len(devices)), np.array_split(y, len(devices))  # views
    with ThreadPoolExecutor(len(devices)) as threads:
        for line in threads.map(work, devices, codes, *parts):
            print(line)
    is_right = np.array_equal(y, x * x)
    print("correct" if is_right else "WRONG")
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
