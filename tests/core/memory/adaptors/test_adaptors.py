# SPDX-License-Identifier: Apache-2.0
"""Properties that every adaptor shares, for every upstream resource."""

import ctypes
import gc
import time
import weakref

import pytest
from cuda.core import (
    PER_THREAD_DEFAULT_STREAM,
    Buffer,
    CallbackMemoryResource,
    DeviceMemoryResource,
    GraphMemoryResource,
    LegacyPinnedMemoryResource,
    LimitingMemoryResource,
    LoggingMemoryResource,
    ManagedBuffer,
    ManagedMemoryResource,
    MemoryResource,
    OutOfMemoryError,
    StatisticsMemoryResource,
    TrackingMemoryResource,
    VirtualMemoryResource,
)

from tests.threads import run_together

ADAPTORS = {
    "statistics": StatisticsMemoryResource,
    "limiting": lambda mr: LimitingMemoryResource(mr, 1 << 30),
    "logging": lambda mr: LoggingMemoryResource(mr, lambda event: None),
    "tracking": TrackingMemoryResource,
    "untraced": lambda mr: TrackingMemoryResource(mr, stacks=False),
    "two": lambda mr: LimitingMemoryResource(TrackingMemoryResource(mr), 1 << 30),
}
UPSTREAMS = {
    "current pool": DeviceMemoryResource,
    "own pool": lambda device: DeviceMemoryResource(device, {}),
    "pinned": lambda device: LegacyPinnedMemoryResource(),
    "managed": lambda device: ManagedMemoryResource(),
    "virtual": VirtualMemoryResource,
    "user's": lambda device: HostMemory(),
}
KEYS = {
    "allocated_bytes.current",
    "allocated_bytes.peak",
    "allocated_bytes.total",
    "allocation_count.current",
    "allocation_count.total",
    "reserved_bytes.current",
    "reserved_bytes.peak",
    "reuse_same_stream",
    "reuse_cross_stream",
    "cross_stream_waits",
    "upstream_allocs",
    "upstream_frees",
    "oom_retries",
    "largest_free_block",
    "fragmentation",
}


class HostMemory(MemoryResource):
    """Host memory of a user's resource; records each free."""

    is_device_accessible = False
    is_host_accessible = True
    device_id = -1

    def __init__(self):
        self.live = {}
        self.freed = []

    def allocate(self, size, *, stream):
        block = ctypes.create_string_buffer(size + 1)
        address = ctypes.addressof(block)
        self.live[address] = block
        return Buffer.from_handle(address, size, mr=self)

    def deallocate(self, ptr, size, *, stream):
        self.freed.append((self.live.pop(ptr), size, stream))


@pytest.fixture(params=UPSTREAMS.values(), ids=UPSTREAMS)
def upstream(request, device):
    return request.param(device)


@pytest.fixture(params=ADAPTORS.values(), ids=ADAPTORS)
def adaptor(request, upstream):
    return request.param(upstream)


