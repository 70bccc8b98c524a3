# SPDX-License-Identifier: Apache-2.0
"""Streams, events, and host functions in stream order."""

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
    new_event = ok(runtime.cudaEventCreate())
    yield new_event
    ok(runtime.cudaEventDestroy(new_event))


def test_a_stream_returns_its_flags_and_priority():
    greatest = ok(runtime.cudaDeviceGetStreamPriorityRange())[1]
    created = ok(runtime.cudaStreamCreateWithPriority(runtime.cudaStreamNonBlocking, greatest))
    assert ok(runtime.cudaStreamGetFlags(created)) == runtime.cudaStreamNonBlocking
    assert ok(runtime.cudaStreamGetPriority(created)) == greatest
    assert ok(runtime.cudaStreamGetDevice(created)) == 0
    ok(runtime.cudaStreamDestroy(created))


def test_streams_have_unique_ids(stream):
    other = ok(runtime.cudaStreamCreate())
    assert ok(runtime.cudaStreamGetId(stream)) != ok(runtime.cudaStreamGetId(other))
    assert ok(runtime.cudaStreamGetFlags(other)) == runtime.cudaStreamDefault
    ok(runtime.cudaStreamDestroy(other))


@pytest.mark.parametrize("flags", [2, 1 << 20])
def test_unknown_stream_flags_are_refused(flags):
    assert runtime.cudaStreamCreateWithFlags(flags)[0] == Error.cudaErrorInvalidValue


def test_a_stream_is_ready_when_its_work_has_completed(stream, held):
    ok(runtime.cudaStreamQuery(stream))
    with held():
        assert runtime.cudaStreamQuery(stream)[0] == Error.cudaErrorNotReady
    ok(runtime.cudaStreamQuery(stream))


@pytest.mark.parametrize("name", ["cudaStreamLegacy", "cudaStreamPerThread"])
def test_the_default_streams_have_names(memory, name):
    default_stream = getattr(runtime, name)
    address = memory(64)
    ok(runtime.cudaMemsetAsync(address, 1, 64, default_stream))
    ok(runtime.cudaStreamSynchronize(default_stream))
    ok(runtime.cudaStreamQuery(default_stream))


def test_the_driver_accepts_runtime_streams(stream):
    ok(driver.cuStreamSynchronize(stream))
    assert int(ok(driver.cuStreamGetId(stream))) == int(ok(runtime.cudaStreamGetId(stream)))


def test_an_event_completes_after_earlier_work(stream, event, held):
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


def test_an_event_without_timing_has_no_elapsed_time(stream, event):
    silent = ok(runtime.cudaEventCreateWithFlags(runtime.cudaEventDisableTiming))
    ok(runtime.cudaEventRecord(silent, stream))
    ok(runtime.cudaEventRecord(event, stream))
    ok(runtime.cudaStreamSynchronize(stream))
    code = runtime.cudaEventElapsedTime(silent, event)[0]
    assert code == Error.cudaErrorInvalidResourceHandle
    ok(runtime.cudaEventDestroy(silent))


def test_a_host_function_runs_after_earlier_work(stream, held):
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


def test_a_callback_receives_its_stream_its_data_and_a_code(stream):
    seen, done = [], threading.Event()

    @StreamCallback
    def note(callback_stream, code, data):
        seen.append((callback_stream, code, data))
        done.set()

    ok(runtime.cudaStreamAddCallback(stream, address_of(note), 78, 0))
    assert done.wait(30)
    ok(runtime.cudaStreamSynchronize(stream))
    assert seen == [(int(stream), 0, 78)]


def test_a_null_callback_is_refused(stream):
    assert runtime.cudaStreamAddCallback(stream, 0, 0, 0)[0] == Error.cudaErrorInvalidValue


def test_no_stream_is_captured_by_default(stream):
    status = ok(runtime.cudaStreamIsCapturing(stream))
    assert status == runtime.cudaStreamCaptureStatus.cudaStreamCaptureStatusNone


def test_the_capture_mode_is_exchanged():
    Mode = runtime.cudaStreamCaptureMode
    relaxed, usual = Mode.cudaStreamCaptureModeRelaxed, Mode.cudaStreamCaptureModeGlobal
    ok(runtime.cudaThreadExchangeStreamCaptureMode(usual))
    assert ok(runtime.cudaThreadExchangeStreamCaptureMode(relaxed)) == usual
    assert ok(runtime.cudaThreadExchangeStreamCaptureMode(usual)) == relaxed


def test_the_profiler_can_be_started_and_stopped():
    ok(runtime.cudaProfilerStart())
    ok(runtime.cudaProfilerStop())
