# SPDX-License-Identifier: Apache-2.0
"""Event: options, queries, elapsed time, closing."""

import pickle

from cuda.core import Device, Event, EventOptions

device = Device(0)
device.set_current()
stream = device.create_stream()
plain = device.create_event()
timed = EventOptions(timing_enabled=True)


def elapsed():
    start, end = stream.record(options=timed), stream.record(options=timed)
    end.sync()
    return type(end - start), end - start >= 0, start - end <= 0


def closed():
    event = device.create_event(timed)
    event.close()
    event.close()
    return event


def recorded():
    event = stream.record(options=timed)
    event.sync()
    return event


def text_of(operation):
    try:
        operation()
    except Exception as error:
        return str(error)[:40]


CASES = [
    elapsed,
    lambda: Event(),
    lambda: Event(1),
    lambda: type(plain.handle),
    lambda: plain.is_timing_enabled,
    lambda: plain.is_blocking_sync,
    lambda: plain.is_ipc_enabled,
    lambda: plain.is_done,
    lambda: plain.is_closed,
    lambda: plain.sync(),
    lambda: plain.device is device,
    lambda: plain.context == device.context,
    lambda: plain.ipc_descriptor,
    lambda: repr(plain),
    lambda: hash(plain) == hash(int(plain.handle)),
    lambda: plain == plain.handle,
    lambda: plain == device.create_event(),
    lambda: plain.__eq__(3),
    lambda: pickle.dumps(plain),
    lambda: device.create_event(EventOptions(blocking_sync=True)).is_blocking_sync,
    lambda: device.create_event({"blocking_sync": True}).is_timing_enabled,
    lambda: device.create_event(EventOptions(timing_enabled=None)).is_timing_enabled,
    lambda: device.create_event({"unknown": True}),
    lambda: device.create_event(EventOptions(ipc_enabled=True)),
    lambda: stream.record(options=EventOptions(ipc_enabled=True, timing_enabled=True)),
    lambda: plain - plain,
    lambda: text_of(lambda: plain - plain),
    lambda: text_of(lambda: device.create_event(timed) - plain),
    lambda: text_of(lambda: device.create_event(timed) - device.create_event(timed)),
    lambda: text_of(lambda: recorded() - device.create_event(timed)),
    lambda: recorded() - 3,
    lambda: 3 - recorded(),
    lambda: recorded() - None,
    lambda: recorded().__isub__(3),
    lambda: recorded().__rsub__(3),
    lambda: closed().is_closed,
    lambda: int(closed().handle),
    lambda: repr(closed()),
    lambda: bool(closed()),
    lambda: closed().sync(),
    lambda: closed().is_done,
    lambda: closed().is_timing_enabled,
    lambda: closed().device,
    lambda: closed().context,
    lambda: closed() - recorded(),
    lambda: recorded() - closed(),
    lambda: stream.wait(closed()),
    lambda: stream.record(closed()),
    lambda: EventOptions(),
    lambda: EventOptions(True, True, True),
    lambda: EventOptions(timing_enabled=True) == EventOptions(True),
    lambda: hash(EventOptions()),
    lambda: EventOptions(x=1),
]
