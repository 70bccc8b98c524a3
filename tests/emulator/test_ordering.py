# SPDX-License-Identifier: Apache-2.0
"""Start of enqueued work: streams, default streams, events, copies, host functions."""

import ctypes
import threading
import time
from pathlib import Path

import pytest

SUCCESS, INVALID_HANDLE, NOT_READY, NOT_PERMITTED = 0, 400, 600, 800
LEGACY, PER_THREAD = 1, 2
HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@pytest.fixture(autouse=True)
def asynchronous():
    """In eager mode a kernel that waits for the host blocks its own launch."""
    from cuda.core import emulation

    if emulation.is_active() and emulation.options()["mode"] == "eager":
        pytest.skip("these tests hold work back, which mode=eager cannot do")


@pytest.fixture
def held(driver, flag):
    """Block a stream until the flag is set."""
    latch = driver.kernel("latch")
    address = ctypes.c_uint64(ctypes.addressof(flag))

    def hold(stream):
        assert driver.launch(latch, address, stream=stream) == SUCCESS

    return hold


@pytest.fixture
def other(driver):
    """Create a second, blocking stream."""
    second_stream = driver.output("cuStreamCreate", 0)
    yield second_stream
    driver.cuStreamDestroy(second_stream)


def workers():
    """Return how many threads of this process run work of streams."""
    names = [path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")]
    return names.count("emulated-stream")


class TestStreams:
    def test_work_of_a_stream_waits_for_earlier_work(self, driver, stream, flag, held):
        held(stream)
        assert driver.cuStreamQuery(stream) == NOT_READY
        flag.value = 1
        assert driver.cuStreamSynchronize(stream) == SUCCESS
        assert driver.cuStreamQuery(stream) == SUCCESS

    def test_streams_do_not_wait_for_each_other(self, driver, stream, other, held):
        held(stream)
        assert driver.cuStreamSynchronize(other) == SUCCESS
        assert driver.cuStreamQuery(stream) == NOT_READY

    def test_a_stream_runs_beside_many_blocked_ones(self, driver, held, emulated):
        """A device may queue streams behind one another: it has few connections to the host."""
        streams = [driver.output("cuStreamCreate", 1) for _ in range(8)]
        for each in streams[:-1]:
            held(each)
        empty = driver.kernel("empty")
        assert driver.launch(empty, stream=streams[-1]) == SUCCESS
        assert driver.cuStreamSynchronize(streams[-1]) == SUCCESS
        assert driver.cuStreamQuery(streams[0]) == NOT_READY
        for each in streams:
            driver.cuStreamDestroy(each)

    def test_more_streams_than_workers_take_turns(self, driver, flag, emulated):
        at_least, most = 0, 64
        streams = [driver.output("cuStreamCreate", 1) for _ in range(most + 8)]
        address = ctypes.addressof(flag)
        for each in streams:
            assert driver.cuStreamWaitValue32(each, address, 1, at_least) == SUCCESS
        deadline = time.monotonic() + 30
        while workers() < most and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.2)  # for an excess worker to start
        assert workers() == most
        flag.value = 1
        for each in streams:
            assert driver.cuStreamSynchronize(each) == SUCCESS
            driver.cuStreamDestroy(each)

    def test_a_destroyed_stream_finishes_its_work(self, driver, flag, held):
        doomed = driver.output("cuStreamCreate", 1)
        done = threading.Event()
        function = HOST_FUNCTION(lambda _: done.set())
        held(doomed)
        assert driver.cuLaunchHostFunc(doomed, function, None) == SUCCESS
        assert driver.cuStreamDestroy(doomed) == SUCCESS
        assert not done.is_set()
        flag.value = 1
        assert done.wait(60)

    def test_synchronizing_the_context_waits_for_all(self, driver, stream, other, flag, held):
        held(stream)
        held(other)
        threading.Timer(0.02, lambda: setattr(flag, "value", 1)).start()
        assert driver.cuCtxSynchronize() == SUCCESS
        assert driver.cuStreamQuery(stream) == SUCCESS
        assert driver.cuStreamQuery(other) == SUCCESS


