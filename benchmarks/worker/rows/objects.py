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


@row("write_value(buffer, 1)", target=900, ours_only=True)
def write_value(world):
    from cuda.core import LegacyPinnedMemoryResource

    # not from a pool: drivers reject pool memory here
    stream, buffer = world.stream, LegacyPinnedMemoryResource().allocate(4)
    return lambda: stream.write_value(buffer, 1)


@row("allocate+close, driver pool", target=350, twin="alloc_free_async")
def allocate(world):
    resource, stream = world.device.memory_resource, world.stream
    return lambda: resource.allocate(1024, stream=stream).close()


@row("allocate+close, counted", target=2500, twin="alloc_free_async", ours_only=True)
def allocate_counted(world):
    from cuda.core import StatisticsMemoryResource

    resource, stream = StatisticsMemoryResource(world.device.memory_resource), world.stream
    return lambda: resource.allocate(1024, stream=stream).close()


@row("allocate+close, tracked", target=5500, twin="alloc_free_async", ours_only=True)
def allocate_tracked(world):
    from cuda.core import TrackingMemoryResource

    resource, stream = TrackingMemoryResource(world.device.memory_resource), world.stream
    return lambda: resource.allocate(1024, stream=stream).close()


@row("allocate+close, our pool", target=150, twin="alloc_free_async", ours_only=True)
def allocate_from_pool(world):
    from cuda.core import PoolMemoryResource

    resource, stream = PoolMemoryResource(world.device), world.stream
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


@row("view from DLPack: ndarray", target=150)
def view_of_ndarray(world):
    import numpy as np
    from cuda.core.utils import StridedMemoryView

    array = np.zeros((3, 4), np.float32)
    return lambda: StridedMemoryView.from_dlpack(array, stream_ptr=-1)


@row("view from DLPack: Buffer", target=120)
def view_of_buffer(world):
    from cuda.core.utils import StridedMemoryView

    buffer = world.buffer
    return lambda: StridedMemoryView.from_dlpack(buffer, stream_ptr=-1)


class DeviceArray:
    """A device array of another library."""

    def __init__(self, buffer):
        self.__cuda_array_interface__ = {
            "shape": (8, 8),
            "typestr": "<f4",
            "data": (int(buffer.handle), False),
            "version": 3,
            "strides": None,
            "stream": None,
        }


@row("view from __cuda_array_interface__", target=300)
def view_of_device_array(world):
    from cuda.core.utils import StridedMemoryView

    array = DeviceArray(world.buffer)
    return lambda: StridedMemoryView.from_cuda_array_interface(array, stream_ptr=-1)


@row("view.__dlpack__()", target=110)
def export_of_view(world):
    import numpy as np
    from cuda.core.utils import StridedMemoryView

    view = StridedMemoryView.from_dlpack(np.zeros((3, 4), np.float32), stream_ptr=-1)
    return lambda: view.__dlpack__()
