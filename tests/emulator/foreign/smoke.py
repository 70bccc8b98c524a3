# SPDX-License-Identifier: Apache-2.0
"""Uses the published CUDA packages for Python as an ordinary program; a test runs it on the
emulator."""

import numpy
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

SOURCE = """
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
template <class T> __global__ void scale(T* data, T factor) { data[threadIdx.x] *= factor; }
"""


def check(result):
    code, *values = result
    assert code == 0, code
    return values[0] if len(values) == 1 else values


def to_device(array, buffer, stream):
    check(
        driver.cuMemcpyHtoDAsync(int(buffer.handle), array.ctypes.data, array.nbytes, stream.handle)
    )


def from_device(array, buffer, stream):
    check(
        driver.cuMemcpyDtoHAsync(array.ctypes.data, int(buffer.handle), array.nbytes, stream.handle)
    )
    stream.sync()
    return array


def run(device, kind):
    stream = device.create_stream()
    options = ProgramOptions(arch=f"sm_{device.arch}", lineinfo=True)
    module = Program(SOURCE, "c++", options).compile(
        kind, name_expressions=("scale<float>", "scale<int>")
    )
    x, y = numpy.arange(1000, dtype=numpy.float32), numpy.ones(1000, dtype=numpy.float32)
    on_x, on_y = (device.allocate(array.nbytes, stream=stream) for array in (x, y))
    to_device(x, on_x, stream)
    to_device(y, on_y, stream)
    kernel = module.get_kernel("saxpy")
    arguments = (numpy.float32(2), on_x, on_y, numpy.int32(1000))
    launch(stream, LaunchConfig(grid=4, block=256), kernel, *arguments)
    assert numpy.array_equal(from_device(numpy.empty_like(y), on_y, stream), 2 * x + 1)
    scale = module.get_kernel("scale<float>")
    launch(stream, LaunchConfig(grid=1, block=10), scale, on_y, numpy.float32(10))
    scaled = from_device(numpy.empty_like(y), on_y, stream)
    assert numpy.array_equal(scaled[:10], 10 * (2 * x[:10] + 1))
    assert numpy.array_equal(scaled[10:], 2 * x[10:] + 1)
    assert kernel.attributes.max_threads_per_block == 1024
    on_x.close(stream)
    on_y.close(stream)
    stream.close()


def time_something(device):
    stream = device.create_stream()
    start, end = (check(driver.cuEventCreate(0)) for _ in range(2))
    check(driver.cuEventRecord(start, stream.handle))
    check(driver.cuEventRecord(end, stream.handle))
    check(driver.cuEventSynchronize(end))
    assert check(driver.cuEventElapsedTime(start, end)) >= 0
    for event in (start, end):
        check(driver.cuEventDestroy(event))
    stream.close()


def use_a_pool(device):
    memory, stream = device.memory_resource, device.create_stream()
    buffers = [memory.allocate(1 << 20, stream=stream) for _ in range(4)]
    assert memory.attributes.used_mem_current >= 4 << 20
    for buffer in buffers:
        buffer.close(stream)
    stream.sync()
    assert memory.attributes.used_mem_current == 0
    stream.close()


device = Device()
device.set_current()
assert device.name == "Emulated CUDA device (CPU)", device.name
for kind in ("ptx", "cubin"):
    run(device, kind)
time_something(device)
use_a_pool(device)
print("done", device.properties.multiprocessor_count, tuple(device.compute_capability))
