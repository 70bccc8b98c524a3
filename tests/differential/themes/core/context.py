# SPDX-License-Identifier: Apache-2.0
"""Context: where it comes from, what it answers, closing."""

import pickle

from cuda.core import Context, Device

device = Device(0)
device.set_current()
stream = device.create_stream()
event = device.create_event()


def closed():
    from cuda.bindings import driver

    context = device.create_stream().context
    driver.cuCtxSetCurrent(0)
    context.close()
    context.close()
    device.set_current()
    return context


CASES = [
    lambda: Context(),
    lambda: Context(3),
    lambda: type(device.context.handle),
    lambda: device.context == stream.context,
    lambda: device.context == event.context,
    lambda: hash(device.context) == hash(stream.context),
    lambda: hash(device.context) == hash(int(device.context.handle)),
    lambda: device.context == device.context.handle,
    lambda: device.context == 0,
    lambda: device.context.__eq__(3),
    lambda: device.context.is_green,
    lambda: device.context.is_closed,
    lambda: repr(device.context),
    lambda: device.context._handle == device.context.handle,
    lambda: device.context.create_stream(),
    lambda: device.context.close(),
    lambda: stream.context.close(),
    lambda: closed().is_closed,
    lambda: closed().handle,
    lambda: repr(closed()),
    lambda: bool(closed()),
    lambda: closed() == stream.context,
    lambda: device.set_current(closed()),
    lambda: closed().create_stream(),
    lambda: pickle.dumps(device.context),
]
