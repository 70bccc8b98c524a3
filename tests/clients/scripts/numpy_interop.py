# SPDX-License-Identifier: Apache-2.0
"""NumPy: arrays and scalars are arguments of both layers, and memory is viewed as arrays."""

import ctypes

import numpy as np
from axpy import CONFIG, SOURCE, N, checked
from cuda.bindings import driver, nvrtc
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode, launch

BLOCKS = CONFIG.grid[0]


def compile_ptx(device):
    program = checked(nvrtc.nvrtcCreateProgram(SOURCE.encode(), b"axpy.cu", 0, None, None))
    options = [f"--gpu-architecture=compute_{device.arch}".encode()]
    checked(nvrtc.nvrtcCompileProgram(program, len(options), options))
    ptx = bytearray(checked(nvrtc.nvrtcGetPTXSize(program)))
    checked(nvrtc.nvrtcGetPTX(program, ptx))
    checked(nvrtc.nvrtcDestroyProgram(program))
    return bytes(ptx)


def low_layer(kernel, x, y):
    """Arrays are host memory of copies, values of scalars, and the addresses of `kernelParams`."""
    dx, dy = (checked(driver.cuMemAlloc(each.nbytes)) for each in (x, y))
    for destination, source in ((dx, x), (dy, y)):
        checked(driver.cuMemcpyHtoD(destination, source, source.nbytes))
    arguments = [
        np.array([2.0], np.float32),
        np.array([int(dx)], np.uint64),
        np.array([int(dy)], np.uint64),
        np.array([N], np.uint32),
    ]
    addresses = np.array([each.ctypes.data for each in arguments], np.uint64)
    shape = np.array([BLOCKS, 1, 1, 128, 1, 1], np.uint32)
    checked(driver.cuLaunchKernel(kernel, *shape, 0, 0, addresses, 0))
    values = (np.float32(2.0), dx, dy, np.uint32(N))
    types = (ctypes.c_float, None, None, ctypes.c_uint)
    checked(driver.cuLaunchKernel(kernel, BLOCKS, 1, 1, 128, 1, 1, 0, 0, (values, types), 0))
    readback = np.empty_like(y)
    checked(driver.cuMemcpyDtoH(readback.ctypes.data, dy, readback.nbytes))
    for pointer in (dx, dy):
        checked(driver.cuMemFree(pointer))
    return readback


def object_layer(device, kernel, x, y):
    stream = device.create_stream()
    dx, dy = (device.allocate(each.nbytes, stream=stream) for each in (x, y))
    dx.copy_from(x, stream=stream)
    dy.copy_from(y, stream=stream)
    config = LaunchConfig(grid=(np.int64(BLOCKS),), block=128)
    launch(stream, config, kernel, np.float32(4.0), dx, dy, np.uint32(N))
    pinned = LegacyPinnedMemoryResource().allocate(y.nbytes)
    dy.copy_to(pinned, stream=stream)
    stream.sync()
    through_dlpack = np.from_dlpack(pinned).view(np.float32)
    through_buffer = np.frombuffer(pinned, dtype=np.float32)
    assert through_dlpack.ctypes.data == through_buffer.ctypes.data == int(pinned.handle)
    return through_buffer.copy()


device = Device()
device.set_current()
code = ObjectCode.from_ptx(compile_ptx(device))
kernel = code.get_kernel("axpy")
function = checked(driver.cuKernelGetFunction(kernel.handle))
x, y = np.arange(N, dtype=np.float32), np.ones(N, np.float32)
expected = 1.0 + 4.0 * np.arange(N)
assert np.array_equal(low_layer(function, x, y), expected)
assert np.array_equal(object_layer(device, kernel, x, y), expected)
print(f"NumPy both ways, sum {expected.sum():.0f}")
