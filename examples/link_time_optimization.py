# SPDX-License-Identifier: Apache-2.0
"""Two sources, linked as one kernel: link-time optimization with nvJitLink.

Compiles a kernel and the function that it calls to LTO-IR, links both, launches the kernel and
checks what it wrote. Prints the device and the size of the code. Runs on a GPU, or on the CPU
emulation of the driver (`HALFWARP_BACKEND=emulator`).
"""

import sys

import numpy as np
from cuda.core import Device, LaunchConfig, Linker, LinkerOptions, Program, ProgramOptions, launch

KERNEL = """
extern "C" __device__ float transform(float x);
extern "C" __global__ void apply(float* x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = transform(x[i]);
}
"""
FUNCTION = 'extern "C" __device__ float transform(float x) { return 2.0f * x + 1.0f; }'


def main(n: int = 1000) -> int:
    device = Device()
    device.set_current()
    arch = f"sm_{device.arch}"
    options = ProgramOptions(arch=arch, relocatable_device_code=True)
    codes = [Program(source, "c++", options).compile("ltoir") for source in (KERNEL, FUNCTION)]
    with Linker(*codes, options=LinkerOptions(arch=arch, link_time_optimization=True)) as linker:
        code = linker.link("cubin")

    x = np.arange(n, dtype=np.float32)
    with device.create_stream() as stream:
        with device.allocate(x.nbytes, stream=stream) as on_device:
            on_device.copy_from(x, stream=stream)
            config = LaunchConfig(grid=(n + 255) // 256, block=256)
            launch(stream, config, code.get_kernel("apply"), on_device, n)
            result = np.empty_like(x)
            on_device.copy_to(result, stream=stream)
            stream.sync()
    print(f"{device.name}: {len(code.code)} bytes of linked code")
    return 0 if np.array_equal(result, 2 * x + 1) else 1


if __name__ == "__main__":
    sys.exit(main())
