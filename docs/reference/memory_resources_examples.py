# SPDX-License-Identifier: Apache-2.0
"""Examples of the page on memory resources."""

from cuda.core import Device, DeviceMemoryResource

device = Device()
device.set_current()
stream = device.create_stream()

# example: MemoryResource
from cuda.core import Buffer, MemoryResource


class Counting(MemoryResource):
    """Allocates from a pool, and counts."""

    def __init__(self, pool):
        self.pool, self.count = pool, 0

    def allocate(self, size, *, stream):
        self.count += 1
        self.last = self.pool.allocate(size, stream=stream)
        return Buffer.from_handle(int(self.last.handle), size, owner=self.last)

    def deallocate(self, ptr, size, *, stream):
        pass  # the owner frees the memory

    @property
    def is_device_accessible(self):
        return True

    @property
    def is_host_accessible(self):
        return False

    @property
    def device_id(self):
        return self.pool.device_id


counting = Counting(DeviceMemoryResource(device))
buffer = counting.allocate(64, stream=stream)
assert counting.count == 1

# example: DeviceMemoryResource, DeviceMemoryResourceOptions
from cuda.core import DeviceMemoryResourceOptions

pool = DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=64 << 20))
with pool.allocate(1024, stream=stream) as memory:
    assert memory.memory_resource == pool
print(pool.attributes.used_mem_current)

# example: DeviceMemoryResource.allocate
memory = pool.allocate(1024, stream=stream)
memory.close()

# example: PinnedMemoryResource, PinnedMemoryResourceOptions
from cuda.core import PinnedMemoryResource, PinnedMemoryResourceOptions

pinned = PinnedMemoryResource(PinnedMemoryResourceOptions(max_size=1 << 20))
host = pinned.allocate(64, stream=stream)
stream.sync()
memoryview(host).cast("B")[:] = bytes(64)

# example: LegacyPinnedMemoryResource
from cuda.core import LegacyPinnedMemoryResource

host = LegacyPinnedMemoryResource().allocate(64)
memoryview(host).cast("B")[:] = bytes(64)

# example: LegacyPinnedMemoryResource.allocate
import numpy as np

numbers = np.from_dlpack(LegacyPinnedMemoryResource().allocate(64)).view(np.float32)
numbers[:] = 1

# example: ManagedMemoryResource, ManagedMemoryResourceOptions
from cuda.core import ManagedMemoryResource, ManagedMemoryResourceOptions

options = ManagedMemoryResourceOptions(preferred_location=device.device_id)
managed = ManagedMemoryResource(options).allocate(4096, stream=stream)
assert managed.is_device_accessible and managed.is_host_accessible

# example: VirtualMemoryResource, VirtualMemoryResourceOptions
from cuda.core import VirtualMemoryResource, VirtualMemoryResourceOptions

virtual = VirtualMemoryResource(device, VirtualMemoryResourceOptions(granularity="minimum"))
region = virtual.allocate(1 << 20)
region.close()

# example: GraphMemoryResource
from cuda.core import GraphMemoryResource

builder = device.create_graph_builder().begin_building()
memory = GraphMemoryResource(device).allocate(64, stream=builder)
memory.fill(1, stream=builder)
memory.close(builder)
builder.end_building().complete().launch(stream)