class TestEach:
    def test_memory_comes_from_upstream(self, adaptor, upstream, stream):
        with adaptor.allocate(4096, stream=stream) as buffer:
            assert buffer.memory_resource is adaptor
            assert buffer.size >= 4096
            assert buffer.handle
            assert buffer.owner is None
            if buffer.is_device_accessible:
                buffer.fill(7, stream=stream)
            stream.sync()
            if buffer.is_host_accessible and buffer.is_device_accessible:
                assert bytes(memoryview(buffer)[:4096]) == b"\7" * 4096
        assert buffer.is_closed
        assert adaptor.statistics()["allocated_bytes.current"] == 0

    def test_flags_are_those_of_upstream(self, adaptor, upstream):
        assert isinstance(adaptor, MemoryResource)
        for flag in ("is_device_accessible", "is_host_accessible", "is_managed"):
            assert getattr(adaptor, flag) == getattr(upstream, flag)
        try:
            expected = upstream.device_id
        except RuntimeError as error:
            with pytest.raises(RuntimeError, match=str(error)):
                _ = adaptor.device_id
        else:
            assert adaptor.device_id == expected

    def test_upstream_is_the_constructor_argument(self, adaptor, upstream):
        inner = adaptor.upstream
        while hasattr(inner, "upstream"):
            inner = inner.upstream
        assert inner is upstream
        assert repr(upstream) in repr(adaptor)

    def test_statistics_has_every_name_with_numbers(self, adaptor, stream):
        with adaptor.allocate(100, stream=stream) as buffer:
            figures = adaptor.statistics()
            assert set(figures) == KEYS
            assert all(isinstance(value, (int, float)) for value in figures.values())
            assert figures["allocated_bytes.current"] == buffer.size
            assert figures["reserved_bytes.current"] >= buffer.size
        figures = adaptor.statistics()
        assert figures["allocated_bytes.current"] == figures["allocation_count.current"] == 0
        assert figures["allocated_bytes.peak"] == figures["allocated_bytes.total"] > 0
        assert figures["allocation_count.total"] == 1

    def test_a_closed_adaptor_refuses_to_allocate_but_frees(self, adaptor, stream):
        buffer = adaptor.allocate(64, stream=stream)
        assert not adaptor.is_closed
        adaptor.close()
        adaptor.close()
        assert adaptor.is_closed
        with pytest.raises(RuntimeError, match=f"^{type(adaptor).__name__} has been closed$"):
            adaptor.allocate(64, stream=stream)
        assert adaptor.statistics()["allocation_count.current"] == 1
        buffer.close()
        assert adaptor.statistics()["allocation_count.current"] == 0
        assert "closed" in repr(adaptor)

    def test_upstream_can_be_closed_before_the_buffer(self, adaptor, upstream, stream):
        buffer = adaptor.allocate(64, stream=stream)
        if hasattr(upstream, "close"):
            upstream.close()
        del upstream
        buffer.close()
        assert adaptor.statistics()["allocation_count.current"] == 0

    def test_a_buffer_keeps_the_adaptor_alive(self, adaptor, stream, request):
        outer = StatisticsMemoryResource(adaptor)
        buffer = outer.allocate(64, stream=stream)
        watched = weakref.ref(outer)
        del outer
        gc.collect()
        assert watched() is buffer.memory_resource
        buffer.close()
        gc.collect()
        assert watched() is None

    def test_collection_frees_the_memory(self, adaptor, stream):
        buffer = adaptor.allocate(64, stream=stream)
        del buffer
        gc.collect()
        assert adaptor.statistics()["allocation_count.current"] == 0

    @pytest.mark.parametrize("size", [-1, 1 << 64])
    def test_an_invalid_size_is_refused(self, adaptor, stream, size):
        with pytest.raises((OverflowError, OutOfMemoryError)):
            adaptor.allocate(size, stream=stream)
        with pytest.raises(TypeError):
            adaptor.allocate("1", stream=stream)
        assert adaptor.statistics()["allocation_count.total"] == 0

    def test_threads_lose_no_memory(self, adaptor, device):
        def work():
            device.set_current()
            with device.create_stream() as own:
                for size in range(1, 60):
                    adaptor.allocate(size, stream=own).close()

        run_together(*[work] * 4)
        figures = adaptor.statistics()
        assert figures["allocation_count.total"] == 4 * 59
        assert figures["allocated_bytes.current"] == figures["allocation_count.current"] == 0


