# SPDX-License-Identifier: Apache-2.0
"""Examples of the page on allocators for other packages."""

from cuda.core import Device, PoolMemoryResource, interop

device = Device()
device.set_current()
pool = PoolMemoryResource(device)

# example: interop.torch_allocator
library, allocate, free = interop.torch_allocator(pool)
# torch.cuda.memory.CUDAPluggableAllocator(library, allocate, free)

# example: interop.cupy_allocator
malloc, free_ = interop.cupy_allocator(pool)
# cupy.cuda.set_allocator(cupy.cuda.PythonFunctionAllocator(malloc, free_).malloc)
