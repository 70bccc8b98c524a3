# SPDX-License-Identifier: Apache-2.0
"""Buffer: creation, properties, copies, fill, DLPack, closing."""

import copy
import ctypes
import pickle
import weakref

import numpy as np
from cuda.bindings import driver
from cuda.core import Buffer, Device, LegacyPinnedMemoryResource, MemoryResource

device = Device(0)
device.set_current()
stream = device.create_stream()
pinned = LegacyPinnedMemoryResource()
host_memory = np.zeros(64, dtype=np.uint8)
HOST = host_memory.ctypes.data


class Recording(MemoryResource):
    """Records the arguments of its `deallocate`."""

    def __init__(self, on_device=False):
        self.calls = []
        self.on_device = on_device

    def allocate(self, size, *, stream):
        return Buffer.from_handle(HOST, size, mr=self)

    def deallocate(self, ptr, size, *, stream):
        self.calls.append((type(ptr), ptr == HOST, size, type(stream), int(stream.handle)))

    @property
    def is_device_accessible(self):
        return self.on_device

    @property
    def is_host_accessible(self):
        return True

    @property
    def device_id(self):
        return -1


def calls_of_deallocate(*closing, **arguments):
    resource = Recording()
    buffer = Buffer.from_handle(HOST, 16, mr=resource, **arguments)
    for argument in closing:
        buffer.close(argument)
    buffer.close()
    buffer.close()
    return resource.calls


def calls_at_the_end_of_a_buffer():
    resource = Recording()
    Buffer.from_handle(HOST, 16, mr=resource)
    return resource.calls


def on_device(size=64):
    return device.allocate(size, stream=stream)


held = on_device()


def text_in(buffer, value):
    buffer.fill(value, stream=stream)
    stream.sync()
    return ctypes.string_at(buffer.handle, buffer.size)


def copied():
    source, target = pinned.allocate(16), pinned.allocate(16)
    source.fill(7, stream=stream)
    middle = on_device(16)
    returned = middle.copy_from(source, stream=stream)
    given_back = middle.copy_to(target, stream=stream)
    stream.sync()
    return returned, given_back is target, ctypes.string_at(target.handle, 16)


def copied_to_a_new_one():
    copy = on_device(16).copy_to(stream=stream)
    return copy.size, copy.memory_resource is device.memory_resource


def closed():
    buffer = on_device()
    buffer.close()
    buffer.close()
    return buffer


def left_block():
    with on_device() as buffer:
        size = buffer.size
    return size, buffer.is_closed


def facts(buffer):
    flags = (
        buffer.is_device_accessible,
        buffer.is_host_accessible,
        buffer.is_managed,
        buffer.is_mapped,
    )
    return buffer.device_id, flags, buffer.__dlpack_device__()


def array_of(buffer):
    array = np.from_dlpack(buffer)
    return array.dtype.str, array.shape, array.strides, array.flags.writeable


