# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's cuda-core: compile, launch, time with events, allocate from a memory pool."""

import ctypes

import numpy as np
from cuda.core import (
    Device,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    EventOptions,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    ProgramOptions,
    launch,
)

SOURCE = """
template <typename T>
__global__ void axpy(T a, const T* x, T* y, size_t n) {
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
"""
N = 1000


def compile_kernel(device):
    options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}", lineinfo=True)
    code = Program(SOURCE, code_type="c++", options=options).compile(
        "cubin", name_expressions=("axpy<float>", "axpy<double>")
    )
    return code.get_kernel("axpy<double>")


def view(buffer, dtype):
    content = (ctypes.c_byte * buffer.size).from_address(int(buffer.handle))
    return np.frombuffer(content, dtype=dtype)


device = Device()
device.set_current()
kernel = compile_kernel(device)
stream = device.create_stream()

pool = DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=64 << 20))
pinned = LegacyPinnedMemoryResource()
host = [pinned.allocate(8 * N) for _ in range(2)]
x, y = (view(buffer, np.float64) for buffer in host)
x[:], y[:] = np.arange(N), 1.0
on_device = [pool.allocate(8 * N, stream=stream) for _ in range(2)]
for theirs, ours in zip(on_device, host, strict=True):
    theirs.copy_from(ours, stream=stream)

timed = EventOptions(timing_enabled=True)
start = stream.record(options=timed)
config = LaunchConfig(grid=(N + 127) // 128, block=128)
launch(stream, config, kernel, 2.0, *on_device, np.uint64(N))
end = stream.record(options=timed)
on_device[1].copy_to(host[1], stream=stream)
stream.sync()

assert np.array_equal(y, 1.0 + 2.0 * np.arange(N)), y
assert end.is_done and end - start >= 0.0
assert kernel.attributes.max_threads_per_block >= 128
used = pool.attributes.used_mem_current
assert used >= 2 * 8 * N, used
for buffer in on_device:
    buffer.close(stream)
stream.sync()
assert pool.attributes.used_mem_current < used

other = device.create_stream()
other.wait(end)
other.sync()
print(f"axpy of {N} doubles on a pool, sum {y.sum():.0f}")
