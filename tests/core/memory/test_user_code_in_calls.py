# SPDX-License-Identifier: Apache-2.0
"""Calls whose arguments close a Buffer of the call while they are converted."""

import gc

import numpy as np
import pytest
from cuda.core import (
    Buffer,
    DeviceMemoryResource,
    Host,
    ManagedBuffer,
    ManagedMemoryResource,
    MemoryResource,
    PoolMemoryResource,
    VirtualMemoryResource,
    VirtualMemoryResourceOptions,
)
from cuda.core.utils import CopyOptions, StridedMemoryView, copy_batch, prefetch_batch
from cuda.core.views import copy_kernel

SIZE = 768


@pytest.fixture(autouse=True)
def no_kernels():
    """Unload the copy kernels of views, which would count as leaks of the test."""
    yield
    copy_kernel.forget()
    gc.collect()


class ClosingOptions(CopyOptions):
    """Options that call a function at each read of an attribute."""

    def __getattribute__(self, name):
        if name == "dst_location_hint":
            object.__getattribute__(self, "action")()
        return object.__getattribute__(self, name)


def closing_options(action):
    options = ClosingOptions.__new__(ClosingOptions)
    object.__setattr__(options, "action", lambda: None)
    ClosingOptions.__init__(options)
    object.__setattr__(options, "action", action)
    return options


@pytest.fixture
def pool(device):
    with_pool = PoolMemoryResource(device)
    yield with_pool
    with_pool.close()


class Replacement:
    """Closes a buffer and allocates another one, which gets the same address from a pool."""

    def __init__(self, pool, stream, buffer):
        self.pool, self.stream, self.buffer, self.later = pool, stream, buffer, None

    def __call__(self):
        if self.later is None:
            self.buffer.close()
            self.later = self.pool.allocate(SIZE, stream=self.stream)
            self.later.fill(3, stream=self.stream)

    def is_untouched(self):
        content = np.zeros(SIZE, np.uint8)
        self.later.copy_to(content, stream=self.stream)
        self.stream.sync()
        return set(content.tolist()) == {3}


def buffers(pool, stream, count):
    return [pool.allocate(SIZE, stream=stream) for _ in range(count)]


class TestOptions:
    @pytest.mark.parametrize("call", ["copy_to", "copy_from"])
    def test_an_option_closes_the_destination(self, pool, stream, call):
        source, target = buffers(pool, stream, 2)
        source.fill(9, stream=stream)
        action = Replacement(pool, stream, target)
        one, other = (source, target) if call == "copy_to" else (target, source)
        with pytest.raises(RuntimeError, match="Buffer has been closed"):
            getattr(one, call)(other, stream=stream, options=closing_options(action))
        assert action.is_untouched()

    @pytest.mark.parametrize("position", [0, 1, 2])
    def test_an_option_of_a_batch_closes_a_destination(self, pool, stream, position):
        sources, targets = buffers(pool, stream, 3), buffers(pool, stream, 3)
        action = Replacement(pool, stream, targets[0])
        options = [CopyOptions()] * 3
        options[position] = closing_options(action)
        with pytest.raises(RuntimeError, match="Buffer has been closed"):
            copy_batch(stream, sources, targets, options=options)
        assert action.is_untouched()

    def test_comparing_options_of_a_batch_runs_no_user_code(self, pool, stream):
        class Compared(CopyOptions):
            def __eq__(self, other):
                raise AssertionError("compared")

            __hash__ = None

        sources, targets = buffers(pool, stream, 2), buffers(pool, stream, 2)
        sources[1].fill(5, stream=stream)
        copy_batch(stream, sources, targets, options=[Compared(), Compared()])
        content = np.zeros(SIZE, np.uint8)
        targets[1].copy_to(content, stream=stream)
        stream.sync()
        assert set(content.tolist()) == {5}


class ManagedProperty(MemoryResource):
    """A resource whose property `is_managed` calls a function."""

    is_device_accessible = is_host_accessible = True
    device_id = 0
    action = None

    def deallocate(self, ptr, size, *, stream):
        pass

    @property
    def is_managed(self):
        if self.action is not None:
            self.action()
        return True


