# SPDX-License-Identifier: Apache-2.0
"""A test of a kernel, as the page on testing without a GPU shows it."""

import numpy as np
import pytest
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

SOURCE = """
extern "C" __global__ void scale(float a, float* x, size_t n) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) x[i] *= a;
}"""


@pytest.mark.parametrize("size", [1, 255, 256, 257])
def test_every_element_is_scaled_and_no_other(size):
    device = Device()
    device.set_current()
    stream = device.create_stream()
    options = ProgramOptions(arch=f"sm_{device.arch}", lineinfo=True)
    kernel = Program(SOURCE, "c++", options).compile("cubin").get_kernel("scale")
    x = np.arange(size, dtype=np.float32)
    expected = 3 * x
    with device.allocate(x.nbytes, stream=stream) as buffer:
        buffer.copy_from(x, stream=stream)
        launch(stream, LaunchConfig(grid=2, block=256), kernel, 3.0, buffer, size)
        buffer.copy_to(x, stream=stream)
    stream.sync()
    np.testing.assert_array_equal(x, expected)
