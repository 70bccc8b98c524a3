# SPDX-License-Identifier: Apache-2.0
"""Python callables and ctypes functions as callbacks of streams: arguments and lifetime."""

import ctypes
import gc
import sys
import weakref

import pytest

from ...ids import readable

Pointer, Unsigned = ctypes.c_void_p, ctypes.c_uint
HostFn = ctypes.CFUNCTYPE(None, Pointer)
StreamCallback = ctypes.CFUNCTYPE(None, Pointer, ctypes.c_int, Pointer)
STEMS = ["LaunchHostFunc", "StreamAddCallback"]


class Callable:
    """A callable with a weak reference, that records its arguments."""

    def __init__(self, seen, error=None):
        self.seen, self.error = seen, error

    def __call__(self, *arguments):
        self.seen.append(arguments)
        if self.error:
            raise self.error


class Argument:
    pass


class Launcher:
    """A driver that stores the callbacks, and calls them on request."""

    def __init__(self, api, put, stem):
        self.api, self.stem, self.code, self.pending = api, stem, 0, []
        is_host = stem == "LaunchHostFunc"
        self.extra = () if is_host else (0,)
        if is_host:
            put(api.name("StreamIsCapturing"), lambda _stream, _status: 0, Pointer, Pointer)

        def launch(_stream, function, data, *_flags):
            if not self.code:
                self.pending.append((function, data))
            return self.code

        put(api.name(stem), launch, *[Pointer] * 3, *[Unsigned] * len(self.extra))

    def __call__(self, function, data=None, stream=9):
        return getattr(self.api, self.stem)(stream, function, data, *self.extra)

    def run(self, status=0):
        pending, self.pending = self.pending, []
        for function, data in pending:
            if self.extra:
                StreamCallback(function)(9, status, data)
            else:
                HostFn(function)(data)
        ctypes.pythonapi.Py_MakePendingCalls()
        gc.collect()

    def arguments(self, data, status=0):
        if not self.extra:
            return (data,)
        return self.api.type("Stream")(9), self.api.result(status), data


@pytest.fixture(params=STEMS)
def launch(api, put, request):
    return Launcher(api, put, request.param)


@pytest.mark.parametrize("data", [None, 5, b"bytes", Argument()], ids=lambda v: type(v).__name__)
def test_a_callable_receives_the_arguments_of_the_c_function(launch, data):
    seen = []
    assert launch(seen.append if not launch.extra else Callable(seen), data)[0] == 0
    launch.run()
    if launch.extra:
        ((stream, status, passed),) = seen
        assert (int(stream), status) == (9, 0)
        assert type(status) is launch.api.result
        assert passed is data
    else:
        assert seen == [data]


def test_callable_and_argument_are_released_after_the_call(launch):
    function, data, seen = Callable([]), Argument(), []
    references = weakref.ref(function), weakref.ref(data)
    launch(function, data)
    del function, data
    gc.collect()
    assert all(each() is not None for each in references)
    references[0]().seen = seen
    launch.run()
    assert len(seen) == 1
    seen.clear()
    gc.collect()
    assert all(each() is None for each in references)


def test_they_are_released_if_the_call_fails(launch):
    function, data = Callable([]), Argument()
    references = weakref.ref(function), weakref.ref(data)
    launch.code = 400
    assert launch(function, data) == (launch.api.result(400),)
    for stream in ("text", object()):
        with pytest.raises(TypeError):
            launch(function, data, stream)
    del function, data
    gc.collect()
    assert all(each() is None for each in references)


def test_an_exception_is_unraisable(launch, monkeypatch):
    reported, seen = [], []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: reported.append(args.exc_type))
    launch(Callable(seen, KeyError("inside")))
    launch(Callable(seen, SystemExit()))
    launch.run()
    assert reported == [KeyError, SystemExit] and len(seen) == 2


def test_a_ctypes_function_is_called_at_its_address_and_retained(launch):
    seen = []
    prototype = StreamCallback if launch.extra else HostFn
    function = prototype(lambda *arguments: seen.append(arguments))
    reference = weakref.ref(function)
    launch(function, 7)
    del function
    gc.collect()
    assert reference() is not None
    launch.run()
    assert seen == [(9, 0, 7) if launch.extra else (7,)]
    assert reference() is None


def test_a_null_ctypes_function_is_null(launch):
    prototype = StreamCallback if launch.extra else HostFn
    launch(prototype(0), 5)
    assert launch.pending == [(None, 5)]


def test_a_callable_that_is_an_integer_is_an_address(launch):
    class Number(int):
        def __call__(self):
            pytest.fail("called")

    launch(Number(0))
    assert launch.pending == [(None, None)]


def test_arguments_that_call_back_do_not_mix(launch):
    seen, inner = [], []

    class Stream:
        def __index__(self):
            launch(Callable(inner), "inner")
            return 9

    launch(Callable(seen), "outer", Stream())
    launch.run()
    assert [each[-1] for each in seen] == ["outer"]
    assert [each[-1] for each in inner] == ["inner"]


@pytest.mark.parametrize("function", ["text", 2.5, object()], ids=readable)
def test_other_objects_are_refused(launch, function):
    with pytest.raises(TypeError, match="an integer"):
        launch(function if not isinstance(function, float) else [])


def test_a_captured_callable_belongs_to_the_graph(api, put):
    launch = Launcher(api, put, "LaunchHostFunc")
    owned = []

    def info(_stream, status, _id, graph, *_):
        ctypes.c_int.from_address(status).value = 1
        ctypes.c_uint64.from_address(graph).value = 0xABC

    def is_capturing(_stream, status):
        ctypes.c_int.from_address(status).value = 1

    put(api.name("StreamIsCapturing"), is_capturing, Pointer, Pointer)
    put(api.name("StreamGetCaptureInfo"), info, *[Pointer] * 7)
    put(api.name("UserObjectCreate"), lambda _out, record, destroy, *_: owned.append(
        (record, HostFn(destroy))), Pointer, Pointer, Pointer, Unsigned, Unsigned)  # fmt: skip
    put(api.name("GraphRetainUserObject"), lambda *_: 0, Pointer, Pointer, Unsigned, Unsigned)
    seen = []
    function = Callable(seen)
    reference = weakref.ref(function)
    launch(function, "data")
    del function
    pending = list(launch.pending)
    for _ in range(3):
        launch.pending = list(pending)
        launch.run()
    assert seen == [("data",)] * 3
    ((record, destroy),) = owned
    destroy(record)
    ctypes.pythonapi.Py_MakePendingCalls()
    gc.collect()
    assert reference() is None
