# SPDX-License-Identifier: Apache-2.0
"""The guarantees of PoolMemoryResource."""

import gc
import pickle
import threading
from itertools import pairwise

import pytest
from cuda.core import (
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    Buffer,
    CUDAError,
    MemoryResource,
    OutOfMemoryError,
    PoolMemoryResource,
    host_launch,
)

MIB = 1 << 20


class Counting(MemoryResource):
    """Allocates from the device's own resource, up to `limit` bytes."""

    is_device_accessible = True
    is_host_accessible = False
    device_id = 0

    def __init__(self, device, limit=1 << 40):
        self.inner, self.limit = device.memory_resource, limit
        self.live = {}
        self.calls = []

    def allocate(self, size, *, stream):
        self.calls.append(size)
        if sum(buffer.size for buffer in self.live.values()) + size > self.limit:
            raise OutOfMemoryError("that is all", code=2, requested=size)
        buffer = self.inner.allocate(size, stream=stream)
        self.live[buffer.handle] = buffer
        return Buffer.from_handle(buffer.handle, size, mr=self, stream=stream)

    def deallocate(self, ptr, size, *, stream):
        self.live.pop(int(ptr)).close(stream)


@pytest.fixture
def upstream(device):
    counting = Counting(device)
    yield counting
    gc.collect()
    assert counting.live == {}


def figures(pool, *names):
    statistics = pool.statistics()
    return tuple(statistics[name] for name in names)


class TestOrder:
    def test_a_block_is_reused_immediately_on_its_stream(self, pool, stream, blocked):
        with blocked(stream):
            first = pool.allocate(1024, stream=stream)
            address = first.handle
            first.close()
            with pool.allocate(1024, stream=stream) as second:
                assert second.handle == address
        assert figures(pool, "cross_stream_waits", "upstream_allocs") == (0, 1)

    def test_another_stream_reuses_completed_blocks(self, make_pool, stream, other_stream):
        pool = make_pool(max_size=2 * MIB)
        pool.allocate(2 * MIB, stream=stream).close()
        stream.sync()
        with pool.allocate(MIB, stream=other_stream):
            assert figures(pool, "reuse_cross_stream", "cross_stream_waits") == (1, 0)

    def test_another_stream_waits_for_pending_blocks(
        self, make_pool, stream, other_stream, blocked
    ):
        pool = make_pool(max_size=2 * MIB)
        order = []
        with blocked(stream) as gate:
            stream_buffer = pool.allocate(2 * MIB, stream=stream)
            host_launch(stream, lambda: order.append("first"))
            stream_buffer.close()
            with pool.allocate(MIB, stream=other_stream):
                assert figures(pool, "reuse_cross_stream", "cross_stream_waits") == (1, 1)
                host_launch(other_stream, lambda: order.append("second"))
                assert order == []
                gate.set()
                other_stream.sync()
        assert order == ["first", "second"]

    def test_a_batch_of_frees_requires_one_event(self, device, make_pool, emulation):
        pool = make_pool(max_size=8 * MIB)
        stream, other = device.create_stream(), device.create_stream()
        for buffer in [pool.allocate(2 * MIB, stream=stream) for _ in range(4)]:
            buffer.close()
        before = emulation.stats()["calls"].get("cuEventRecord", 0)
        buffers = [pool.allocate(2 * MIB, stream=other) for _ in range(4)]
        assert emulation.stats()["calls"]["cuEventRecord"] - before == 1
        for buffer in buffers:
            buffer.close()

    def test_each_thread_has_its_own_default_stream(self, make_pool, in_new_thread, device):
        pool = make_pool(max_size=2 * MIB)
        pool.allocate(2 * MIB, stream=PER_THREAD_DEFAULT_STREAM).close()

        def on_another_thread():
            device.set_current()
            with pool.allocate(2 * MIB, stream=PER_THREAD_DEFAULT_STREAM):
                return figures(pool, "reuse_same_stream", "reuse_cross_stream")

        assert in_new_thread(on_another_thread) == (0, 1)

    def test_a_free_on_another_stream_is_ordered_there(
        self, make_pool, stream, other_stream, blocked
    ):
        pool = make_pool(max_size=2 * MIB)
        with blocked(other_stream):
            pool.allocate(2 * MIB, stream=stream).close(other_stream)
            with pool.allocate(MIB, stream=stream):
                assert figures(pool, "cross_stream_waits") == (1,)
            buffer = pool.allocate(MIB, stream=stream)
            buffer.set_deallocation_stream(other_stream)
            buffer.close()