CASES = [
    copied,
    copied_to_a_new_one,
    left_block,
    calls_at_the_end_of_a_buffer,
    lambda: calls_of_deallocate(),
    lambda: calls_of_deallocate(device.default_stream),
    lambda: len(calls_of_deallocate(stream=stream)),
    lambda: calls_of_deallocate(None),
    lambda: calls_of_deallocate(3),
    lambda: Buffer(),
    lambda: Buffer(1, 2),
    lambda: facts(on_device()),
    lambda: facts(pinned.allocate(8)),
    lambda: facts(Buffer.from_handle(HOST, 8)),
    lambda: facts(Buffer.from_handle(held.handle, 8)),
    lambda: Buffer.from_handle(HOST, 8).memory_resource,
    lambda: Buffer.from_handle(HOST, 8, owner=host_memory).owner is host_memory,
    lambda: Buffer.from_handle(HOST, 8, mr=pinned, owner=host_memory),
    lambda: Buffer.from_handle(HOST, 8, stream=stream),
    lambda: Buffer.from_handle(HOST, 8, mr=3),
    lambda: Buffer.from_handle(None, 8),
    lambda: Buffer.from_handle("x", 8),
    lambda: Buffer.from_handle(HOST, -1),
    lambda: Buffer.from_handle(HOST, "x"),
    lambda: Buffer.from_handle(HOST, 1.5),
    lambda: Buffer.from_handle(HOST, 2**70),
    lambda: Buffer.from_handle(0, 0).handle,
    lambda: Buffer.from_handle(driver.CUdeviceptr(HOST), 8).handle == HOST,
    lambda: Buffer.from_handle(ptr=HOST, size=8, mr=None, owner=None).size,
    lambda: Buffer._init(HOST, 8).size,
    lambda: on_device().size,
    lambda: type(on_device().handle),
    lambda: on_device().owner,
    lambda: on_device().memory_resource is device.memory_resource,
    lambda: repr(on_device()),
    lambda: repr(closed()),
    lambda: on_device().ipc_descriptor,
    lambda: Buffer.from_handle(HOST, 8) == Buffer.from_handle(HOST, 8),
    lambda: Buffer.from_handle(HOST, 8) == Buffer.from_handle(HOST, 9),
    lambda: Buffer.from_handle(HOST, 8) == 8,
    lambda: hash(Buffer.from_handle(HOST, 8)) == hash((HOST, 8)),
    lambda: closed() == closed(),
    lambda: hash(closed()) == hash((0, 0)),
    lambda: weakref.ref(closed())(),
    lambda: pickle.dumps(on_device()),
    lambda: copy.copy(on_device()),
    lambda: closed().handle,
    lambda: closed().size,
    lambda: closed().memory_resource,
    lambda: closed().owner,
    lambda: closed().is_closed,
    lambda: closed().device_id,
    lambda: closed().is_host_accessible,
    lambda: closed().is_device_accessible,
    lambda: closed().is_managed,
    lambda: closed().ipc_descriptor,
    lambda: closed().__dlpack__(),
    lambda: closed().__dlpack_device__(),
    lambda: closed().fill(0, stream=stream),
    lambda: closed().fill(0, stream=None),
    lambda: closed().copy_to(on_device(), stream=stream),
    lambda: on_device().copy_to(closed(), stream=stream),
    lambda: closed().copy_from(on_device(), stream=stream),
    lambda: on_device().copy_from(closed(), stream=stream),
    lambda: closed().set_deallocation_stream(stream),
    lambda: on_device().set_deallocation_stream(stream),
    lambda: on_device().set_deallocation_stream(None),
    lambda: on_device().set_deallocation_stream(3),
    lambda: on_device().close(3),
    lambda: on_device().close(stream),
    lambda: on_device().copy_to(on_device(8), stream=stream),
    lambda: on_device().copy_from(on_device(8), stream=stream),
    lambda: on_device().copy_to(on_device(), stream=None),
    lambda: on_device().copy_to(on_device(), stream=3),
    lambda: on_device().copy_to(on_device()),
    lambda: on_device().copy_to(3, stream=stream),
    lambda: on_device().copy_from(None, stream=stream),
    lambda: Buffer.from_handle(HOST, 8).copy_to(stream=stream),
    lambda: Buffer.from_handle(0, 0).copy_to(Buffer.from_handle(0, 0), stream=stream).size,
    lambda: text_in(pinned.allocate(4), 7),
    lambda: text_in(pinned.allocate(4), True),
    lambda: text_in(pinned.allocate(4), 255),
    lambda: text_in(pinned.allocate(4), 256),
    lambda: text_in(pinned.allocate(4), -1),
    lambda: text_in(pinned.allocate(4), b"a"),
    lambda: text_in(pinned.allocate(4), b"ab"),
    lambda: text_in(pinned.allocate(8), b"abcd"),
    lambda: text_in(pinned.allocate(4), bytearray(b"ab")),
    lambda: text_in(pinned.allocate(4), np.int8(-1)),
    lambda: text_in(pinned.allocate(4), np.int16(-2)),
    lambda: text_in(pinned.allocate(4), np.float32(1.5)),
    lambda: text_in(pinned.allocate(8), np.int64(1)),
    lambda: text_in(pinned.allocate(4), np.array([1, 2], dtype=np.uint8)),
    lambda: text_in(pinned.allocate(4), b""),
    lambda: text_in(pinned.allocate(4), b"abc"),
    lambda: text_in(pinned.allocate(4), "a"),
    lambda: text_in(pinned.allocate(4), 1.5),
    lambda: text_in(pinned.allocate(4), None),
    lambda: text_in(pinned.allocate(3), b"ab"),
    lambda: text_in(pinned.allocate(6), b"abcd"),
    lambda: on_device().fill(1, stream=None),
    lambda: on_device().fill(1),
    lambda: array_of(pinned.allocate(8)),
    lambda: type(on_device().__dlpack__()),
    lambda: '"dltensor"' in repr(on_device().__dlpack__()),
    lambda: '"dltensor_versioned"' in repr(on_device().__dlpack__(max_version=(1, 0))),
    lambda: '"dltensor"' in repr(on_device().__dlpack__(max_version=(0, 8))),
    lambda: on_device().__dlpack__(max_version=3),
    lambda: on_device().__dlpack__(max_version=(1,)),
    lambda: on_device().__dlpack__(max_version=(1, 2, 3)),
    lambda: on_device().__dlpack__(max_version=[1, 0]),
    lambda: on_device().__dlpack__(copy=True),
    lambda: '"dltensor"' in repr(on_device().__dlpack__(copy=False)),
    lambda: on_device().__dlpack__(dl_device=(1, 0)),
    lambda: '"dltensor"' in repr(on_device().__dlpack__(stream=None)),
    lambda: '"dltensor"' in repr(on_device().__dlpack__(stream=-1)),
    lambda: bytes(memoryview(pinned.allocate(2)))[:0],
    lambda: memoryview(on_device()),
]
