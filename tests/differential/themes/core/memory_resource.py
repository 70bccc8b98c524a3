# SPDX-License-Identifier: Apache-2.0
"""Memory resources: the base class, device pools, pinned memory."""

import weakref

import numpy as np
from cuda.bindings import driver
from cuda.core import (
    Buffer,
    Device,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    LegacyPinnedMemoryResource,
    MemoryResource,
)
from cuda.core._memory._legacy import _SynchronousMemoryResource

device = Device(0)
device.set_current()
stream = device.create_stream()
current = DeviceMemoryResource(0)
pinned = LegacyPinnedMemoryResource()
synchronous = _SynchronousMemoryResource(0)


class Derived(MemoryResource):
    pass


class Pool(DeviceMemoryResource):
    pass


def text_of(operation):
    try:
        operation()
    except Exception as error:
        return str(error)


def own(**options):
    return DeviceMemoryResource(device, DeviceMemoryResourceOptions(**options))


def closed():
    resource = own()
    resource.close()
    resource.close()
    return resource


def buffers_outlive_the_pool():
    pool = own()
    buffer = pool.allocate(64, stream=stream)
    pool.close()
    size = buffer.size
    buffer.close(stream)
    stream.sync()
    return size, buffer.is_closed


def attributes_outlive_the_pool():
    pool = own()
    attributes = pool.attributes
    pool.close()
    return attributes.used_mem_current


def answers_when_closed():
    pool = closed()
    flags = pool.is_device_accessible, pool.is_host_accessible, pool.is_managed, pool.is_ipc_enabled
    return pool.device_id, flags, int(pool.handle), pool.uuid, pool.is_closed


def usage_of_a_pool():
    pool = own()
    buffer = pool.allocate(1024, stream=stream)
    stream.sync()
    used = pool.attributes.used_mem_current
    buffer.close()
    stream.sync()
    return used >= 1024, pool.attributes.used_mem_current, pool.attributes.used_mem_high >= 1024


def text_of_attributes():
    return [part.split("=")[0] for part in repr(current.attributes).split(", ")]


def allocate_with(stream_of_the_call):
    buffer = current.allocate(64, stream=stream_of_the_call)
    buffer.close(stream)


CASES = [
    buffers_outlive_the_pool,
    attributes_outlive_the_pool,
    answers_when_closed,
    usage_of_a_pool,
    text_of_attributes,
    lambda: MemoryResource().allocate(1, stream=stream),
    lambda: MemoryResource().deallocate(1, 1, stream=stream),
    lambda: MemoryResource().is_device_accessible,
    lambda: MemoryResource().is_host_accessible,
    lambda: MemoryResource().device_id,
    lambda: MemoryResource().is_managed,
    lambda: text_of(lambda: MemoryResource().allocate(1, stream=stream)),
    lambda: text_of(lambda: MemoryResource().device_id),
    lambda: Derived().is_managed,
    lambda: isinstance(current, MemoryResource),
    lambda: isinstance(pinned, MemoryResource),
    lambda: DeviceMemoryResource(),
    lambda: DeviceMemoryResource(3),
    lambda: DeviceMemoryResource("0"),
    lambda: DeviceMemoryResource(-1),
    lambda: DeviceMemoryResource(None).device_id,
    lambda: DeviceMemoryResource(0, 3),
    lambda: DeviceMemoryResource(0, {"max_size": 4096}).is_handle_owned,
    lambda: DeviceMemoryResource(0, {"unknown": 3}),
    lambda: DeviceMemoryResource(np.int64(0)).device_id,
    lambda: type(Pool(0)),
    lambda: type(Pool(0).allocate(8, stream=stream)),
    lambda: type(current.handle),
    lambda: int(current.handle) == int(DeviceMemoryResource(device).handle),
    lambda: current == DeviceMemoryResource(device),
    lambda: current.device_id,
    lambda: current.is_handle_owned,
    lambda: own().is_handle_owned,
    lambda: own(max_size=1 << 22).allocate(1 << 24, stream=stream),
    lambda: own(ipc_enabled=False).is_ipc_enabled,
    lambda: current.is_ipc_enabled,
    lambda: current.is_mapped,
    lambda: current.is_device_accessible,
    lambda: current.is_host_accessible,
    lambda: current.is_managed,
    lambda: current.is_closed,
    lambda: current.uuid,
    lambda: current.attributes is current.attributes,
    lambda: type(current.attributes)(),
    lambda: current.attributes.release_threshold,
    lambda: current.attributes.reuse_follow_event_dependencies,
    lambda: current.attributes.reuse_allow_opportunistic,
    lambda: current.attributes.reuse_allow_internal_dependencies,
    lambda: type(current.attributes.reserved_mem_current),
    lambda: setattr(current.attributes, "used_mem_current", 3),
    lambda: weakref.ref(current)() is current,
    lambda: current.allocate(64, stream=stream).size,
    lambda: current.allocate(64, stream=device.default_stream).size,
    lambda: current.allocate(-1, stream=stream),
    lambda: current.allocate(2**64, stream=stream),
    lambda: current.allocate(2**50, stream=stream),
    lambda: current.allocate("x", stream=stream),
    lambda: current.allocate(1.5, stream=stream),
    lambda: current.allocate(np.int64(64), stream=stream).size,
    lambda: current.allocate(64, stream=None),
    lambda: current.allocate(64, stream=3),
    lambda: allocate_with(device.create_stream()),
    lambda: current.deallocate(0, 0, stream=stream),
    lambda: current.deallocate(0, 0, stream=None),
    lambda: current.deallocate(driver.cuMemAllocAsync(64, stream.handle)[1], 64, stream=stream),
    lambda: closed().allocate(8, stream=stream),
    lambda: closed().attributes,
    lambda: text_of(lambda: closed().allocate(8, stream=stream)),
    lambda: pinned.allocate(8).size,
    lambda: pinned.allocate(8, stream=stream).size,
    lambda: pinned.allocate(0).handle,
    lambda: pinned.allocate(-1),
    lambda: pinned.allocate("x"),
    lambda: pinned.allocate(8, stream=3),
    lambda: pinned.is_device_accessible,
    lambda: pinned.is_host_accessible,
    lambda: pinned.is_managed,
    lambda: pinned.device_id,
    lambda: text_of(lambda: pinned.device_id),
    lambda: pinned.deallocate(0, 0),
    lambda: pinned.deallocate(driver.cuMemAllocHost(64)[1], 64, stream=stream),
    lambda: synchronous.allocate(8, stream=stream).size,
    lambda: synchronous.allocate(0, stream=stream).handle,
    lambda: synchronous.is_device_accessible,
    lambda: synchronous.is_host_accessible,
    lambda: synchronous.device_id,
    lambda: type(synchronous.allocate(8, stream=stream)) is Buffer,
    lambda: DeviceMemoryResourceOptions(),
    lambda: DeviceMemoryResourceOptions(True, 5) == DeviceMemoryResourceOptions(True, 5),
    lambda: hash(DeviceMemoryResourceOptions()),
    lambda: DeviceMemoryResourceOptions(x=1),
]