class TestOrderOfTheFree:
    @pytest.mark.parametrize("records", [True, False])
    def test_a_stream_that_upstream_did_not_record(self, device, records):
        """The free comes after the work on the allocation stream."""
        freed = []

        class RecordsNoStream(HostMemory):
            is_device_accessible = True

            def allocate(self, size, *, stream):
                return Buffer.from_handle(64, size, mr=self, stream=stream if records else None)

            def deallocate(self, ptr, size, *, stream):
                freed.append(stream)

        with device.create_stream() as own:
            StatisticsMemoryResource(RecordsNoStream()).allocate(8, stream=own).close()
            assert freed == [own]

    def test_the_recorded_stream_is_that_of_the_allocation(self, device, stream):
        inner = HostMemory()
        mr = TrackingMemoryResource(StatisticsMemoryResource(inner))
        mr.allocate(8, stream=stream).close(stream)
        with device.create_stream() as other:
            mr.allocate(8, stream=stream).close(other)
            assert [each[2] for each in inner.freed] == [stream, other]

    def test_set_deallocation_stream_reaches_the_lowest_resource(self, device, stream):
        inner = HostMemory()
        mr = StatisticsMemoryResource(inner)
        with device.create_stream() as other:
            buffer = mr.allocate(8, stream=stream)
            buffer.set_deallocation_stream(other)
            buffer.close()
            assert inner.freed[0][2] == other

    def test_a_stream_that_was_closed_before_the_free(self, device):
        mr = TrackingMemoryResource(DeviceMemoryResource(device))
        own = device.create_stream()
        buffer = mr.allocate(64, stream=own)
        handle = int(own.handle)
        own.close()
        assert mr.report_leaks()[0].stream == handle
        buffer.close()
        assert mr.report_leaks() == []

    def test_another_thread_frees_memory_of_the_per_thread_stream(self, device):
        mr = StatisticsMemoryResource(DeviceMemoryResource(device))
        buffer = mr.allocate(64, stream=PER_THREAD_DEFAULT_STREAM)
        run_together(buffer.close)
        assert mr.statistics()["allocation_count.current"] == 0

    def test_a_capture_stays_valid(self, device, stream):
        mr = StatisticsMemoryResource(DeviceMemoryResource(device, {}))
        buffer = mr.allocate(64, stream=stream)
        builder = stream.create_graph_builder().begin_building()
        buffer.close()
        with pytest.raises(RuntimeError, match="capturing"):
            mr.allocate(64, stream=builder)
        builder.end_building().complete().close()
        builder.close()
        mr.allocate(64, stream=stream).close()  # memory deferred by the capture is freed as well
        assert mr.statistics()["allocation_count.current"] == 0

    def test_memory_of_a_graph_is_freed_in_the_graph(self, device, stream):
        mr = StatisticsMemoryResource(TrackingMemoryResource(GraphMemoryResource(device)))
        builder = stream.create_graph_builder().begin_building()
        buffer = mr.allocate(256, stream=builder)
        buffer.fill(1, stream=builder)
        buffer.close(builder)
        assert mr.statistics()["allocation_count.current"] == 0
        graph = builder.end_building().complete()
        for _ in range(2):  # it would fail if the first launch had left the memory allocated
            graph.launch(stream)
        stream.sync()
        graph.close()
        builder.close()
        mr.upstream.upstream.trim()

    def test_a_graph_retains_other_memory_and_it_is_counted(self, device, stream):
        mr = StatisticsMemoryResource(DeviceMemoryResource(device))
        buffer = mr.allocate(256, stream=stream)
        builder = stream.create_graph_builder().begin_building()
        buffer.fill(1, stream=builder)
        graph = builder.end_building().complete()
        buffer.close()
        assert mr.statistics()["allocation_count.current"] == 1
        graph.launch(stream)
        stream.sync()
        graph.close()
        builder.close()
        device.sync()
        # A driver destroys it on its own thread; a later call drops the reference.
        until = time.monotonic() + 30
        while mr.statistics()["allocation_count.current"] and time.monotonic() < until:
            mr.allocate(1, stream=stream).close()
        assert mr.statistics()["allocation_count.current"] == 0

    def test_a_pending_exception_is_preserved(self, device, stream):
        mr = TrackingMemoryResource(DeviceMemoryResource(device))
        with pytest.raises(TypeError, match="got str"):
            mr.allocate(64, stream=stream).copy_from("text", stream=stream)
        gc.collect()
        assert mr.report_leaks() == []

    def test_a_view_keeps_the_memory(self, device, stream):
        mr = StatisticsMemoryResource(DeviceMemoryResource(device))
        buffer = mr.allocate(64, stream=stream)
        view = buffer.resize_view(16, 16)
        assert view.memory_resource is mr
        buffer.close()
        assert mr.statistics()["allocation_count.current"] == 1
        view.close()
        assert mr.statistics()["allocation_count.current"] == 0


