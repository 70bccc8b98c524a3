# SPDX-License-Identifier: Apache-2.0
"""The guarantees of PoolMemoryResource, one after the other."""

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
    """Passes on to the device's own resource, and refuses beyond `most` bytes."""

    is_device_accessible = True
    is_host_accessible = False
    device_id = 0

    def __init__(self, device, most=1 << 40):
        self.inner, self.most = device.memory_resource, most
        self.held = {}
        self.calls = []

    def allocate(self, size, *, stream):
        self.calls.append(size)
        if sum(buffer.size for buffer in self.held.values()) + size > self.most:
            raise OutOfMemoryError("that is all", code=2, requested=size)
        buffer = self.inner.allocate(size, stream=stream)
        self.held[buffer.handle] = buffer
        return Buffer.from_handle(buffer.handle, size, mr=self, stream=stream)

    def deallocate(self, ptr, size, *, stream):
        self.held.pop(int(ptr)).close(stream)


@pytest.fixture
def upstream(device):
    counting = Counting(device)
    yield counting
    gc.collect()
    assert counting.held == {}


def figures(pool, *names):
    seen = pool.statistics()
    return tuple(seen[name] for name in names)


class TestOrder:
    def test_a_block_is_used_again_at_once_on_its_stream(self, pool, stream, held):
        with held(stream):
            first = pool.allocate(1024, stream=stream)
            address = first.handle
            first.close()
            with pool.allocate(1024, stream=stream) as second:
                assert second.handle == address
        assert figures(pool, "cross_stream_waits", "upstream_allocs") == (0, 1)

    def test_another_stream_takes_what_is_done(self, make_pool, stream, other_stream):
        pool = make_pool(max_size=2 * MIB)
        pool.allocate(2 * MIB, stream=stream).close()
        stream.sync()
        with pool.allocate(MIB, stream=other_stream):
            assert figures(pool, "reuse_cross_stream", "cross_stream_waits") == (1, 0)

    def test_another_stream_waits_for_what_is_not(self, make_pool, stream, other_stream, held):
        pool = make_pool(max_size=2 * MIB)
        order = []
        with held(stream) as gate:
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

    def test_a_batch_of_frees_needs_one_event(self, device, make_pool, emulation):
        pool = make_pool(max_size=8 * MIB)
        stream, other = device.create_stream(), device.create_stream()
        for buffer in [pool.allocate(2 * MIB, stream=stream) for _ in range(4)]:
            buffer.close()
        before = emulation.stats()["calls"].get("cuEventRecord", 0)
        taken = [pool.allocate(2 * MIB, stream=other) for _ in range(4)]
        assert emulation.stats()["calls"]["cuEventRecord"] - before == 1
        for buffer in taken:
            buffer.close()

    def test_the_default_stream_of_a_thread_is_its_own(self, make_pool, in_new_thread, device):
        pool = make_pool(max_size=2 * MIB)
        pool.allocate(2 * MIB, stream=PER_THREAD_DEFAULT_STREAM).close()

        def on_another_thread():
            device.set_current()
            with pool.allocate(2 * MIB, stream=PER_THREAD_DEFAULT_STREAM):
                return figures(pool, "reuse_same_stream", "reuse_cross_stream")

        assert in_new_thread(on_another_thread) == (0, 1)

    def test_a_free_on_another_stream_is_ordered_there(self, make_pool, stream, other_stream, held):
        pool = make_pool(max_size=2 * MIB)
        with held(other_stream):
            pool.allocate(2 * MIB, stream=stream).close(other_stream)
            with pool.allocate(MIB, stream=stream):
                assert figures(pool, "cross_stream_waits") == (1,)
            buffer = pool.allocate(MIB, stream=stream)
            buffer.set_deallocation_stream(other_stream)
            buffer.close()


class TestThreads:
    def test_threads_allocate_and_free_together(self, pool, device):
        errors = []

        def work():
            try:
                device.set_current()
                with device.create_stream() as mine:
                    for turn in range(200):
                        held = [pool.allocate(100 * (turn % 9 + 1), stream=mine) for _ in range(5)]
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
    def test_blocks_are_aligned_and_apart(self, pool, stream):
        buffers = [pool.allocate(size, stream=stream) for size in (1, 511, 512, 513, 3 * MIB, 7)]
        spans = sorted((buffer.handle, buffer.handle + buffer.size) for buffer in buffers)
        assert all(start % 512 == 0 for start, _ in spans)
        assert all(one[1] <= two[0] for one, two in pairwise(spans))
        for buffer in buffers:
            buffer.close()

    def test_an_empty_buffer_has_no_address(self, pool, stream):
        with pool.allocate(0, stream=stream) as buffer:
            assert (buffer.handle, buffer.size, buffer.memory_resource) == (0, 0, pool)
        assert pool.statistics()["allocation_count.total"] == 0

    def test_upstream_may_align_to_less(self, device, make_pool, stream):
        class Odd(Counting):
            def allocate(self, size, *, stream):
                buffer = super().allocate(size + 64, stream=stream)
                self.held[buffer.handle + 64] = self.held.pop(buffer.handle)
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
        assert odd.held == {}

    def test_neighbors_are_joined(self, make_pool, stream):
        pool = make_pool(max_size=2 * MIB)
        for buffer in [pool.allocate(1000, stream=stream) for _ in range(2048)]:
            buffer.close()
        with pool.allocate(2 * MIB, stream=stream):
            assert figures(pool, "upstream_allocs") == (1,)


