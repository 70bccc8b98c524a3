# SPDX-License-Identifier: Apache-2.0
"""Pools in adverse conditions: arguments with side effects, faults, forks, resets, exits."""

import gc
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from cuda.core import (
    Buffer,
    CUDAError,
    ManagedMemoryResource,
    MemoryResource,
    PinnedMemoryResource,
    PoolMemoryResource,
    VirtualMemoryResource,
    host_launch,
)

from ....threads import comes_true

MIB = 1 << 20
MODEL = Path(__file__).parent / "programs/model.py"
# Driver calls that a pool may make for one allocation and one free on each of two streams.
CALLS = [
    "cuStreamIsCapturing", "cuMemAllocFromPoolAsync", "cuStreamCreateWithPriority",
    "cuEventCreate", "cuEventRecord", "cuEventQuery", "cuStreamWaitEvent", "cuMemFreeAsync",
    "cuCtxGetId", "cuCtxSynchronize", "cuThreadExchangeStreamCaptureMode",
]  # fmt: skip
START = """
import gc, os
from cuda.bindings import driver
from cuda.core import Device, PoolMemoryResource
device = Device(0)
device.set_current()
stream, other = device.create_stream(), device.create_stream()
pool = PoolMemoryResource(device, max_size=4 << 20)
buffer = pool.allocate(1 << 20, stream=stream)
pool.allocate(1 << 21, stream=stream).close()
pool.allocate(100, stream=device.default_stream).close()
"""


