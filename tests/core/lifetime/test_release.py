# SPDX-License-Identifier: Apache-2.0
"""Memory and objects are freed once, whatever happens to their stream, context or process."""

import threading
import time

import pytest
from cuda.bindings import driver
from cuda.core import (
    Buffer,
    Device,
    DeviceMemoryResource,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Stream,
)

from ...probing import ok


class Order:
    """Checks whether work of one stream waits for another, which a host function blocks."""

    def __init__(self, blocked):
        self.go, self.passed = threading.Event(), threading.Event()
        blocked.launch_host(lambda: self.go.wait(60) and self.passed.set())

    def is_behind(self, stream):
        """Return whether new work of `stream` runs after the work of the blocked stream.

        The check uses an event, because a driver runs only one host function at a time.
        """
        event = stream.record()
        end = time.monotonic() + 0.5
        while not (is_done := event.is_done) and time.monotonic() < end:
            time.sleep(0.01)
        self.go.set()
        stream.sync()
        return self.passed.wait(60) and not is_done


class WrappingResource(LegacyPinnedMemoryResource):
    """Frees memory that another buffer owns."""

    def __init__(self, inner):
        self.inner = inner

    def deallocate(self, ptr, size=0, stream=None):
        self.inner.close()


def prepared_buffer(device, stream, load_kernel):
    buffer = device.allocate(64, stream=stream)
    prepared = load_kernel(".param .u64 p").prepare(LaunchConfig(grid=1, block=1), buffer)
    return buffer, prepared


class TestExportOrder:
    @pytest.mark.parametrize("kind", ["plain", "prepared", "of a user's resource", "redirected"])
    def test_the_consumer_stream_waits_for_the_stream_of_the_memory(
        self, device, load_kernel, kind
    ):
        with device.create_stream() as producer, device.create_stream() as consumer:
            keep = None
            if kind == "of a user's resource":
                buffer = Buffer.from_handle(
                    (inner := LegacyPinnedMemoryResource().allocate(64)).handle,
                    64,
                    mr=WrappingResource(inner),
                    stream=producer,
                )
            elif kind == "redirected":
                buffer, keep = prepared_buffer(device, consumer, load_kernel)
                buffer.set_deallocation_stream(producer)
            elif kind == "prepared":
                buffer, keep = prepared_buffer(device, producer, load_kernel)
            else:
                buffer = device.allocate(64, stream=producer)
            order = Order(producer)
            buffer.__dlpack__(stream=int(consumer.handle))
            assert order.is_behind(consumer)
            del keep
            buffer.close()

    def test_the_stream_of_the_memory_does_not_wait_for_the_consumer(self, device):
        with device.create_stream() as producer, device.create_stream() as consumer:
            buffer = device.allocate(64, stream=producer)
            order = Order(consumer)
            buffer.__dlpack__(stream=int(consumer.handle))
            assert not order.is_behind(producer)
            buffer.close()

    def test_memory_of_the_default_stream_needs_no_event_there(self, device, emulation):
        def waits():
            return emulation.stats()["calls"].get("cuStreamWaitEvent", 0)

        buffer = device.allocate(64, stream=device.default_stream)
        before = waits()
        buffer.__dlpack__(stream=1)
        assert waits() == before
        other = ok(driver.cuCtxCreate(None, 0, 0))  # becomes current, and has its own stream 1
        try:
            buffer.__dlpack__(stream=1)
        finally:
            ok(driver.cuCtxDestroy(other))
        assert waits() == before + 1
        buffer.close()

    @pytest.mark.parametrize("stream", [None, -1])
    def test_without_a_request_no_order_is_established(self, device, stream):
        with device.create_stream() as producer, device.create_stream() as consumer:
            buffer = device.allocate(64, stream=producer)
            order = Order(producer)
            buffer.__dlpack__(stream=stream)
            assert not order.is_behind(consumer)
            buffer.close()


class TestStreams:
    def test_a_free_on_another_thread_waits_for_the_recorded_per_thread_stream(
        self, device, in_new_thread, emulation
    ):
        """The other thread has its own per-thread default stream."""
        buffer = device.allocate(64, stream=Stream._per_thread_default())

        def free_buffer():
            Device(0).set_current()
            before = emulation.stats()["calls"].get("cuStreamWaitEvent", 0)
            buffer.close()
            return emulation.stats()["calls"].get("cuStreamWaitEvent", 0) - before

        assert in_new_thread(free_buffer) == 1

    def test_a_new_deallocation_stream_applies_to_shared_memory(self, device, load_kernel):
        streams = []

        class RecordingResource(WrappingResource):
            def deallocate(self, ptr, size, *, stream):
                super().deallocate(ptr, size, stream=stream)
                streams.append(stream)

        inner = LegacyPinnedMemoryResource().allocate(64)
        with device.create_stream() as first, device.create_stream() as second:
            buffer = Buffer.from_handle(inner.handle, 64, mr=RecordingResource(inner), stream=first)
            prepared = load_kernel(".param .u64 p").prepare(LaunchConfig(grid=1, block=1), buffer)
            buffer.set_deallocation_stream(second)
            buffer.close()
            del prepared
            assert streams == [second]

    def test_memory_of_a_stream_destroyed_by_its_owner_is_freed(self, device, emulation):
        """The stream belongs to another library, which destroyed it too early; nothing leaks."""
        _, raw = driver.cuStreamCreate(1)
        pool = DeviceMemoryResource(device, {})
        buffer = pool.allocate(1 << 20, stream=Stream.from_handle(int(raw)))
        assert driver.cuStreamSynchronize(raw)[0] == driver.cuStreamDestroy(raw)[0] == 0
        with emulation.expect_fault("destroyed-handle"):
            buffer.close()
        device.sync()
        assert pool.attributes.used_mem_current == 0

    def test_a_subclass_of_a_resource_without_streams_receives_a_stream(self, device):
        streams = []

        class Mine(LegacyPinnedMemoryResource):
            def deallocate(self, ptr, size, *, stream):
                streams.append(stream)
                super().deallocate(ptr, size, stream=stream)

        Mine().allocate(8).close()
        assert [type(each) for each in streams] == [Stream]


def test_owners_can_be_nested_hundreds_of_thousands_deep():
    buffer = Buffer.from_handle(0x10, 8)
    for _ in range(300_000):
        buffer = Buffer.from_handle(0x10, 8, owner=buffer)
    buffer.close()
    buffer = Buffer.from_handle(0x10, 8)
    for _ in range(300_000):
        buffer = Buffer.from_handle(0x10, 8, owner=buffer)
    del buffer


def test_sizes_beyond_a_signed_size_are_not_exported():
    buffer = Buffer.from_handle(0, 1 << 63)
    for show in (memoryview, lambda each: each.__dlpack__()):
        with pytest.raises(BufferError, match="9223372036854775808 bytes"):
            show(buffer)


def test_exported_arrays_do_not_keep_a_buffer_open(device):
    """The reference allows this, and programs rely on it."""
    import numpy as np

    buffer = LegacyPinnedMemoryResource().allocate(16)
    array = np.from_dlpack(buffer)
    buffer.close()
    assert buffer.is_closed and array.shape == (16,)
