# SPDX-License-Identifier: Apache-2.0
"""Buffers: creation, parts, properties, and copies with arrays."""

from . import row


@row("Buffer.from_handle + close", target=200)
def from_handle(world):
    from cuda.core import Buffer

    address = int(world.buffer.handle)
    return lambda: Buffer.from_handle(address, 1024).close()


@row("Buffer.from_handle(owner=) + close", target=220)
def from_handle_of_an_owner(world):
    from cuda.core import Buffer

    address, owner = int(world.buffer.handle), world
    return lambda: Buffer.from_handle(address, 1024, owner=owner).close()


@row("resize_view + close", target=250, ours_only=True)
def part(world):
    buffer = world.buffer
    return lambda: buffer.resize_view(0, 512).close()


@row("fill, 4 bytes", target=150, twin="memset_async")
def fill_words(world):
    buffer, stream = world.buffer, world.stream
    return lambda: buffer.fill(b"\1\2\3\4", stream=stream)


@row("copy_from", target=90, twin="memcpy_async")
def copy_from(world):
    target, source, stream = world.buffer, world.other, world.stream
    return lambda: target.copy_from(source, stream=stream)


@row("copy_from an ndarray", target=500, ours_only=True, twin="memcpy_async")
def copy_from_an_array(world):
    import numpy as np

    target, stream = world.buffer, world.stream
    source = np.zeros(target.size, np.uint8)
    return lambda: target.copy_from(source, stream=stream)


@row("buffer == buffer", target=60)
def equality(world):
    one, other = world.buffer, world.other
    return lambda: one == other


@row("Buffer.device_id", target=60)
def device_id(world):
    buffer = world.buffer
    return lambda: buffer.device_id


@row("memoryview(pinned buffer)", target=200, ours_only=True)
def view(world):
    from cuda.core import LegacyPinnedMemoryResource

    buffer = LegacyPinnedMemoryResource().allocate(1024)
    return lambda: memoryview(buffer)


@row("allocate+close, pinned pool", target=400, twin="alloc_free_async")
def pinned(world):
    from cuda.core import PinnedMemoryResource, PinnedMemoryResourceOptions

    resource, stream = PinnedMemoryResource(PinnedMemoryResourceOptions()), world.stream
    return lambda: resource.allocate(1024, stream=stream).close()


@row("allocate+close, managed pool", target=400, twin="alloc_free_async")
def managed(world):
    from cuda.core import ManagedMemoryResource, ManagedMemoryResourceOptions

    resource, stream = ManagedMemoryResource(ManagedMemoryResourceOptions()), world.stream
    return lambda: resource.allocate(1024, stream=stream).close()
