# SPDX-License-Identifier: Apache-2.0
"""What the scripts that go both ways share: a kernel, its size, calls of the low layer."""

from cuda.core import LaunchConfig, Program, ProgramOptions

SOURCE = """
extern "C" __global__ void axpy(float a, const float* x, float* y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
"""
N = 1000
CONFIG = LaunchConfig(grid=(N + 127) // 128, block=128)


def compile_for(device):
    """Machine code of the kernel `axpy`."""
    return Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")


def checked(answer):
    """What a call of the low layer gave beside its code, which must be success."""
    code, *values = answer
    assert not code, code
    return values[0] if len(values) == 1 else values
