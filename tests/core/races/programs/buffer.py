# SPDX-License-Identifier: Apache-2.0
"""Every operation that accepts a buffer, while another thread closes the buffer.

The memory itself stays allocated, since ordering accesses with a free is the caller's task. The
buffer's attributes, references and deallocation are checked: it is freed once, after its last use.
"""

from cuda.core import Buffer, LaunchConfig, MemoryResource, launch
from harness import chance, device, race, store_kernel

ONE = LaunchConfig(grid=1, block=1)
SIZE = 64

kernel, code = store_kernel()
stream = device.create_stream()
memory = device.allocate(SIZE, stream=stream)
other = device.allocate(SIZE, stream=stream)
stream.sync()


class CountingResource(MemoryResource):
    """Returns buffers over `memory`, and counts allocations and frees."""

    is_device_accessible = True
    is_host_accessible = False
    device_id = device.device_id
    allocated = 0
    freed = 0

    def allocate(self, size, *, stream=None):
        self.allocated += 1
        return Buffer.from_handle(memory.handle, size, mr=self, stream=stream)

    def deallocate(self, ptr, size, *, stream=None):
        assert (int(ptr), size) == (memory.handle, SIZE)
        self.freed += 1


counting = CountingResource()


def make():
    if chance.random() < 0.5:
        return counting.allocate(SIZE, stream=stream)
    return Buffer.from_handle(memory.handle, SIZE, owner=memory)


USES = [
    lambda buffer: buffer.fill(1, stream=stream),
    lambda buffer: buffer.fill(b"\1\2", stream=stream),
    lambda buffer: buffer.copy_to(other, stream=stream),
    lambda buffer: buffer.copy_from(other, stream=stream),
    lambda buffer: other.copy_from(buffer, stream=stream),
    lambda buffer: launch(stream, ONE, kernel, buffer, 1),
    lambda buffer: kernel.prepare(ONE, buffer, 1),
    lambda buffer: buffer.__dlpack__(),
    lambda buffer: buffer.__dlpack__(max_version=(1, 0)),
    lambda buffer: buffer.__dlpack_device__(),
    lambda buffer: buffer.set_deallocation_stream(stream),
    lambda buffer: buffer.close(),
    lambda buffer: (buffer.handle, buffer.size, buffer.memory_resource, buffer.owner),
    lambda buffer: (repr(buffer), hash(buffer), buffer == other),
]

race(make, chance.sample(USES, 5))
if counting.allocated != counting.freed:
    raise AssertionError(
        f"{counting.allocated} buffers were allocated, {counting.freed} were freed"
    )
