# SPDX-License-Identifier: Apache-2.0
"""One function for the arrays of all libraries, on the host and on the device.

Scales NumPy arrays, Buffers, and those PyTorch tensors and CuPy arrays that are at hand, contiguous
or not: each is viewed, copied to the device in C order, scaled by a kernel, and copied back. Prints
one line for each.
"""

import sys

import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
from cuda.core.utils import StridedMemoryView, args_viewable_as_strided_memory

SOURCE = """
extern "C" __global__ void scale(float factor, float* x, size_t n) {
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}
"""


@args_viewable_as_strided_memory((0,))
def scale(array, factor, kernel, stream):
    """Multiply the elements of an array of any library."""
    view = array.view(stream)
    with stream.device.allocate(view.nbytes, stream=stream) as memory:
        packed = StridedMemoryView.from_buffer(memory, view.shape, dtype=np.float32)
        packed.copy_from(view, stream)
        config = LaunchConfig(grid=(view.size + 255) // 256, block=256)
        launch(stream, config, kernel, factor, packed, view.size)
        packed.copy_to(view, stream)
    stream.sync()


def arrays(device, stream):
    """Arrays of ones, by name."""
    yield "NumPy", np.ones((3, 5), np.float32)
    yield "NumPy, every other column", np.ones((3, 10), np.float32)[:, ::2]
    yield "NumPy, transposed", np.ones((5, 3), np.float32).T
    if "torch" in sys.modules:
        torch = sys.modules["torch"]
        yield "PyTorch", torch.ones(3, 5).t()
    if "cupy" in sys.modules:
        yield "CuPy", sys.modules["cupy"].ones((3, 5), "f4")[::-1]


def main() -> int:
    device = Device()
    device.set_current()
    stream = device.create_stream()
    options = ProgramOptions(arch=f"sm_{device.arch}")
    kernel = Program(SOURCE, "c++", options).compile("cubin").get_kernel("scale")
    failures = 0
    for name, array in arrays(device, stream):
        scale(array, 3.0, kernel, stream)
        correct = bool((array == 3).all())
        failures += not correct
        print(f"{name}: {tuple(array.shape)}, {'correct' if correct else 'WRONG'}")
    stream.close()
    return failures


if __name__ == "__main__":
    for library in ("torch", "cupy"):
        try:
            __import__(library)
        except ImportError:
            print(f"{library} is not installed")
    sys.exit(main())
