# SPDX-License-Identifier: Apache-2.0
"""Examples of the page on buffers."""

import numpy as np
from cuda.core import Device

device = Device()
device.set_current()
stream = device.create_stream()

# example: Buffer
numbers = np.arange(256, dtype=np.float32)
with device.allocate(numbers.nbytes, stream=stream) as buffer:
    buffer.copy_from(numbers, stream=stream)
    print(buffer.size, hex(int(buffer.handle)), buffer.memory_resource)

# example: Buffer.copy_from
buffer = device.allocate(numbers.nbytes, stream=stream)
buffer.copy_from(numbers, stream=stream)  # from an array or another Buffer

# example: Buffer.copy_to
result = np.empty_like(numbers)
buffer.copy_to(result, stream=stream)
stream.sync()
assert np.array_equal(result, numbers)

# example: Buffer.fill
buffer.fill(0, stream=stream)  # each byte
buffer.fill(np.float32(2).tobytes(), stream=stream)  # a pattern of 1, 2 or 4 bytes

# example: Buffer.resize_view
half = buffer.resize_view(0, buffer.size // 2)  # shares the memory
half.fill(0, stream=stream)

# example: Buffer.handle
address = int(buffer.handle)

# example: Buffer.size
assert buffer.size == 1024

# example: Buffer.close
half.close()
buffer.close()  # frees the memory in the order of its stream

# example: Buffer.from_handle
from cuda.core import Buffer

memory = device.allocate(64, stream=stream)
borrowed = Buffer.from_handle(int(memory.handle), 64, owner=memory)
assert borrowed.size == 64

# example: ManagedBuffer
from cuda.core import Host, ManagedMemoryResource

managed = ManagedMemoryResource().allocate(4096, stream=stream)
stream.sync()
if device.properties.concurrent_managed_access:
    managed.prefetch(device, stream=stream)
    managed.prefetch(Host(), stream=stream)
stream.sync()

# example: _sharing.IPCAllocationHandle, _sharing.IPCBufferDescriptor
import pickle

from cuda.core import DeviceMemoryResource

if device.properties.mempool_supported_handle_types & 1:
    pool = DeviceMemoryResource(device, {"ipc_enabled": True})
    shared = pool.allocate(64, stream=stream)
    descriptor = shared.ipc_descriptor  # pickle it, and send it to another process
    handle = pool.allocation_handle  # send it with multiprocessing
    assert pickle.dumps(descriptor) and int(handle) >= 0

# example: _sharing.IPCEventDescriptor
if device.properties.mempool_supported_handle_types & 1:
    event = stream.record(options={"ipc_enabled": True})
    assert pickle.dumps(event.ipc_descriptor)

# example: _sharing.VirtualMemoryIPCBufferDescriptor
from cuda.core import VirtualMemoryResource

virtual = VirtualMemoryResource(device, {"handle_type": "posix_fd"})
region = virtual.allocate(4096, stream=stream)
print(region.ipc_descriptor)
region.close()
