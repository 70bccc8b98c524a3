# SPDX-License-Identifier: Apache-2.0
"""Stream: creation, protocol, members, default tokens, closing."""

import pickle
import weakref

import numpy as np
from cuda.bindings import driver
from cuda.core import (
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    Device,
    Stream,
    StreamOptions,
)
from cuda.core._stream import IsStreamType, default_stream

device = Device(0)
device.set_current()
stream = device.create_stream()
other = device.create_stream()
event = device.create_event()


class Foreign:
    def __init__(self, result):
        self.answer = result

    def __cuda_stream__(self):
        return self.answer


class Attribute:
    __cuda_stream__ = (0, 1)


class Named:
    """Converts by `__index__` only."""

    def __index__(self):
        return 1


class Convertible:
    def __int__(self):
        return 1


class Derived(Stream):
    pass


def closed(result=None):
    result = result or device.create_stream()
    result.close()
    result.close()
    return result


def round_trip(options):
    return pickle.loads(pickle.dumps(options)) == options


CASES = [
    lambda: Stream(3),
    lambda: Stream(None),
    lambda: type(stream.handle),
    lambda: int(stream.handle) != 0,
    lambda: stream.is_nonblocking,
    lambda: stream.priority,
    lambda: stream.device is device,
    lambda: stream.context == device.context,
    lambda: stream.is_closed,
    lambda: stream.sync(),
    lambda: repr(stream),
    lambda: hash(stream) == hash(int(stream.handle)),
    lambda: stream == Stream.from_handle(int(stream.handle)),
    lambda: stream == stream.handle,
    lambda: stream == other,
    lambda: stream.__eq__(3),
    lambda: weakref.ref(stream)() is stream,
    lambda: pickle.dumps(stream),
    lambda: stream.__cuda_stream__() == (0, int(stream.handle)),
    lambda: isinstance(stream, IsStreamType),
    lambda: isinstance(3, IsStreamType),
    lambda: device.create_stream(options=StreamOptions(nonblocking=False)).is_nonblocking,
    lambda: device.create_stream(options=StreamOptions(priority=0)).priority,
    lambda: device.create_stream(options={"priority": -1}).priority,
    lambda: device.create_stream(options=StreamOptions(priority=-5)).priority,
    lambda: device.create_stream(options=StreamOptions(priority=-6)),
    lambda: device.create_stream(options=StreamOptions(priority=1)),
    lambda: device.create_stream(options=StreamOptions(priority="x")),
    lambda: device.create_stream(options="x"),
    lambda: device.create_stream(Foreign((0, 1)), options=StreamOptions()),
    lambda: int(device.create_stream(Foreign((0, 7))).handle),
    lambda: int(device.create_stream(Foreign([0, 7])).handle),
    lambda: device.create_stream(Foreign((1, 7))),
    lambda: device.create_stream(Foreign((0,))),
    lambda: device.create_stream(Foreign((0, 1, 2))),
    lambda: device.create_stream(Foreign(3)),
    lambda: device.create_stream(Foreign(None)),
    lambda: int(device.create_stream(Attribute()).handle),
    lambda: device.create_stream(object()),
    lambda: device.create_stream(stream) == stream,
    lambda: type(Derived._init(device_id=0)),
    lambda: int(Stream.from_handle(0).handle),
    lambda: int(Stream.from_handle(5).handle),
    lambda: int(Stream.from_handle(np.int64(5)).handle),
    lambda: int(Stream.from_handle(driver.CUstream(5)).handle),
    lambda: int(Stream.from_handle(Convertible()).handle),
    lambda: int(Stream.from_handle(Named()).handle),
    lambda: Stream.from_handle(1.5),
    lambda: Stream.from_handle(None),
    lambda: Stream.from_handle("1"),
    lambda: Stream.from_handle(-1),
    lambda: Stream.from_handle(2**64),
    lambda: int(LEGACY_DEFAULT_STREAM.handle),
    lambda: int(PER_THREAD_DEFAULT_STREAM.handle),
    lambda: hash(LEGACY_DEFAULT_STREAM),
    lambda: Stream._legacy_default() == LEGACY_DEFAULT_STREAM,
    lambda: Stream._per_thread_default() == PER_THREAD_DEFAULT_STREAM,
    lambda: type(Derived._legacy_default()),
    lambda: LEGACY_DEFAULT_STREAM == PER_THREAD_DEFAULT_STREAM,
    lambda: default_stream() is LEGACY_DEFAULT_STREAM,
    lambda: device.default_stream is LEGACY_DEFAULT_STREAM,
    lambda: LEGACY_DEFAULT_STREAM.is_nonblocking,
    lambda: LEGACY_DEFAULT_STREAM.priority,
    lambda: LEGACY_DEFAULT_STREAM.context == device.context,
    lambda: LEGACY_DEFAULT_STREAM.device is device,
    lambda: repr(LEGACY_DEFAULT_STREAM),
    lambda: PER_THREAD_DEFAULT_STREAM.sync(),
    lambda: stream.record() == stream.record(),
    lambda: stream.record(event) is event,
    lambda: stream.record(event, options={"timing_enabled": True}).is_timing_enabled,
    lambda: stream.record(options={"timing_enabled": True}).is_timing_enabled,
    lambda: stream.record(options=3),
    lambda: stream.record(3),
    lambda: stream.record(stream),
    lambda: stream.wait(event),
    lambda: stream.wait(other),
    lambda: stream.wait(stream),
    lambda: stream.wait(Foreign((0, 2))),
    lambda: stream.wait(Foreign((1, 1))),
    lambda: stream.wait(3),
    lambda: stream.wait(None),
    lambda: closed().is_closed,
    lambda: int(closed().handle),
    lambda: repr(closed()),
    lambda: closed() == stream,
    lambda: bool(closed()),
    lambda: closed().sync(),
    lambda: closed().record(),
    lambda: closed().wait(event),
    lambda: stream.wait(closed()),
    lambda: closed().is_nonblocking,
    lambda: closed().priority,
    lambda: closed().context,
    lambda: closed().device,
    lambda: closed().__cuda_stream__(),
    lambda: device.create_stream(closed()),
    lambda: device.allocate(8, stream=closed()),
    lambda: StreamOptions(),
    lambda: StreamOptions(False, 3) == StreamOptions(nonblocking=False, priority=3),
    lambda: hash(StreamOptions()),
    lambda: StreamOptions(x=1),
    lambda: round_trip(StreamOptions(priority=1)),
]
