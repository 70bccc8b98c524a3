# SPDX-License-Identifier: Apache-2.0
"""Shares one memory pool between CuPy, PyTorch and this package, as far as installed.

Each computes in memory of the same resource. Prints the bytes allocated by each, and the bytes in
use at the end.
"""

import gc
import sys
from importlib.util import find_spec

import numpy as np
from cuda.core import Device, DeviceMemoryResource, StatisticsMemoryResource, emulation
from cuda.core.interop import cupy_allocator, torch_allocator

N = 100_000


def with_ours(resource, stream):
    numbers = np.arange(N, dtype=np.float32)
    with resource.allocate(numbers.nbytes, stream=stream) as buffer:
        buffer.copy_from(numbers, stream=stream)
        result = np.empty_like(numbers)
        buffer.copy_to(result, stream=stream)
        stream.sync()
    return float(result.max())


def with_cupy(resource, stream):
    import cupy

    allocator = cupy.cuda.PythonFunctionAllocator(*cupy_allocator(resource))
    cupy.cuda.set_allocator(allocator.malloc)
    return float(cupy.arange(N, dtype=cupy.float32).max())


def with_torch(resource, stream):
    import torch

    allocator = torch.cuda.memory.CUDAPluggableAllocator(*torch_allocator(resource))
    torch.cuda.memory.change_current_allocator(allocator)
    return torch.arange(N, dtype=torch.float32, device="cuda").max().item()


def main() -> int:
    device = Device()
    device.set_current()
    stream = device.create_stream()
    resource = StatisticsMemoryResource(DeviceMemoryResource(device))
    users = {"cuda.core": with_ours}
    if not emulation.is_active():  # both libraries contain machine code
        libraries = {"cupy": with_cupy, "torch": with_torch}
        users |= {name: use for name, use in libraries.items() if find_spec(name)}
    before = 0
    for name, use in users.items():
        correct = use(resource, stream) == N - 1
        gc.collect()
        figures = resource.statistics()
        allocated = figures["allocated_bytes.total"] - before
        before += allocated
        print(f"{name:<10} took {allocated} bytes: {'correct' if correct else 'WRONG'}")
    print(f"still in use: {figures['allocated_bytes.current']} bytes")
    stream.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