@pytest.mark.parametrize("size", [1, 511, 512, 513, 1024, 1025])
def test_an_initial_segment_is_large_enough_for_its_size(make_pool, stream, size):
    pool = make_pool(initial_size=size)
    with pool.allocate(size, stream=stream):
        assert figures(pool, "upstream_allocs") == (1,)


class TestThreads:
    def test_threads_allocate_and_free_concurrently(self, pool, device):
        errors = []

        def work():
            try:
                device.set_current()
                with device.create_stream() as stream:
                    for turn in range(200):
                        held = [
                            pool.allocate(100 * (turn % 9 + 1), stream=stream) for _ in range(5)
                        ]
                        assert len({buffer.handle for buffer in held}) == 5
                        for buffer in held:
                            buffer.close()
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert figures(pool, "allocation_count.total", "allocated_bytes.current") == (4000, 0)


class TestBlocks:
    def test_blocks_are_aligned_and_disjoint(self, pool, stream):
        buffers = [pool.allocate(size, stream=stream) for size in (1, 511, 512, 513, 3 * MIB, 7)]
        spans = sorted((buffer.handle, buffer.handle + buffer.size) for buffer in buffers)
        assert all(start % 512 == 0 for start, _ in spans)
        assert all(first[1] <= second[0] for first, second in pairwise(spans))
        for buffer in buffers:
            buffer.close()

    def test_an_empty_buffer_has_no_address(self, pool, stream):
        with pool.allocate(0, stream=stream) as buffer:
            assert (buffer.handle, buffer.size, buffer.memory_resource) == (0, 0, pool)
        assert pool.statistics()["allocation_count.total"] == 0

    def test_upstream_may_have_a_smaller_alignment(self, device, make_pool, stream):
        class Odd(Counting):
            def allocate(self, size, *, stream):
                buffer = super().allocate(size + 64, stream=stream)
                self.live[buffer.handle + 64] = self.live.pop(buffer.handle)
                buffer._clear()
                return Buffer.from_handle(buffer_address + 64, size, mr=self, stream=stream)

        odd = Odd(device)
        real = odd.inner

        class Inner:
            def allocate(self, size, *, stream):
                nonlocal buffer_address
                buffer = real.allocate(size, stream=stream)
                buffer_address = buffer.handle
                return buffer

        buffer_address = 0
        odd.inner = Inner()
        pool = make_pool(upstream=odd)
        with pool.allocate(2 * MIB, stream=stream) as buffer:
            assert buffer.handle % 512 == 0
            buffer.fill(1, stream=stream)
        assert len(odd.calls) == 2
        pool.close()
        assert odd.live == {}

    def test_neighboring_blocks_are_coalesced(self, make_pool, stream):
        pool = make_pool(max_size=2 * MIB)
        for buffer in [pool.allocate(1000, stream=stream) for _ in range(2048)]:
            buffer.close()
        with pool.allocate(2 * MIB, stream=stream):
            assert figures(pool, "upstream_allocs") == (1,)