class TestOutOfMemory:
    def test_free_segments_go_back_and_the_pool_tries_again(
        self, device, upstream, make_pool, stream
    ):
        upstream.most = 8 * MIB
        pool = make_pool(upstream=upstream)
        for size in (2 * MIB, 4 * MIB):
            pool.allocate(size, stream=stream).close()
        with pool.allocate(8 * MIB, stream=stream):
            assert figures(pool, "upstream_frees", "oom_retries") == (2, 1)

    def test_what_is_garbage_is_collected(self, upstream, make_pool, stream):
        upstream.most = 4 * MIB
        pool = make_pool(upstream=upstream)
        cycle = [pool.allocate(4 * MIB, stream=stream)]
        cycle.append(cycle)
        del cycle
        with pool.allocate(3 * MIB, stream=stream):
            assert figures(pool, "oom_retries") == (2,)

    def test_pieces_of_several_streams_are_joined(self, make_pool, stream, other_stream):
        pool = make_pool(max_size=4 * MIB)
        one, kept = (pool.allocate(size, stream=stream) for size in (3 * MIB, 1024))
        part = one.handle
        one.close()
        pool.allocate(1024, stream=stream).close()
        stream.sync()
        with pool.allocate(MIB, stream=other_stream) as lower:
            assert lower.handle == part
        other_stream.sync()
        # What is free lies in pieces of two streams now.
        with pool.allocate(3 * MIB, stream=stream) as whole:
            assert whole.handle == part
            assert figures(pool, "oom_retries", "cross_stream_waits") == (0, 0)
        kept.close()

    def test_the_device_is_waited_for_and_pieces_are_joined(
        self, device, make_pool, stream, other_stream, held
    ):
        pool = make_pool(initial_size=4 * MIB, max_size=4 * MIB)
        kept = pool.allocate(1024, stream=stream)  # or the segment would go back as a whole
        with device.create_stream() as third, held(other_stream) as one, held(third) as two:
            pieces = [pool.allocate(3 * MIB // 2, stream=each) for each in (other_stream, third)]
            part = min(piece.handle for piece in pieces)
            for piece in pieces:
                piece.close()
            release = threading.Timer(0.3, lambda: (one.set(), two.set()))

            def collected(phase, info):  # the last that comes before the wait
                if phase == "stop" and info["generation"] == 2 and not release.ident:
                    release.start()

            gc.callbacks.append(collected)
            try:
                whole = pool.allocate(3 * MIB, stream=stream)
            finally:
                gc.callbacks.remove(collected)
            with whole:
                assert whole.handle == part
                assert figures(pool, "oom_retries") == (3,)
            release.join()
        kept.close()

    def test_the_error_says_what_there_is(self, make_pool, stream):
        pool = make_pool(max_size=4 * MIB, track_allocations=True)
        with pool.allocate(3 * MIB, stream=stream) as kept, pool.allocate(5, stream=stream):
            with pytest.raises(OutOfMemoryError, match="max_size") as caught:
                pool.allocate(2 * MIB, stream=stream)
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
            assert error.largest_allocations[0].address == kept.handle
            with pool.allocate(512, stream=stream):  # it goes on working
                pass
        assert isinstance(error, MemoryError)
        assert isinstance(error, CUDAError)

    def test_of_the_driver_it_has_the_device_too(self, device, pool, stream):
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
    def test_a_destroyed_stream_leaves_its_memory(self, device, make_pool, other_stream, held):
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

    def test_the_pool_keeps_no_stream(self, device, pool, emulation):
        stream = device.create_stream()
        pool.allocate(100, stream=stream).close()
        before = sum(each.kind == "stream" for each in emulation.leaks())
        stream.close()
        assert sum(each.kind == "stream" for each in emulation.leaks()) == before - 1

    def test_many_streams_come_and_go(self, device, make_pool):
        pool = make_pool(max_size=4 * MIB)
        for _ in range(300):
            with device.create_stream() as stream:
                pool.allocate(MIB, stream=stream).close()
        assert figures(pool, "allocation_count.total", "allocation_count.current") == (300, 0)
        assert pool.trim() <= 4 * MIB
        assert figures(pool, "reserved_bytes.current") == (0,)

    def test_a_foreign_stream_may_be_wrapped_many_times(self, make_pool, stream, held):
        pool = make_pool(max_size=2 * MIB)

        class Foreign:
            def __cuda_stream__(self):
                return 0, int(stream.handle)

        for _ in range(5):
            with pool.allocate(2 * MIB, stream=Foreign()):
                pass
        assert figures(pool, "upstream_allocs") == (1,)

    def test_a_pool_may_go_before_its_streams(self, device, make_pool, stream):
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

    def test_memory_goes_back_while_its_stream_captures(self, pool, stream):
        buffer = pool.allocate(100, stream=stream)
        builder = stream.create_graph_builder().begin_building()
        buffer.close()
        builder.end_building().close()
        with pool.allocate(100, stream=stream):
            assert figures(pool, "upstream_allocs") == (1,)

    def test_blocks_are_not_shared_with_other_processes(self, pool, stream):
        with pool.allocate(100, stream=stream) as buffer:
            for ask in (lambda: buffer.ipc_descriptor, lambda: pickle.dumps(buffer)):
                with pytest.raises(RuntimeError, match="not IPC-enabled"):
                    ask()


class TestClosing:
    def test_a_closed_pool_refuses(self, pool, stream):
        assert not pool.is_closed
        pool.close()
        pool.close()
        assert pool.is_closed
        with pytest.raises(RuntimeError, match="PoolMemoryResource has been closed"):
            pool.allocate(1, stream=stream)

    def test_memory_goes_back_with_the_last_buffer(self, upstream, make_pool, stream):
        pool = make_pool(upstream=upstream)
        one, two = (pool.allocate(1000, stream=stream) for _ in range(2))
        pool.close()
        assert len(upstream.held) == 1
        one.close()
        assert len(upstream.held) == 1
        two.close()
        assert upstream.held == {}

    def test_buffers_keep_the_pool(self, upstream, device, stream):
        pool = PoolMemoryResource(device, upstream=upstream)
        buffer = pool.allocate(1000, stream=stream)
        del pool
        gc.collect()
        assert len(upstream.held) == 1
        buffer.close()
        del buffer
        gc.collect()
        assert upstream.held == {}


class TestStatistics:
    def test_they_count_what_happened(self, pool, stream):
        with pool.allocate(1000, stream=stream), pool.allocate(MIB, stream=stream):
            seen = pool.statistics()
            assert seen["allocated_bytes.current"] == MIB + 1000
            assert seen["allocation_count.current"] == 2
            assert seen["reserved_bytes.current"] == seen["reserved_bytes.peak"] == 2 * MIB
            assert seen["largest_free_block"] == MIB - 1024
            assert seen["fragmentation"] == 0
        seen = pool.statistics()
        assert seen["allocated_bytes.current"] == seen["allocation_count.current"] == 0
        assert seen["allocated_bytes.peak"] == seen["allocated_bytes.total"] == MIB + 1000
        assert seen["allocation_count.total"] == 2
        assert pool.trim() == 2 * MIB
        seen = pool.statistics()
        assert (seen["upstream_allocs"], seen["upstream_frees"]) == (1, 1)
        assert seen["reserved_bytes.current"] == seen["largest_free_block"] == 0
        assert seen["reserved_bytes.peak"] == 2 * MIB

    def test_they_outlive_the_streams(self, device, pool):
        for stream in (device.create_stream(), device.create_stream(), LEGACY_DEFAULT_STREAM):
            pool.allocate(10, stream=stream).close()
            if stream is not LEGACY_DEFAULT_STREAM:
                stream.close()
        pool.trim()
        assert figures(pool, "allocation_count.total", "allocated_bytes.total") == (3, 30)

    def test_the_peak_is_of_all_streams_together(self, device, pool, stream):
        other = device.create_stream()
        for size, on in ((1000, stream), (900, other), (500, stream), (2000, other)):
            pool.allocate(size, stream=on).close()  # each frees before the next one takes
        assert figures(pool, "allocated_bytes.current", "allocated_bytes.peak") == (0, 2000)
        with pool.allocate(700, stream=stream):
            pool.allocate(1300, stream=other).close()
            assert figures(pool, "allocated_bytes.current", "allocated_bytes.peak") == (700, 2000)
            with pool.allocate(1301, stream=other):
                found = figures(pool, "allocated_bytes.current", "allocated_bytes.peak")
                assert found == (2001, 2001)
        other.close()
        assert figures(pool, "allocated_bytes.current", "allocated_bytes.total") == (0, 7701)
