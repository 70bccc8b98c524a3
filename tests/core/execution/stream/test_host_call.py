# SPDX-License-Identifier: Apache-2.0
"""Host functions in the order of a stream."""

import ctypes
import gc
import sys
import threading
import weakref

import pytest
from cuda.core import host_launch

HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def test_a_callable_runs_once_in_stream_order(stream):
    calls = []
    for i in range(20):
        stream.launch_host(lambda i=i: calls.append(i))
    stream.sync()
    assert calls == list(range(20))


def test_a_concurrent_import_of_ctypes_is_safe(stream, monkeypatch):
    calls = []
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "ctypes", type(sys)("ctypes"))
        stream.launch_host(lambda: calls.append(1))
    stream.sync()
    assert calls == [1]


def test_the_function_form_accepts_any_stream(stream):
    calls = []
    foreign = type("Foreign", (), {"__cuda_stream__": lambda self: stream.__cuda_stream__()})()
    host_launch(stream, lambda: calls.append(1))
    host_launch(foreign, lambda: calls.append(2))
    stream.sync()
    assert calls == [1, 2]


def test_an_exception_is_reported_and_the_stream_continues(stream, monkeypatch):
    reports = []
    monkeypatch.setattr(sys, "unraisablehook", lambda report: reports.append(report.exc_type))
    calls = []
    stream.launch_host(lambda: 1 // 0)
    stream.launch_host(lambda: calls.append(1))
    stream.sync()
    assert reports == [ZeroDivisionError]
    assert calls == [1]


def test_the_callable_is_retained_until_it_has_run(stream):
    class Callback:
        def __call__(self):
            gate.wait(60)

    gate = threading.Event()
    callback = Callback()
    alive = weakref.ref(callback)
    stream.launch_host(callback)
    del callback
    assert alive() is not None
    gate.set()
    stream.sync()
    stream.launch_host(int)  # a later call drops the references of earlier ones
    stream.sync()
    assert alive() is None


def test_a_waiting_thread_releases_the_gil(stream):
    """The callable acquires the GIL while the main thread is inside the driver."""
    done = threading.Event()
    stream.launch_host(done.set)
    stream.sync()
    assert done.is_set()


@pytest.mark.parametrize(
    ("user_data", "expected"),
    [(None, None), (0x1234, 0x1234), (b"text", b"text"), (bytearray(b"abc"), b"abc")],
)
def test_a_c_function_gets_its_argument(stream, user_data, expected):
    values = []

    @HOST_FUNCTION
    def callback(pointer):
        is_bytes = isinstance(expected, bytes)
        values.append(ctypes.string_at(pointer, len(expected)) if is_bytes else pointer)

    stream.launch_host(callback, user_data=user_data)
    stream.sync()
    assert values == [expected]


def test_bytes_are_copied_and_the_c_function_is_retained(stream):
    values = []
    data = bytearray(b"before")
    gate = threading.Event()
    stream.launch_host(lambda: gate.wait(60))
    stream.launch_host(
        HOST_FUNCTION(lambda pointer: values.append(ctypes.string_at(pointer, 6))), user_data=data
    )
    data[:] = b"after!"
    gc.collect()
    gate.set()
    stream.sync()
    assert values == [b"before"]


def test_a_python_callable_accepts_no_user_data(stream):
    with pytest.raises(
        ValueError, match="user_data is only supported with ctypes function pointers"
    ):
        stream.launch_host(print, user_data=1)


@pytest.mark.parametrize("wrong", [None, 1, "print"])
def test_an_object_that_is_not_callable_is_refused(stream, wrong):
    with pytest.raises(TypeError, match="callback must be callable, got"):
        stream.launch_host(wrong)


def test_a_c_function_of_another_type_is_refused(stream):
    wrong = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)(lambda a, b: 0)
    with pytest.raises(TypeError, match=r"c_int.*CUhostFn.*CFUNCTYPE\(None, ctypes\.c_void_p\)"):
        stream.launch_host(wrong)


@pytest.mark.parametrize("value", [-1, 2**64])
def test_user_data_has_64_bits(stream, value):
    with pytest.raises(OverflowError, match=f"^user_data of a host function .*, got {value}$"):
        stream.launch_host(HOST_FUNCTION(lambda pointer: None), user_data=value)


def test_user_data_of_another_type_is_refused(stream):
    with pytest.raises(TypeError, match="user_data must be an int or bytes-like"):
        stream.launch_host(HOST_FUNCTION(lambda pointer: None), user_data=1.5)


def test_pending_calls_at_interpreter_exit_are_harmless(run_python):
    code = """
import time
from cuda.core import Device
device = Device(0)
device.set_current()
stream = device.create_stream()
for _ in range(50):
    stream.launch_host(lambda: time.sleep(0.001))
"""
    run_python(code)
