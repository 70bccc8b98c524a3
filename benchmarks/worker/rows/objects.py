# SPDX-License-Identifier: Apache-2.0
"""Devices, streams, events and buffers of cuda.core."""

from rows import row


@row("Device()", target=40)
def device(world):
    from cuda.core import Device

    return lambda: Device()


@row("set_current()", target=60)
def set_current(world):
    device = world.device
    return lambda: device.set_current()


@row("stream create+close", target=200, twin="stream_create_destroy")
def stream_create(world):
    device = world.device
    return lambda: device.create_stream().close()


@row("event create+close", target=150, twin="event_create_destroy")
def event_create(world):
    device = world.device
    return lambda: device.create_event().close()


@row("record()", target=120, twin="event_create_record_destroy")
def record(world):
    stream = world.stream
    return lambda: stream.record()


@row("record(ev)", target=55, twin="event_record")
def record_given(world):
    stream, event = world.stream, world.device.create_event()
    return lambda: stream.record(event)


@row("wait(ev)", target=55, twin="stream_wait")
def wait(world):
    stream, event = world.device.create_stream(), world.stream.record()
    return lambda: stream.wait(event)


@row("allocate+close, driver pool", target=350, twin="alloc_free_async")
def allocate(world):
    resource, stream = world.device.memory_resource, world.stream
    return lambda: resource.allocate(1024, stream=stream).close()


@row("copy_to", target=90, twin="memcpy_async")
def copy_to(world):
    source, target, stream = world.buffer, world.other, world.stream
    return lambda: source.copy_to(target, stream=stream)


@row("fill", target=110, twin="memset_async")
def fill(world):
    buffer, stream = world.buffer, world.stream
    return lambda: buffer.fill(7, stream=stream)


@row("Buffer.__dlpack__()", target=90)
def dlpack(world):
    buffer = world.buffer
    return lambda: buffer.__dlpack__()
