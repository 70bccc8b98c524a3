# SPDX-License-Identifier: Apache-2.0
"""A kernel, its size and calls of the low layer, shared by the interoperability scripts."""

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
    """Return the machine code of the kernel `axpy`."""
    return Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")


def checked(result):
    """Return the outputs of a call of the low layer, whose code must be success."""
    code, *values = result
    assert not code, code
    return values[0] if len(values) == 1 else values
