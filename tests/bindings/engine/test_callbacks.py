# SPDX-License-Identifier: Apache-2.0
"""Wrapped callbacks: the calling thread, the data passed, and the lifetime."""

import ctypes
import threading
from itertools import count
from pathlib import Path

import pytest
from cuda.bindings import driver, runtime

from ...threads import known_threads

Pointer, Unsigned = ctypes.c_void_p, ctypes.c_uint
HostFn = ctypes.CFUNCTYPE(None, Pointer)
StreamCallback = ctypes.CFUNCTYPE(None, Pointer, ctypes.c_int, Pointer)
AsyncCallback = ctypes.CFUNCTYPE(None, Pointer, Pointer, Pointer)
HOST_FUNCTIONS = {"cu": "CUhostFn", "cuda": "cudaHostFn_t"}
LogsCallback = ctypes.CFUNCTYPE(None, Pointer, ctypes.c_int, Pointer, ctypes.c_size_t)


def address(function):
    return ctypes.cast(function, Pointer).value


@pytest.fixture
def not_capturing(api, put):
    put(api.name("StreamIsCapturing"), lambda _stream, _status: 0, Pointer, Pointer)


class TestHostFunction:
    @pytest.fixture
    def launched(self, api, put, not_capturing):
        """(function, data) pairs that the driver received."""
        seen = []
        put(
            api.name("LaunchHostFunc"),
            lambda _s, f, data: seen.append((HostFn(f), data)),
            *[Pointer] * 3,
        )
        return seen

    @pytest.mark.parametrize("is_handle", [False, True], ids=["int", "handle"])
    def test_the_driver_calls_the_user_function_with_its_data(self, api, launched, is_handle):
        wrap = getattr(api.module, HOST_FUNCTIONS[api.prefix]) if is_handle else int
        seen = []
        function = HostFn(seen.append)
        assert api.LaunchHostFunc(0, wrap(address(function)), 77)[0] == 0
        trampoline, data = launched[0]
        assert address(trampoline) != address(function)
        trampoline(data)
        assert seen == [77]

    def test_it_runs_on_threads_unknown_to_python(self, api, put, not_capturing):
        libc = ctypes.CDLL(None)
        threads = []

        def launch(_stream, function, data):
            thread = ctypes.c_ulong()
            code = libc.pthread_create(ctypes.byref(thread), None, Pointer(function), Pointer(data))
            threads.append(thread)
            return code

        put(api.name("LaunchHostFunc"), launch, *[Pointer] * 3)
        seen, before = [], known_threads()
        function = HostFn(lambda data: seen.append((data, threading.get_ident())))
        api.LaunchHostFunc(0, address(function), 5)
        libc.pthread_join(threads[0], None)
        assert seen[0][0] == 5
        assert seen[0][1] != threading.get_ident()
        # On a free-threaded build, objects of a later thread would wait for this thread.
        assert known_threads() == before

    def test_a_driver_that_calls_back_at_once_does_not_deadlock(self, api, put, not_capturing):
        put(api.name("LaunchHostFunc"), lambda _s, f, data: HostFn(f)(data), *[Pointer] * 3)
        seen = []
        function = HostFn(seen.append)
        api.LaunchHostFunc(0, address(function), 5)
        assert seen == [5]

    def test_a_refused_callback_is_not_called(self, api, put, not_capturing):
        put(api.name("LaunchHostFunc"), lambda *_: 400, *[Pointer] * 3)
        function = HostFn(lambda _: pytest.fail("called"))
        result = api.LaunchHostFunc(0, address(function), 5)
        assert result == (api.result(400),)

    def test_a_null_callback_is_passed_to_the_driver(self, api, put, not_capturing):
        seen = []
        put(
            api.name("LaunchHostFunc"),
            lambda _s, f, data: seen.append((f, data)) or 1,
            *[Pointer] * 3,
        )
        api.LaunchHostFunc(0, 0, 5)
        assert seen == [(None, 5)]

    def test_a_captured_callback_belongs_to_the_graph_and_may_run_repeatedly(self, api, put):
        launched, owned = [], []

        def is_capturing(_stream, status):
            ctypes.c_int.from_address(status).value = 1

        def info(_stream, status, _id, graph, *_):
            ctypes.c_int.from_address(status).value = 1
            ctypes.c_uint64.from_address(graph).value = 0xABC

        def create(out, record, destroy, count, flags):
            owned.append((record, HostFn(destroy), count, flags))
            ctypes.c_uint64.from_address(out).value = 0xDEF

        put(api.name("StreamIsCapturing"), is_capturing, Pointer, Pointer)
        put(api.name("StreamGetCaptureInfo"), info, *[Pointer] * 7)
        put(api.name("UserObjectCreate"), create, Pointer, Pointer, Pointer, Unsigned, Unsigned)
        put(api.name("GraphRetainUserObject"), lambda g, o, n, f: owned.append((g, o, n, f)),
            Pointer, Pointer, Unsigned, Unsigned)  # fmt: skip
        put(
            api.name("LaunchHostFunc"),
            lambda _s, f, data: launched.append((HostFn(f), data)),
            *[Pointer] * 3,
        )
        seen = []
        function = HostFn(seen.append)
        api.LaunchHostFunc(0x11, address(function), 5)
        (record, destroy, _, _), retained = owned
        trampoline, data = launched[0]
        for _ in range(3):
            trampoline(data)
        assert seen == [5, 5, 5]
        assert data == record
        assert retained == (0xABC, 0xDEF, 1, 1)
        destroy(record)


