# SPDX-License-Identifier: Apache-2.0
"""Scales arrays of many libraries with one function, on the host and on the device.

Scales NumPy arrays and, if installed, PyTorch tensors, CuPy, Numba and JAX arrays, on the host or
on the device, contiguous or not. Each array is viewed, copied to the device in C order, scaled by a
kernel, and copied back. Read-only arrays, such as JAX's, are unchanged; the result is a new array.
Prints one line per array.
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
    """Multiply the elements of an array; return a new array if it is read-only."""
    view = array.view(stream)
    result = np.empty(view.shape, np.float32) if view.readonly else None
    with stream.device.allocate(view.nbytes, stream=stream) as memory:
        packed = StridedMemoryView.from_buffer(memory, view.shape, dtype=np.float32)
        packed.copy_from(view, stream)
        config = LaunchConfig(grid=(view.size + 255) // 256, block=256)
        launch(stream, config, kernel, factor, packed, view.size)
        if result is None:
            packed.copy_to(view, stream)
        else:
            memory.copy_to(result, stream=stream)
    stream.sync()
    return result


def arrays():
    """Yield arrays of ones with their names."""
    yield "NumPy", np.ones((3, 5), np.float32)
    yield "NumPy, every other column", np.ones((3, 10), np.float32)[:, ::2]
    yield "NumPy, transposed", np.ones((5, 3), np.float32).T
    if "torch" in sys.modules:
        yield "PyTorch", sys.modules["torch"].ones(3, 5).t()
    if "cupy" in sys.modules:
        yield "CuPy", sys.modules["cupy"].ones((3, 5), "f4")[::-1]
    if "numba.cuda" in sys.modules and sys.modules["numba.cuda"].is_available():
        yield "Numba", sys.modules["numba.cuda"].to_device(np.ones((3, 5), "f4"))
    if "jax" in sys.modules:
        yield "JAX", sys.modules["jax"].numpy.ones((3, 5), "float32")


def main() -> int:
    device = Device()
    device.set_current()
    stream = device.create_stream()
    options = ProgramOptions(arch=f"sm_{device.arch}")
    kernel = Program(SOURCE, "c++", options).compile("cubin").get_kernel("scale")
    failures = 0
    for name, array in arrays():
        result = scale(array, 3.0, kernel, stream)
        values = array if result is None else result
        correct = bool((np.asarray(values) == 3).all() if name == "Numba" else (values == 3).all())
        failures += not correct
        print(f"{name}: {tuple(array.shape)}, {'correct' if correct else 'WRONG'}")
    stream.close()
    return failures


if __name__ == "__main__":
    for library in ("torch", "cupy", "numba.cuda", "jax"):
        try:
            __import__(library)
        except ImportError:
            print(f"{library} is not installed")
    sys.exit(main())