class TestDefaultStreams:
    def test_the_legacy_stream_waits_for_blocking_streams(self, driver, other, held):
        empty = driver.kernel("empty")  # before the latch runs: loading waits for it on a device
        held(other)
        assert driver.launch(empty, stream=LEGACY) == SUCCESS
        assert driver.cuStreamQuery(LEGACY) == NOT_READY

    def test_blocking_streams_wait_for_the_legacy_stream(self, driver, other, held):
        held(LEGACY)
        event = driver.output("cuEventCreate", 0)
        assert driver.cuEventRecord(event, other) == SUCCESS
        assert driver.cuEventQuery(event) == NOT_READY
        driver.cuEventDestroy(event)

    def test_non_blocking_streams_are_independent(self, driver, stream, held):
        held(LEGACY)
        event = driver.output("cuEventCreate", 0)
        assert driver.cuEventRecord(event, stream) == SUCCESS
        assert driver.cuEventSynchronize(event) == SUCCESS
        driver.cuEventDestroy(event)

    def test_the_per_thread_stream_waits_for_the_legacy_stream(self, driver, held):
        held(LEGACY)
        event = driver.output("cuEventCreate", 0)
        assert driver.cuEventRecord(event, PER_THREAD) == SUCCESS
        assert driver.cuEventQuery(event) == NOT_READY
        driver.cuEventDestroy(event)

    def test_each_thread_has_its_own_per_thread_stream(self, driver, held):
        held(PER_THREAD)
        results = []

        def ask():
            driver.cuCtxSetCurrent(driver.context)
            results.append(driver.cuStreamQuery(PER_THREAD))
            driver.cuCtxSetCurrent(None)

        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
        assert results == [SUCCESS]
        assert driver.cuStreamQuery(PER_THREAD) == NOT_READY


class TestEvents:
    def test_an_unrecorded_event_is_complete(self, driver, stream):
        event = driver.output("cuEventCreate", 0)
        assert driver.cuEventQuery(event) == SUCCESS
        assert driver.cuEventSynchronize(event) == SUCCESS
        assert driver.cuStreamWaitEvent(stream, event, 0) == SUCCESS
        driver.cuEventDestroy(event)

    def test_a_stream_waits_for_an_event_of_another(self, driver, stream, other, flag, held):
        event, after = driver.output("cuEventCreate", 0), driver.output("cuEventCreate", 0)
        held(stream)
        driver.cuEventRecord(event, stream)
        driver.cuStreamWaitEvent(other, event, 0)
        driver.cuEventRecord(after, other)
        assert driver.cuEventQuery(after) == NOT_READY
        flag.value = 1
        assert driver.cuEventSynchronize(after) == SUCCESS
        assert driver.cuEventQuery(event) == SUCCESS
        driver.cuEventDestroy(event)
        driver.cuEventDestroy(after)

    def test_a_second_record_does_not_affect_earlier_waits(self, driver, stream, other, held):
        event, after = driver.output("cuEventCreate", 0), driver.output("cuEventCreate", 0)
        driver.cuEventRecord(event, stream)
        driver.cuStreamWaitEvent(other, event, 0)
        held(stream)
        driver.cuEventRecord(event, stream)
        driver.cuEventRecord(after, other)
        assert driver.cuEventSynchronize(after) == SUCCESS
        assert driver.cuEventQuery(event) == NOT_READY
        driver.cuEventDestroy(event)
        driver.cuEventDestroy(after)

    def test_elapsed_time_needs_two_completed_timed_events(self, driver, stream, flag, held):
        start, end = driver.output("cuEventCreate", 0), driver.output("cuEventCreate", 0)
        untimed = driver.output("cuEventCreate", 2)
        elapsed = ctypes.c_float()
        out = ctypes.byref(elapsed)
        assert driver.cuEventElapsedTime(out, start, end) == INVALID_HANDLE
        driver.cuEventRecord(start, stream)
        driver.cuEventRecord(untimed, stream)
        assert driver.cuEventElapsedTime(out, start, untimed) == INVALID_HANDLE
        held(stream)
        driver.cuEventRecord(end, stream)
        assert driver.cuEventElapsedTime(out, start, end) == NOT_READY
        flag.value = 1
        driver.cuEventSynchronize(end)
        assert driver.cuEventElapsedTime(out, start, end) == SUCCESS
        assert elapsed.value > 0
        for each in (start, end, untimed):
            driver.cuEventDestroy(each)


