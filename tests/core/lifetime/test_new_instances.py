# SPDX-License-Identifier: Apache-2.0
"""Subclasses whose `__new__` or metaclass does not do what the library expects."""

import ctypes

import numpy as np
import pytest
from cuda.core import (
    Buffer,
    Event,
    LegacyPinnedMemoryResource,
    ManagedBuffer,
    MemoryResource,
    Stream,
)
from cuda.core.utils import StridedMemoryView


def subclass(base, result):
    """Return a class whose `__new__` returns the result of a function."""
    return type("Special", (base,), {"__new__": lambda cls, *args, **options: result()})


@pytest.fixture(params=["buffer", "managed", "view", "stream", "event"])
def factory(request, device, stream):
    """The base class, and a function that creates an instance of a subclass."""
    memory = ctypes.create_string_buffer(64)
    array = np.zeros(3)
    event = stream.record(options={"ipc_enabled": True})
    request.addfinalizer(event.close)
    return {
        "buffer": (Buffer, lambda cls: cls._init(ctypes.addressof(memory), 64, owner=memory)),
        "managed": (ManagedBuffer, lambda cls: cls._init(ctypes.addressof(memory), 64)),
        "view": (StridedMemoryView, lambda cls: cls.from_dlpack(array, -1)),
        "stream": (Stream, lambda cls: cls._init(stream)),
        "event": (Event, lambda cls: cls.from_ipc_descriptor(event.ipc_descriptor)),
    }[request.param]


@pytest.mark.parametrize("result", [None, 7, "text"])
def test_another_object_is_rejected(factory, result):
    base, create = factory
    with pytest.raises(TypeError, match=r"Special\.__new__\(\) must return a \w+, got "):
        create(subclass(base, lambda: result))


def test_an_object_in_use_is_rejected(factory):
    base, create = factory
    first = create(base)
    with pytest.raises(TypeError, match="must return a new object, got one in use or closed"):
        create(subclass(base, lambda: first))
    if base is not StridedMemoryView:
        address = first.handle
        first.close()
        with pytest.raises(TypeError, match="must return a new object, got one in use or closed"):
            create(subclass(base, lambda: first))
        assert address and first.is_closed


class EqualToAll(type):
    """A metaclass whose classes equal every class."""

    def __eq__(cls, other):
        return True

    __hash__ = type.__hash__


def test_a_class_that_equals_a_synchronous_resource_is_not_one(device, stream):
    class Liar(MemoryResource, metaclass=EqualToAll):
        is_device_accessible, is_host_accessible, device_id = True, True, -1
        freed = 0

        def allocate(self, size, *, stream):
            return Buffer.from_handle(ctypes.addressof(memory), size, mr=self, stream=stream)

        def deallocate(self, ptr, size, *, stream):
            type(self).freed += 1

    memory = ctypes.create_string_buffer(64)
    Liar().allocate(64, stream=stream).close()
    assert Liar.freed == 1
    with LegacyPinnedMemoryResource().allocate(64) as buffer:
        assert not buffer.is_closed
