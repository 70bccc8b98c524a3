# SPDX-License-Identifier: Apache-2.0
"""Two sources linked into one kernel: with link-time optimization, and as PTX without it.

Compiles a kernel and the function that it calls, links both with nvJitLink, launches the kernel and
checks the result. Prints the device and the code sizes. Runs on a GPU, or on the CPU emulation of
the driver (`HALFWARP_BACKEND=emulator`).
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


def linked(arch, target, **options):
    """Link both sources into one cubin, from compilations to a linkable target."""
    program_options = ProgramOptions(arch=arch, relocatable_device_code=True)
    codes = [
        Program(source, "c++", program_options).compile(target) for source in (KERNEL, FUNCTION)
    ]
    with Linker(*codes, options=LinkerOptions(arch=arch, **options)) as linker:
        return linker.link("cubin")


def applied(device, code, n):
    """Return the result of the kernel for 0 to n - 1."""
    x = np.arange(n, dtype=np.float32)
    with device.create_stream() as stream:
        with device.allocate(x.nbytes, stream=stream) as on_device:
            on_device.copy_from(x, stream=stream)
            config = LaunchConfig(grid=(n + 255) // 256, block=256)
            launch(stream, config, code.get_kernel("apply"), on_device, n)
            result = np.empty_like(x)
            on_device.copy_to(result, stream=stream)
            stream.sync()
    return result


def main(n: int = 1000) -> int:
    device = Device()
    device.set_current()
    arch = f"sm_{device.arch}"
    codes = [linked(arch, "ltoir", link_time_optimization=True), linked(arch, "ptx")]
    expected = 2 * np.arange(n, dtype=np.float32) + 1
    sizes = [len(code.code) for code in codes]
    print(f"{device.name}: {sizes[0]} bytes of linked code, {sizes[1]} of PTX")
    return 0 if all(np.array_equal(applied(device, code, n), expected) for code in codes) else 1


if __name__ == "__main__":
    sys.exit(main())
