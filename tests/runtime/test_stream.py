# SPDX-License-Identifier: Apache-2.0
"""Streams, events, and functions of the host that run in stream order."""

import ctypes
import threading

import pytest
from cuda.bindings import driver, runtime

from .conftest import ok

Error = runtime.cudaError_t
HostFunction = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
StreamCallback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)


def address_of(function):
    return ctypes.cast(function, ctypes.c_void_p).value


@pytest.fixture
def event():
    made = ok(runtime.cudaEventCreate())
    yield made
    ok(runtime.cudaEventDestroy(made))


def test_a_stream_tells_how_it_was_made():
    greatest = ok(runtime.cudaDeviceGetStreamPriorityRange())[1]
    made = ok(runtime.cudaStreamCreateWithPriority(runtime.cudaStreamNonBlocking, greatest))
    assert ok(runtime.cudaStreamGetFlags(made)) == runtime.cudaStreamNonBlocking
    assert ok(runtime.cudaStreamGetPriority(made)) == greatest
    assert ok(runtime.cudaStreamGetDevice(made)) == 0
    ok(runtime.cudaStreamDestroy(made))


def test_streams_have_ids_of_their_own(stream):
    other = ok(runtime.cudaStreamCreate())
    assert ok(runtime.cudaStreamGetId(stream)) != ok(runtime.cudaStreamGetId(other))
    assert ok(runtime.cudaStreamGetFlags(other)) == runtime.cudaStreamDefault
    ok(runtime.cudaStreamDestroy(other))


@pytest.mark.parametrize("flags", [2, 1 << 20])
def test_flags_that_no_stream_has_are_refused(flags):
    assert runtime.cudaStreamCreateWithFlags(flags)[0] == Error.cudaErrorInvalidValue


def test_a_stream_is_ready_when_its_work_is_done(stream, held):
    ok(runtime.cudaStreamQuery(stream))
    with held():
        assert runtime.cudaStreamQuery(stream)[0] == Error.cudaErrorNotReady
    ok(runtime.cudaStreamQuery(stream))


@pytest.mark.parametrize("name", ["cudaStreamLegacy", "cudaStreamPerThread"])
def test_the_default_streams_have_names(memory, name):
    which = getattr(runtime, name)
    address = memory(64)
    ok(runtime.cudaMemsetAsync(address, 1, 64, which))
    ok(runtime.cudaStreamSynchronize(which))
    ok(runtime.cudaStreamQuery(which))


def test_the_driver_knows_the_runtimes_streams(stream):
    ok(driver.cuStreamSynchronize(stream))
    assert int(ok(driver.cuStreamGetId(stream))) == int(ok(runtime.cudaStreamGetId(stream)))


def test_an_event_comes_after_the_work_before_it(stream, event, held):
    ok(runtime.cudaEventQuery(event))
    with held():
        ok(runtime.cudaEventRecord(event, stream))
        assert runtime.cudaEventQuery(event)[0] == Error.cudaErrorNotReady
    ok(runtime.cudaEventSynchronize(event))
    ok(runtime.cudaEventQuery(event))


def test_a_stream_waits_for_an_event_of_another(stream, event, held):
    other = ok(runtime.cudaStreamCreateWithFlags(runtime.cudaStreamNonBlocking))
    with held():
        ok(runtime.cudaEventRecord(event, stream))
        ok(runtime.cudaStreamWaitEvent(other, event, 0))
        assert runtime.cudaStreamQuery(other)[0] == Error.cudaErrorNotReady
    ok(runtime.cudaStreamSynchronize(other))
    ok(runtime.cudaStreamDestroy(other))


def test_time_passes_between_two_events(stream, event):
    later = ok(runtime.cudaEventCreate())
    ok(runtime.cudaEventRecord(event, stream))
    ok(runtime.cudaEventRecord(later, stream))
    ok(runtime.cudaEventSynchronize(later))
    assert ok(runtime.cudaEventElapsedTime(event, later)) >= 0
    ok(runtime.cudaEventDestroy(later))


def test_an_event_without_times_tells_none(stream, event):
    silent = ok(runtime.cudaEventCreateWithFlags(runtime.cudaEventDisableTiming))
    ok(runtime.cudaEventRecord(silent, stream))
    ok(runtime.cudaEventRecord(event, stream))
    ok(runtime.cudaStreamSynchronize(stream))
    code = runtime.cudaEventElapsedTime(silent, event)[0]
    assert code == Error.cudaErrorInvalidResourceHandle
    ok(runtime.cudaEventDestroy(silent))


def test_a_host_function_runs_after_the_work_before_it(stream, held):
    seen = []

    @HostFunction
    def note(data):
        seen.append(data)

    with held():
        ok(runtime.cudaLaunchHostFunc(stream, address_of(note), 77))
        assert seen == []
    ok(runtime.cudaStreamSynchronize(stream))
    assert seen == [77]


def test_host_functions_run_in_order(stream):
    seen = []

    @HostFunction
    def note(data):
        seen.append(data)

    for number in range(1, 20):
        ok(runtime.cudaLaunchHostFunc(stream, address_of(note), number))
    ok(runtime.cudaStreamSynchronize(stream))
    assert seen == list(range(1, 20))


def test_a_callback_gets_its_stream_its_data_and_a_code(stream):
    seen, done = [], threading.Event()

    @StreamCallback
    def note(which, code, data):
        seen.append((which, code, data))
        done.set()

    ok(runtime.cudaStreamAddCallback(stream, address_of(note), 78, 0))
    assert done.wait(30)
    ok(runtime.cudaStreamSynchronize(stream))
    assert seen == [(int(stream), 0, 78)]


def test_nothing_is_no_callback(stream):
    assert runtime.cudaStreamAddCallback(stream, 0, 0, 0)[0] == Error.cudaErrorInvalidValue


def test_no_stream_is_captured_unasked(stream):
    status = ok(runtime.cudaStreamIsCapturing(stream))
    assert status == runtime.cudaStreamCaptureStatus.cudaStreamCaptureStatusNone


def test_the_mode_of_captures_is_swapped():
    Mode = runtime.cudaStreamCaptureMode
    relaxed, usual = Mode.cudaStreamCaptureModeRelaxed, Mode.cudaStreamCaptureModeGlobal
    ok(runtime.cudaThreadExchangeStreamCaptureMode(usual))
    assert ok(runtime.cudaThreadExchangeStreamCaptureMode(relaxed)) == usual
    assert ok(runtime.cudaThreadExchangeStreamCaptureMode(usual)) == relaxed


def test_the_profiler_may_be_asked_to_begin_and_end():
    ok(runtime.cudaProfilerStart())
    ok(runtime.cudaProfilerStop())