class TestCopies:
    @pytest.fixture
    def memory(self, driver, flag):
        address = driver.output("cuMemAlloc", 4096)
        yield address
        flag.value = 1  # freeing waits for the blocked stream
        driver.cuMemFree(address)

    def test_pageable_memory_is_read_inside_the_call(self, driver, stream, flag, held, memory):
        source = (ctypes.c_uint32 * 4)(1, 2, 3, 4)
        held(stream)
        assert driver.cuMemcpyHtoDAsync(memory, source, 16, stream) == SUCCESS
        source[0] = 99
        flag.value = 1
        driver.cuStreamSynchronize(stream)
        assert driver.read(memory, 4) == [1, 2, 3, 4]

    def test_pinned_memory_is_read_when_the_copy_runs(self, driver, stream, flag, held, memory):
        pinned = driver.output("cuMemAllocHost", 16)
        source = (ctypes.c_uint32 * 4).from_address(pinned)
        source[:] = [1, 2, 3, 4]
        held(stream)
        assert driver.cuMemcpyHtoDAsync(memory, pinned, 16, stream) == SUCCESS
        source[0] = 99
        flag.value = 1
        driver.cuStreamSynchronize(stream)
        assert driver.read(memory, 4) == [99, 2, 3, 4]
        driver.cuMemFreeHost(pinned)

    def test_pageable_memory_is_written_before_the_call_returns(self, driver, stream, memory):
        store = driver.kernel("store")
        assert (
            driver.launch(
                store, ctypes.c_uint64(memory), ctypes.c_uint32(7), block=(4, 1, 1), stream=stream
            )
            == SUCCESS
        )
        target = (ctypes.c_uint32 * 4)()
        assert driver.cuMemcpyDtoHAsync(target, memory, 16, stream) == SUCCESS
        assert list(target) == [7] * 4

    def test_a_synchronous_copy_waits_for_the_legacy_stream_only(
        self, driver, stream, held, memory
    ):
        held(stream)
        assert driver.cuMemsetD32(memory, 5, 4) == SUCCESS
        assert driver.read(memory, 4) == [5] * 4
        assert driver.cuStreamQuery(stream) == NOT_READY


class TestHostFunctions:
    def test_they_run_in_order_on_another_thread(self, driver, stream):
        seen = []
        functions = [
            HOST_FUNCTION(lambda _, i=i: seen.append((i, threading.get_ident()))) for i in range(3)
        ]
        for function in functions:
            assert driver.cuLaunchHostFunc(stream, function, None) == SUCCESS
        assert driver.cuStreamSynchronize(stream) == SUCCESS
        assert [i for i, _ in seen] == [0, 1, 2]
        assert threading.get_ident() not in {thread for _, thread in seen}

    def test_they_may_not_call_the_driver(self, driver, stream, emulated):
        codes = []

        def call(_):
            codes.append(driver.cuStreamQuery(stream))
            codes.append(driver.cuMemAlloc((ctypes.c_uint64 * 1)(), 16))

        function = HOST_FUNCTION(call)
        assert driver.cuLaunchHostFunc(stream, function, None) == SUCCESS
        assert driver.cuStreamSynchronize(stream) == SUCCESS
        assert codes == [NOT_PERMITTED, NOT_PERMITTED]

    def test_they_get_their_argument(self, driver, stream):
        seen = []
        function = HOST_FUNCTION(seen.append)
        assert driver.cuLaunchHostFunc(stream, function, 0x1234) == SUCCESS
        driver.cuStreamSynchronize(stream)
        assert seen == [0x1234]


class TestPriorities:
    def test_priorities_are_clamped_to_the_range(self, driver):
        least, greatest = ctypes.c_int(), ctypes.c_int()
        assert (
            driver.cuCtxGetStreamPriorityRange(ctypes.byref(least), ctypes.byref(greatest))
            == SUCCESS
        )
        assert greatest.value < least.value == 0
        for requested, value in ((-1, -1), (-100, greatest.value), (5, 0)):
            stream = driver.output("cuStreamCreateWithPriority", 1, requested)
            result = ctypes.c_int()
            assert driver.cuStreamGetPriority(stream, ctypes.byref(result)) == SUCCESS
            assert result.value == value
            driver.cuStreamDestroy(stream)