class TestOutOfMemory:
    def test_free_segments_are_released_before_a_retry(self, device, upstream, make_pool, stream):
        upstream.limit = 8 * MIB
        pool = make_pool(upstream=upstream)
        for size in (2 * MIB, 4 * MIB):
            pool.allocate(size, stream=stream).close()
        with pool.allocate(8 * MIB, stream=stream):
            assert figures(pool, "upstream_frees", "oom_retries") == (2, 1)

    def test_garbage_is_collected_before_a_retry(self, upstream, make_pool, stream):
        upstream.limit = 4 * MIB
        pool = make_pool(upstream=upstream)
        cycle = [pool.allocate(4 * MIB, stream=stream)]
        cycle.append(cycle)
        del cycle
        with pool.allocate(3 * MIB, stream=stream):
            assert figures(pool, "oom_retries") == (2,)

    def test_pieces_of_several_streams_are_coalesced(self, make_pool, stream, other_stream):
        pool = make_pool(max_size=4 * MIB)
        large, separator = (pool.allocate(size, stream=stream) for size in (3 * MIB, 1024))
        part = large.handle
        large.close()
        pool.allocate(1024, stream=stream).close()
        stream.sync()
        with pool.allocate(MIB, stream=other_stream) as lower:
            assert lower.handle == part
        other_stream.sync()
        # The free memory now consists of pieces of two streams.
        with pool.allocate(3 * MIB, stream=stream) as buffer:
            assert buffer.handle == part
            assert figures(pool, "oom_retries", "cross_stream_waits") == (0, 0)
        separator.close()

    def test_pieces_are_coalesced_after_a_wait_for_the_device(
        self, device, make_pool, stream, other_stream, blocked
    ):
        pool = make_pool(initial_size=4 * MIB, max_size=4 * MIB)
        separator = pool.allocate(1024, stream=stream)  # prevents the release of the whole segment
        with (
            device.create_stream() as third,
            blocked(other_stream) as first_gate,
            blocked(third) as second_gate,
        ):
            pieces = [pool.allocate(3 * MIB // 2, stream=each) for each in (other_stream, third)]
            part = min(piece.handle for piece in pieces)
            for piece in pieces:
                piece.close()
            release = threading.Timer(0.3, lambda: (first_gate.set(), second_gate.set()))

            def collected(phase, info):  # the last collection before the wait
                if phase == "stop" and info["generation"] == 2 and not release.ident:
                    release.start()

            gc.callbacks.append(collected)
            try:
                buffer = pool.allocate(3 * MIB, stream=stream)
            finally:
                gc.callbacks.remove(collected)
            with buffer:
                assert buffer.handle == part
                assert figures(pool, "oom_retries") == (3,)
            release.join()
        separator.close()

    def test_the_error_reports_use_and_limit(self, make_pool, stream):
        pool = make_pool(max_size=4 * MIB, track_allocations=True)
        with pool.allocate(3 * MIB, stream=stream) as buffer, pool.allocate(5, stream=stream):
            with pytest.raises(OutOfMemoryError, match="or request less$") as caught:
                pool.allocate(2 * MIB, stream=stream)
            with pytest.raises(OutOfMemoryError, match=f"exceeds its max_size of {4 * MIB}"):
                pool.allocate(5 * MIB, stream=stream)
            error = caught.value
            assert (error.code, error.name) == (2, "CUDA_ERROR_OUT_OF_MEMORY")
            assert error.requested == 2 * MIB
            assert error.device_id == 0
            assert error.used == 3 * MIB + 5
            assert error.limit == 4 * MIB
            assert error.reserved <= 4 * MIB
            assert error.peak == 3 * MIB + 5
            assert error.largest_free_block < MIB
            assert [record.size for record in error.largest_allocations] == [3 * MIB, 5]
            assert error.largest_allocations[0].address == buffer.handle
            with pool.allocate(512, stream=stream):  # the pool continues to work
                pass
        assert isinstance(error, MemoryError)
        assert isinstance(error, CUDAError)

    def test_an_error_of_the_driver_also_reports_the_device(self, device, pool, stream):
        with pytest.raises(OutOfMemoryError) as caught:
            pool.allocate(1 << 50, stream=stream)
        assert caught.value.device_total == device.memory_info.total
        assert caught.value.largest_allocations == []
        assert pool.statistics()["reserved_bytes.current"] == 0

    @pytest.mark.parametrize("size", [(1 << 64) - 1, (1 << 64) - 513, 1 << 63])
    def test_a_size_beyond_all_addresses(self, pool, stream, size):
        with pytest.raises(OutOfMemoryError):
            pool.allocate(size, stream=stream)


class TestStreams:
    def test_a_destroyed_stream_keeps_its_memory_usable(
        self, device, make_pool, other_stream, blocked
    ):
        pool = make_pool(max_size=2 * MIB)
        gate = threading.Event()
        stream = device.create_stream()
        host_launch(stream, gate.wait)
        pool.allocate(2 * MIB, stream=stream).close()
        stream.close()
        order = []
        with pool.allocate(2 * MIB, stream=other_stream):
            host_launch(other_stream, lambda: order.append(gate.is_set()))
            assert figures(pool, "cross_stream_waits") == (1,)
            gate.set()
            other_stream.sync()
        assert order == [True]

    def test_the_pool_retains_no_stream(self, device, pool, emulation):
        stream = device.create_stream()
        pool.allocate(100, stream=stream).close()
        before = sum(each.kind == "stream" for each in emulation.leaks())
        stream.close()
        assert sum(each.kind == "stream" for each in emulation.leaks()) == before - 1

    def test_many_short_lived_streams(self, device, make_pool):
        pool = make_pool(max_size=4 * MIB)
        for _ in range(300):
            with device.create_stream() as stream:
                pool.allocate(MIB, stream=stream).close()
        assert figures(pool, "allocation_count.total", "allocation_count.current") == (300, 0)
        assert pool.trim() <= 4 * MIB
        assert figures(pool, "reserved_bytes.current") == (0,)

    def test_a_foreign_stream_can_be_wrapped_repeatedly(self, make_pool, stream, blocked):
        pool = make_pool(max_size=2 * MIB)

        class Foreign:
            def __cuda_stream__(self):
                return 0, int(stream.handle)

        for _ in range(5):
            with pool.allocate(2 * MIB, stream=Foreign()):
                pass
        assert figures(pool, "upstream_allocs") == (1,)

    def test_a_pool_can_be_closed_before_its_streams(self, device, make_pool, stream):
        for _ in range(5):
            make_pool().allocate(100, stream=stream).close()
        gc.collect()
        with make_pool().allocate(100, stream=stream):
            pass


class TestCaptureAndSharing:
    def test_a_capturing_stream_is_refused(self, device, pool, stream):
        builder = stream.create_graph_builder().begin_building()
        with pytest.raises(RuntimeError, match="capturing"):
            pool.allocate(100, stream=builder)
        builder.end_building().close()
        with pool.allocate(100, stream=stream):
            pass

    def test_memory_is_freed_while_its_stream_captures(self, pool, stream):
        buffer = pool.allocate(100, stream=stream)
        builder = stream.create_graph_builder().begin_building()
        buffer.close()
        builder.end_building().close()
        with pool.allocate(100, stream=stream):
            assert figures(pool, "upstream_allocs") == (1,)

    def test_blocks_are_not_shared_with_other_processes(self, pool, stream):
        with pool.allocate(100, stream=stream) as buffer:
            for operation in (lambda: buffer.ipc_descriptor, lambda: pickle.dumps(buffer)):
                with pytest.raises(RuntimeError, match="not IPC-enabled"):
                    operation()


class TestClosing:
    def test_a_closed_pool_refuses_to_allocate(self, pool, stream):
        assert not pool.is_closed
        pool.close()
        pool.close()
        assert pool.is_closed
        with pytest.raises(RuntimeError, match="PoolMemoryResource has been closed"):
            pool.allocate(1, stream=stream)

    def test_memory_is_released_with_the_last_buffer(self, upstream, make_pool, stream):
        pool = make_pool(upstream=upstream)
        first, second = (pool.allocate(1000, stream=stream) for _ in range(2))
        pool.close()
        assert len(upstream.live) == 1
        first.close()
        assert len(upstream.live) == 1
        second.close()
        assert upstream.live == {}

    def test_buffers_keep_the_pool_alive(self, upstream, device, stream):
        pool = PoolMemoryResource(device, upstream=upstream)
        buffer = pool.allocate(1000, stream=stream)
        del pool
        gc.collect()
        assert len(upstream.live) == 1
        buffer.close()
        del buffer
        gc.collect()
        assert upstream.live == {}


class TestStatistics:
    def test_they_count_operations(self, pool, stream):
        with pool.allocate(1000, stream=stream), pool.allocate(MIB, stream=stream):
            statistics = pool.statistics()
            assert statistics["allocated_bytes.current"] == MIB + 1000
            assert statistics["allocation_count.current"] == 2
            assert (
                statistics["reserved_bytes.current"] == statistics["reserved_bytes.peak"] == 2 * MIB
            )
            assert statistics["largest_free_block"] == MIB - 1024
            assert statistics["fragmentation"] == 0
        statistics = pool.statistics()
        assert statistics["allocated_bytes.current"] == statistics["allocation_count.current"] == 0
        assert (
            statistics["allocated_bytes.peak"] == statistics["allocated_bytes.total"] == MIB + 1000
        )
        assert statistics["allocation_count.total"] == 2
        assert pool.trim() == 2 * MIB
        statistics = pool.statistics()
        assert (statistics["upstream_allocs"], statistics["upstream_frees"]) == (1, 1)
        assert statistics["reserved_bytes.current"] == statistics["largest_free_block"] == 0
        assert statistics["reserved_bytes.peak"] == 2 * MIB

    def test_they_outlive_the_streams(self, device, pool):
        for stream in (device.create_stream(), device.create_stream(), LEGACY_DEFAULT_STREAM):
            pool.allocate(10, stream=stream).close()
            if stream is not LEGACY_DEFAULT_STREAM:
                stream.close()
        pool.trim()
        assert figures(pool, "allocation_count.total", "allocated_bytes.total") == (3, 30)

    def test_the_peak_covers_all_streams_together(self, device, pool, stream):
        other = device.create_stream()
        for size, target_stream in ((1000, stream), (900, other), (500, stream), (2000, other)):
            pool.allocate(
                size, stream=target_stream
            ).close()  # each frees before the next allocates
        assert figures(pool, "allocated_bytes.current", "allocated_bytes.peak") == (0, 2000)
        with pool.allocate(700, stream=stream):
            pool.allocate(1300, stream=other).close()
            assert figures(pool, "allocated_bytes.current", "allocated_bytes.peak") == (700, 2000)
            with pool.allocate(1301, stream=other):
                values = figures(pool, "allocated_bytes.current", "allocated_bytes.peak")
                assert values == (2001, 2001)
        other.close()
        assert figures(pool, "allocated_bytes.current", "allocated_bytes.total") == (0, 7701)