class TestManagedMemory:
    @pytest.fixture
    def closing(self, device, stream):
        with ManagedMemoryResource().allocate(SIZE, stream=stream) as memory:
            resource = ManagedProperty()
            buffer = ManagedBuffer.from_handle(memory.handle, SIZE, mr=resource, stream=stream)
            resource.action = buffer.close
            yield buffer

    @pytest.mark.parametrize(
        "call",
        [
            lambda buffer, stream: setattr(buffer, "read_mostly", True),
            lambda buffer, stream: buffer.read_mostly,
            lambda buffer, stream: buffer.prefetch(Host(), stream=stream),
            lambda buffer, stream: buffer.discard(stream=stream),
            lambda buffer, stream: prefetch_batch(stream, [buffer], Host()),
        ],
    )
    def test_the_resource_closes_the_buffer(self, closing, stream, call):
        with pytest.raises(RuntimeError, match="Buffer has been closed"):
            call(closing, stream)


class ClosingAllocator(MemoryResource):
    """An allocator of staging memory that first calls a function."""

    is_device_accessible, is_host_accessible, device_id = True, False, 0

    def __init__(self, device, action):
        self.inner, self.action = DeviceMemoryResource(device), action

    def allocate(self, size, *, stream):
        self.action()
        return self.inner.allocate(size, stream=stream)


class TestViews:
    @pytest.mark.parametrize("to_host", [False, True])
    def test_the_staging_allocator_closes_the_device_memory(self, device, pool, stream, to_host):
        memory = pool.allocate(SIZE, stream=stream)
        action = Replacement(pool, stream, memory)
        on_device = StridedMemoryView.from_buffer(memory, (8, 8), dtype="f4")[:, ::2]
        on_host = StridedMemoryView.from_dlpack(np.ones((8, 4), "f4"), -1)
        target, source = (on_host, on_device) if to_host else (on_device, on_host)
        with pytest.raises(RuntimeError, match="Buffer has been closed"):
            target.copy_from(source, stream, ClosingAllocator(device, action))
        stream.sync()
        assert action.is_untouched()

    def test_a_property_of_a_subclass_closes_the_memory(self, pool, stream):
        class Shape(StridedMemoryView):
            @property
            def shape(self):
                action()
                return (192,)

        memory, other = buffers(pool, stream, 2)
        action = Replacement(pool, stream, memory)
        target = Shape.from_buffer(memory, (192,), dtype="f4")
        source = StridedMemoryView.from_buffer(other, (192,), dtype="f4")
        with pytest.raises(RuntimeError, match="Buffer has been closed"):
            target.copy_from(source, stream)
        assert action.is_untouched()


def test_the_destination_of_copy_to_is_allocated_before_the_addresses_are_read(device, stream):
    class Closes(ClosingAllocator):
        def deallocate(self, ptr, size, *, stream):
            pass

    with DeviceMemoryResource(device).allocate(64, stream=stream) as memory:
        resource = Closes(device, lambda: buffer.close())
        buffer = Buffer.from_handle(memory.handle, 64, mr=resource, stream=stream)
        with pytest.raises(RuntimeError, match="Buffer has been closed"):
            buffer.copy_to(stream=stream)


class ClosingValue:
    """A value that closes a buffer when it is converted."""

    def __init__(self, action):
        self.action = action

    def __index__(self):
        self.action()
        return 1


def test_a_value_of_a_batch_closes_the_target_of_an_earlier_operation(pool, stream):
    memory, other = buffers(pool, stream, 2)
    action = Replacement(pool, stream, memory)
    operations = [("write", memory, 7), ("write", other, ClosingValue(action))]
    with pytest.raises(RuntimeError, match="Buffer has been closed"):
        stream.value_operations(operations)
    assert action.is_untouched()


class TestVirtualMemory:
    @pytest.fixture
    def resource(self, device):
        return VirtualMemoryResource(device)

    def test_options_cannot_close_the_buffer_that_grows(self, resource, stream):
        class Closes(VirtualMemoryResourceOptions):
            @property
            def addr_align(self):
                with pytest.raises(BufferError) as caught:
                    buffer.close()
                closing_errors.append(caught)

            @addr_align.setter
            def addr_align(self, value):
                pass

        closing_errors = []
        buffer = resource.allocate(SIZE, stream=stream)
        size = buffer.size
        neighbor = resource.allocate(SIZE, stream=stream)
        resource.modify_allocation(buffer, 4 * size, Closes())
        assert buffer.size >= 4 * size
        neighbor.close()
        buffer.close()

    def test_an_address_does_not_free_the_memory_of_a_buffer(self, resource, stream):
        buffer = resource.allocate(SIZE, stream=stream)
        address, size = buffer.handle, buffer.size
        with pytest.warns(RuntimeWarning, match="a Buffer owns the allocation at"):
            resource.deallocate(address, size, stream=stream)
        buffer.fill(1, stream=stream)
        buffer._clear()
        resource.deallocate(address, size, stream=stream)