def run_model(seed, operations, threads=4, upstream="driver", limit=24, timeout=120, **environment):
    done = subprocess.run(
        [sys.executable, str(MODEL), *map(str, (seed, operations, threads, upstream, limit))],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


class TestModel:
    @pytest.mark.parametrize("mode", ["async", "adversarial"])
    @pytest.mark.parametrize("upstream", ["driver", "virtual"])
    def test_random_operations_match_the_model(self, mode, upstream):
        run_model(1, 2500, upstream=upstream, HALFWARP_EMULATOR_MODE=mode)

    def test_one_thread_that_exhausts_the_memory(self):
        assert "'failures': 0" not in run_model(5, 2500, 1, limit=8)

    def test_the_model_detects_a_pool_that_ignores_streams(self, emulation):
        with pytest.raises(AssertionError, match="used too early"):
            run_model(1, 2500, 4, "careless", HALFWARP_EMULATOR_MODE="adversarial")

    @pytest.mark.slow
    def test_a_million_operations_match_the_model(self):
        for mode in ("async", "adversarial"):
            run_model(7, 500_000, timeout=3600, HALFWARP_EMULATOR_MODE=mode)


class TestArguments:
    @pytest.mark.parametrize(
        ("arguments", "error"),
        [
            ({"initial_size": -1}, (ValueError, OverflowError)),
            ({"initial_size": 2, "max_size": 1}, ValueError),
            ({"max_size": "1"}, TypeError),
            ({"capture": "always"}, ValueError),
            ({"release_threshold": -1}, (ValueError, OverflowError)),
            ({"upstream": 3}, TypeError),
            ({"size": 3}, TypeError),
        ],
    )
    def test_invalid_arguments_of_the_constructor(self, device, arguments, error):
        with pytest.raises(error):
            PoolMemoryResource(device, **arguments)

    def test_it_is_initialized_once(self, pool, device):
        with pytest.raises(RuntimeError, match="already initialized"):
            pool.__init__(device)

    def test_an_uninitialized_pool_is_refused(self, stream):
        empty = PoolMemoryResource.__new__(PoolMemoryResource)
        assert empty.is_closed
        empty.close()
        for operation in (lambda: empty.allocate(1, stream=stream), empty.trim, empty.statistics):
            with pytest.raises(RuntimeError, match="was not initialized"):
                operation()

    def test_a_size_that_closes_the_pool(self, pool, stream):
        class Closing:
            def __index__(self):
                pool.close()
                return 100

        with pytest.raises(RuntimeError, match="PoolMemoryResource has been closed"):
            pool.allocate(Closing(), stream=stream)

    def test_a_size_that_closes_the_stream(self, pool, device):
        stream = device.create_stream()

        class Closing:
            def __index__(self):
                stream.close()
                return 100

        with pytest.raises(RuntimeError, match="Stream has been closed"):
            pool.allocate(Closing(), stream=stream)

    def test_a_stream_is_required(self, pool, stream):
        with pytest.raises(TypeError):
            pool.allocate(1, stream=None)
        with pytest.warns(DeprecationWarning, match="without a stream"):
            pool.allocate(1).close()

    def test_memory_without_a_buffer(self, pool, stream):
        buffer = pool.allocate(100, stream=stream)
        address = buffer.handle
        buffer._clear()
        with Buffer.from_handle(address, 100, mr=pool, stream=stream):
            pass
        assert pool.statistics()["allocated_bytes.current"] == 0
        with pytest.raises(ValueError, match="no allocation of this pool"):
            pool.deallocate(address, 100, stream=stream)
        pool.deallocate(0, 0, stream=stream)

    def test_upstream_must_return_a_buffer(self, make_pool, stream):
        class Wrong(MemoryResource):
            is_device_accessible, is_host_accessible, device_id = True, False, 0

            def allocate(self, size, *, stream):
                return None

        pool = make_pool(upstream=Wrong())
        with pytest.raises(TypeError, match=r"Wrong\.allocate\(\) must return a Buffer"):
            pool.allocate(1, stream=stream)
        assert pool.statistics()["reserved_bytes.current"] == 0

    def test_exceptions_of_upstream_propagate(self, make_pool, stream):
        class Broken(MemoryResource):
            is_device_accessible, is_host_accessible, device_id = True, False, 0

            def allocate(self, size, *, stream):
                raise KeyError(size)

        pool = make_pool(upstream=Broken())
        with pytest.raises(KeyError):
            pool.allocate(1, stream=stream)
        assert pool.statistics()["reserved_bytes.current"] == 0


class TestKinds:
    @pytest.mark.parametrize(
        "make",
        [
            lambda device: VirtualMemoryResource(device, {"handle_type": None}),
            lambda device: PinnedMemoryResource(),
            lambda device: ManagedMemoryResource(),
            lambda device: PoolMemoryResource(device),
        ],
        ids=["virtual", "pinned", "managed", "pool"],
    )
    def test_any_resource_can_be_upstream(self, device, stream, make):
        upstream = make(device)
        pool = PoolMemoryResource(device, upstream=upstream, initial_size=MIB)
        assert pool.upstream is upstream
        assert pool.is_host_accessible == upstream.is_host_accessible
        assert pool.is_device_accessible
        with pool.allocate(5000, stream=stream) as buffer:
            buffer.fill(7, stream=stream)
            stream.sync()
            if pool.is_host_accessible:
                assert bytes(buffer) == b"\7" * 5000
        pool.close()
        upstream_closes = getattr(upstream, "close", None)
        if upstream_closes:
            upstream_closes()

    def test_it_becomes_the_resource_of_a_device_by_assignment(self, device, stream, pool):
        before = device.memory_resource
        device.memory_resource = pool
        try:
            with device.allocate(100, stream=stream) as buffer:
                assert buffer.memory_resource is pool
                assert buffer.device_id == device.device_id
        finally:
            device.memory_resource = before

    def test_the_first_segment_is_allocated_at_construction(self, make_pool, stream):
        pool = make_pool(initial_size=3 * MIB)
        assert pool.statistics()["reserved_bytes.current"] == 3 * MIB
        with pool.allocate(3 * MIB, stream=stream):
            assert pool.statistics()["upstream_allocs"] == 1

    def test_the_threshold_is_respected_at_device_synchronization(self, device, make_pool, stream):
        pool = make_pool(release_threshold=2 * MIB)
        for buffer in [pool.allocate(2 * MIB, stream=stream) for _ in range(3)]:
            buffer.close()
        device.sync()
        assert pool.statistics()["reserved_bytes.current"] == 2 * MIB
        assert pool.release_threshold == 2 * MIB
        pool.release_threshold = None
        assert pool.release_threshold is None
        pool.allocate(8 * MIB, stream=stream).close()
        device.sync()
        assert pool.statistics()["reserved_bytes.current"] >= 8 * MIB

    def test_leaks_have_stacks_when_they_are_tracked(self, make_pool, stream):
        pool = make_pool(track_allocations=True)
        with pool.allocate(100, stream=stream) as buffer:
            (record,) = pool.report_leaks()
            assert record[:3] == (buffer.handle, 100, int(stream.handle))
            assert 0 <= record.age < 60
            assert "test_leaks_have_stacks" in record.traceback[-1]
        assert pool.report_leaks() == []

    def test_leaks_are_printed_at_exit(self, run_python):
        allowed = ["halfwarp: 1 allocations of <PoolMemoryResource", "1048576 bytes at 0x"]
        assert run_python(START, allowed=allowed, HALFWARP_REPORT_LEAKS="1") == ""


class TestPrivateCaptures:
    @pytest.fixture
    def private(self, make_pool):
        return make_pool(capture="private")

    def test_memory_of_captures_is_counted(self, private, stream, device):
        def counted(last):
            statistics = private.statistics()
            return statistics["allocated_bytes.current"], statistics[f"allocated_bytes.{last}"]

        private.allocate(3000, stream=stream).close()
        builder = stream.create_graph_builder().begin_building()
        scratch = private.allocate(1000, stream=builder)
        assert counted("peak") == (1000, 3000)
        with private.allocate(1000, stream=stream), private.allocate(1001, stream=stream):
            pass
        assert counted("peak") == (1000, 3001)
        scratch.close()
        builder.end_building()
        builder.close()
        del builder, scratch
        device.sync()
        assert counted("total") == (0, 6001)

    def test_a_pool_closed_before_its_graph_releases_its_stream(self, private, stream, emulation):
        private.allocate(1000, stream=stream).close()
        builder = stream.create_graph_builder().begin_building()
        private.allocate(1000, stream=builder).close()
        graph = builder.end_building().complete()
        builder.close()
        private.close()
        streams = emulation.stats()["live"]["stream"]["count"]
        graph.close()
        # The graph's memory has a stream, and the pool has one.
        assert comes_true(lambda: emulation.stats()["live"]["stream"]["count"] == streams - 2)

    def test_a_graph_retains_its_memory(self, private, stream, device):
        builder = stream.create_graph_builder().begin_building()
        scratch = private.allocate(MIB, stream=builder)
        assert scratch.memory_resource is private
        address = scratch.handle
        scratch.fill(1, stream=builder)
        scratch.close()
        graph = builder.end_building().complete()
        builder.close()
        buffers = [private.allocate(MIB, stream=stream) for _ in range(4)]
        assert all(
            buffer.handle + MIB <= address or address + MIB <= buffer.handle for buffer in buffers
        )
        for _ in range(2):
            graph.launch(stream)
        stream.sync()
        assert private.statistics()["allocation_count.current"] == 4
        for buffer in buffers:
            buffer.close()
        reserved = private.statistics()["reserved_bytes.current"]
        assert reserved - private.trim() == 2 * MIB
        graph.close()
        device.sync()
        gc.collect()
        with device.create_stream() as another:  # later calls drop objects that graphs released
            host_launch(another, lambda: None)
            another.sync()
        device.sync()
        assert private.statistics()["reserved_bytes.current"] == 0
        assert private.statistics()["allocation_count.total"] == 5

    def test_a_capture_reuses_its_memory(self, private, stream):
        builder = stream.create_graph_builder().begin_building()
        addresses = set()
        for turn in range(3):
            with private.allocate(MIB, stream=builder) as scratch:
                scratch.fill(turn, stream=builder)
                addresses.add(scratch.handle)
        assert len(addresses) == 1
        builder.end_building().close()

    def test_two_captures_do_not_share_memory(self, private, stream):
        spans = []
        graphs = []
        for _ in range(2):
            builder = stream.create_graph_builder().begin_building()
            with private.allocate(MIB, stream=builder) as scratch:
                scratch.fill(1, stream=builder)
                spans.append(scratch.handle)
            graphs.append(builder.end_building().complete())
            builder.close()
        assert abs(spans[0] - spans[1]) >= MIB
        for graph in graphs:
            graph.launch(stream)
        stream.sync()
        for graph in graphs:
            graph.close()


class TestFaults:
    @pytest.mark.parametrize("error", ["CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_UNKNOWN"])
    @pytest.mark.parametrize("function", CALLS)
    def test_a_failure_of_the_driver_loses_nothing(self, device, emulation, function, error):
        pool = PoolMemoryResource(device, max_size=4 * MIB)
        streams = [device.create_stream() for _ in range(2)]
        for nth in range(1, 12):
            with emulation.inject(function, nth=nth, error=error, optional=True) as rule:
                for stream in streams:
                    for size in (4 * MIB, 1000):
                        try:
                            with pool.allocate(size, stream=stream) as buffer:
                                assert buffer.size == size
                        except (CUDAError, RuntimeError):
                            gc.collect()
            if not rule.hits:
                break
        emulation.settle()
        for stream in streams:
            with pool.allocate(4 * MIB, stream=stream):
                pass
        statistics = pool.statistics()
        assert statistics["allocated_bytes.current"] == statistics["allocation_count.current"] == 0
        assert statistics["reserved_bytes.current"] <= 4 * MIB
        for stream in streams:
            stream.close()
        pool.close()

    def test_threads_close_the_pool_and_its_stream(self, device):
        for _ in range(20):
            pool = PoolMemoryResource(device)
            stream = device.create_stream()
            gate = threading.Barrier(3)
            errors = []

            def use(pool=pool, stream=stream, gate=gate, errors=errors):
                device.set_current()
                gate.wait()
                try:
                    for _ in range(50):
                        pool.allocate(1000, stream=stream).close()
                except RuntimeError as error:
                    if "has been closed" not in str(error):
                        errors.append(error)

            def close(pool=pool, stream=stream, gate=gate):
                gate.wait()
                pool.close()
                stream.close()

            threads = [threading.Thread(target=target) for target in (use, use, close)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert errors == []
            statistics = pool.statistics()
            assert (
                statistics["allocated_bytes.current"] == statistics["reserved_bytes.current"] == 0
            )


class TestProcess:
    def test_in_a_forked_child_it_is_inert(self, run_python):
        text = START + """
child = os.fork()
if child == 0:
    buffer.close()
    for operation in (lambda: pool.allocate(1, stream=stream), pool.trim, pool.statistics):
        try:
            operation()
        except RuntimeError as error:
            assert "forked child process" in str(error), error
        else:
            os._exit(3)
    pool.close()
    stream.close()
    del pool, buffer, stream, other
    gc.collect()
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
buffer.close()
print(pool.statistics()["allocated_bytes.current"], pool.trim())
pool.close()
"""  # fmt: skip
        assert run_python(text) == "0 4194304\n"

    @pytest.mark.parametrize(
        "end",
        ["", "del pool, buffer", "pool.close()", "buffer.close(); pool.close()", "pool.me = pool"],
    )
    def test_a_process_exits_silently(self, run_python, end):
        text = START.replace("PoolMemoryResource(device", "Pool(device").replace(
            "device = Device(0)", "class Pool(PoolMemoryResource): pass\ndevice = Device(0)"
        )
        assert run_python(text + end) == ""

    def test_a_reset_of_the_device_makes_it_inert(self, run_python):
        text = (
            START
            + """
stream.sync()
assert driver.cuDevicePrimaryCtxReset(0)[0] == 0
device.set_current()
for order in (device.create_stream(), device.default_stream):
    try:
        pool.allocate(100, stream=order)
    except RuntimeError as error:
        assert "reset or destroyed" in str(error), error
    else:
        raise AssertionError("memory of a destroyed context")
buffer.close()
pool.close()
new = PoolMemoryResource(device)
fresh = device.create_stream()
new.allocate(100, stream=fresh).close()
new.close()
del pool, buffer, stream, other
gc.collect()
"""
        )
        allowed = ["destroyed-handle", "  hint: "]
        assert run_python(text, allowed=allowed) == ""