class TestUpstreams:
    def test_the_upstream_must_be_a_memory_resource(self):
        with pytest.raises(
            TypeError, match="^Expected type MemoryResource, got int: pass the upstream"
        ):
            StatisticsMemoryResource(5)

    def test_a_result_that_is_no_buffer_is_reported(self, stream):
        class Wrong(HostMemory):
            def allocate(self, size, *, stream):
                return 4096

        mr = StatisticsMemoryResource(Wrong())
        with pytest.raises(TypeError, match=r"Wrong\.allocate\(\) must return a Buffer, got int"):
            mr.allocate(4, stream=stream)

    def test_managed_buffers_stay_managed(self, device, stream):
        with StatisticsMemoryResource(ManagedMemoryResource()).allocate(
            64, stream=stream
        ) as buffer:
            assert isinstance(buffer, ManagedBuffer)
            assert buffer.is_managed
            buffer.prefetch(device, stream=stream)
            stream.sync()

    def test_a_device_accepts_an_adaptor_as_its_default(self, device, stream):
        before = device.memory_resource
        device.memory_resource = mr = StatisticsMemoryResource(before)
        try:
            device.allocate(64, stream=stream).close()
        finally:
            device.memory_resource = before
        assert mr.statistics()["allocation_count.total"] == 1

    def test_memory_wrapped_by_others_is_freed_upstream(self, stream):
        upstream = HostMemory()
        buffer = upstream.allocate(8, stream=stream)
        buffer._clear()
        address = next(iter(upstream.live))
        Buffer.from_handle(address, 8, mr=StatisticsMemoryResource(upstream)).close()
        assert len(upstream.freed) == 1 and not upstream.live

    def test_host_memory_requires_no_context(self, in_new_thread):
        def use():
            mr = StatisticsMemoryResource(HostMemory())
            mr.allocate(8, stream=None).close()
            mr.allocate(8, stream=PER_THREAD_DEFAULT_STREAM).close()
            return mr.statistics()["allocation_count.total"]

        assert in_new_thread(use) == 2

    def test_device_memory_without_a_context_leaks_nothing(self, device, in_new_thread):
        mr = StatisticsMemoryResource(CallbackMemoryResource(lambda *_: 64, lambda *_: None))

        def use():
            with pytest.raises(RuntimeError, match="no CUDA context is current"):
                mr.allocate(8, stream=PER_THREAD_DEFAULT_STREAM)
            return mr.statistics()["allocation_count.current"]

        assert in_new_thread(use) == 0

    def test_an_address_allocated_twice_is_freed_twice(self, stream):
        freed = []
        upstream = CallbackMemoryResource(
            lambda size, stream: 4096, lambda *arguments: freed.append(arguments[1])
        )
        mr = StatisticsMemoryResource(upstream)
        buffers = [mr.allocate(size, stream=stream) for size in (8, 16, 8, 24)]
        for buffer in buffers[::-1]:
            buffer.close()
        assert sorted(freed) == [8, 8, 16, 24]
        assert mr.statistics()["allocated_bytes.current"] == 0
        assert upstream.statistics()["allocated_bytes.current"] == 0

    def test_a_cycle_through_a_user_resource(self, stream):
        upstream = HostMemory()
        mr = StatisticsMemoryResource(upstream)
        freed = upstream.freed
        upstream.own_buffer = mr.allocate(8, stream=stream)
        del upstream, mr
        gc.collect()
        assert len(freed) == 1

    def test_a_high_water_mark_can_be_reset(self, device, stream):
        mr = StatisticsMemoryResource(DeviceMemoryResource(device))
        mr.allocate(4096, stream=stream).close()
        mr.reset_high_water_marks()
        assert mr.statistics()["allocated_bytes.peak"] == 0
        mr.allocate(64, stream=stream).close()
        assert mr.statistics()["allocated_bytes.peak"] == 64
