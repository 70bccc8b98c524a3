# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the array and texture tests: kernels that read and write through them."""

import numpy as np
import pytest
from cuda.core import LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch
from cuda.core.texture import OpaqueArrayOptions

KERNELS = r"""
extern "C" __global__ void read(cudaTextureObject_t t, const float* at, float* to, int n) {
    int i = threadIdx.x;
    if (i < n) to[i] = tex2D<float>(t, at[2 * i], at[2 * i + 1]);
}
extern "C" __global__ void read_line(cudaTextureObject_t t, const float* at, float* to, int n) {
    int i = threadIdx.x;
    if (i < n) to[i] = tex1Dfetch<float>(t, (int)at[2 * i]);
}
extern "C" __global__ void twice(cudaSurfaceObject_t s, int width) {
    int x = threadIdx.x, y = blockIdx.x;
    if (x >= width) return;
    float v;
    surf2Dread(&v, s, x * 4, y);
    surf2Dwrite(2 * v, s, x * 4, y);
}
"""


@pytest.fixture(scope="module")
def texture_code():
    from cuda.core import Device

    device = Device(0)
    device.set_current()
    options = ProgramOptions(arch=f"sm_{device.arch}")
    code = Program(KERNELS, "c++", options).compile("cubin")
    code.get_kernel("read")  # loads the code before a test counts live objects
    return code


@pytest.fixture
def array(device):
    """An array of four by three floats."""
    with device.create_opaque_array(OpaqueArrayOptions((4, 3), "float32", 1, True)) as array:
        yield array


@pytest.fixture
def read(device, stream, texture_code):
    """Read a texture at points (x, y)."""
    memory = LegacyPinnedMemoryResource()

    def run(texture, points, kernel="read"):
        count = len(points)
        with memory.allocate(8 * count) as at, memory.allocate(4 * count) as to:
            np.from_dlpack(at).view(np.float32)[:] = np.ravel(points)
            entry = texture_code.get_kernel(kernel)
            config = LaunchConfig(grid=1, block=max(32, count))
            launch(stream, config, entry, texture, at, to, count)
            stream.sync()
            return np.from_dlpack(to).view(np.float32).copy()

    return run