def test_a_stream_callback_receives_stream_status_and_data(api, put):
    put(api.name("StreamAddCallback"), lambda s, f, data, _flags: StreamCallback(f)(s, 2, data),
        Pointer, Pointer, Pointer, Unsigned)  # fmt: skip
    seen = []
    function = StreamCallback(lambda *args: seen.append(args))
    assert api.StreamAddCallback(9, address(function), 77, 0) == (api.result(0),)
    assert seen == [(9, 2, 77)]


class Registration:
    """A driver that returns a handle for each registered callback."""

    def __init__(self, put, name, handle, types, at):
        self.registered, self.unregistered = [], []

        def register(*args):
            ctypes.c_uint64.from_address(args[-1]).value = handle
            self.registered.append(args[at : at + 2])

        put(name, register, *types)


def test_a_logs_callback_lives_until_it_is_unregistered(put):
    types = (Pointer, Pointer, Pointer)
    registration = Registration(put, "cuLogsRegisterCallback", 0x51, types, 0)
    put("cuLogsUnregisterCallback", lambda handle: None, Pointer)
    seen = []
    function = LogsCallback(lambda *args: seen.append(args))
    _, handle = driver.cuLogsRegisterCallback(address(function), 7)
    assert int(handle) == 0x51
    trampoline, data = registration.registered[0]
    for level in (0, 1):
        LogsCallback(trampoline)(data, level, 4096, 3)
    assert seen == [(7, 0, 4096, 3), (7, 1, 4096, 3)]
    assert driver.cuLogsUnregisterCallback(handle) == (driver.CUresult(0),)


def test_an_async_notification_receives_info_data_and_handle(api, put):
    types = (ctypes.c_int, Pointer, Pointer, Pointer)
    registration = Registration(put, api.name("DeviceRegisterAsyncNotification"), 0x61, types, 1)
    unregister = api.name("DeviceUnregisterAsyncNotification")
    put(unregister, lambda _device, _handle: None, ctypes.c_int, Pointer)
    seen = []
    function = AsyncCallback(lambda *args: seen.append(args))
    _, handle = api.DeviceRegisterAsyncNotification(0, address(function), 7)
    trampoline, data = registration.registered[0]
    AsyncCallback(trampoline)(4096, data, 0x61)
    assert seen == [(4096, 7, 0x61)]
    assert api.DeviceUnregisterAsyncNotification(0, handle) == (api.result(0),)


def test_a_refused_registration_returns_its_code(put):
    put("cuLogsRegisterCallback", lambda *_: 801, *[Pointer] * 3)
    function = LogsCallback(lambda *_: None)
    result = driver.cuLogsRegisterCallback(address(function), 0)
    assert result == (driver.CUresult.CUDA_ERROR_NOT_SUPPORTED, None)


def test_unregistering_an_unknown_handle_is_passed_to_the_driver(put):
    put("cuLogsUnregisterCallback", lambda _handle: 400, Pointer)
    assert driver.cuLogsUnregisterCallback(12345)[0] == 400


REGISTERING = [
    ("cuLogsRegisterCallback", "cuLogsUnregisterCallback", (), [Pointer] * 3),
    *(
        (
            f"{prefix}DeviceRegisterAsyncNotification",
            f"{prefix}DeviceUnregisterAsyncNotification",
            (0,),
            [ctypes.c_int, *[Pointer] * 3],
        )
        for prefix in ("cu", "cuda")
    ),
]


class TestLifetimeOfCallbackRecords:
    """A callback's record is freed when it can no longer be called."""

    @staticmethod
    def resident_kibibytes():
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4

    def growth(self, call, times=20000):
        for _ in range(times // 10):
            call()
        before = self.resident_kibibytes()
        for _ in range(times):
            call()
        return self.resident_kibibytes() - before

    @pytest.mark.parametrize(
        ("stem", "extra"), [("LaunchHostFunc", ()), ("StreamAddCallback", (0,))]
    )
    def test_the_record_of_a_refused_callback_is_freed_at_once(
        self, api, put, not_capturing, stem, extra
    ):
        types = [*[Pointer] * 3, *[Unsigned] * len(extra)]
        put(api.name(stem), lambda *_: 400, *types)
        assert self.growth(lambda: getattr(api, stem)(0, 4096, 5, *extra)) < 256

    @pytest.mark.parametrize(("register", "_unregister", "first", "types"), REGISTERING)
    def test_the_record_of_a_refused_registration_is_freed_at_once(
        self, put, register, _unregister, first, types
    ):
        module = runtime if register.startswith("cuda") else driver
        put(register, lambda *_: 400, *types)
        assert self.growth(lambda: getattr(module, register)(*first, 4096, 5)) < 256

    @pytest.mark.parametrize(("register", "unregister", "first", "types"), REGISTERING)
    def test_unregistering_frees_the_record(self, put, register, unregister, first, types):
        module = runtime if register.startswith("cuda") else driver
        handles = count(1)

        def return_handle(*arguments):
            ctypes.c_uint64.from_address(arguments[-1]).value = next(handles)

        put(register, return_handle, *types)
        put(unregister, lambda *_: None, *types[: len(first)], Pointer)

        def register_and_unregister():
            _, handle = getattr(module, register)(*first, 4096, 5)
            getattr(module, unregister)(*first, handle)

        assert self.growth(register_and_unregister) < 256


def test_other_callbacks_are_passed_unchanged(api, calls):
    seen = calls(api.name("LaunchHostFunc_v2"), Pointer, Pointer, Pointer, Unsigned)
    function = HostFn(lambda _: None)
    api.LaunchHostFunc_v2(0, address(function), 5, 0)
    assert seen[0][1:3] == (address(function), 5)
