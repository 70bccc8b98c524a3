# SPDX-License-Identifier: Apache-2.0
"""Pools, buffers and events for other processes, as far as one process can inspect them."""

import os
import pickle
import uuid

import cuda.core._event as event_module
import cuda.core._memory._ipc as ipc
from cuda.core import Buffer, Device, DeviceMemoryResource, Event, PinnedMemoryResource

device = Device(0)
device.set_current()
stream = device.create_stream()
pool = DeviceMemoryResource(device, {"ipc_enabled": True})
plain = DeviceMemoryResource(device)
pinned = PinnedMemoryResource({"ipc_enabled": True})
buffer = pool.allocate(100, stream=stream)
described = buffer.ipc_descriptor
event = stream.record(options={"ipc_enabled": True})
short = ipc.IPCBufferDescriptor._init(b"x", 3)
garbage = event_module.IPCEventDescriptor._init(b"x" * 64, True)


def closed_handle():
    handle = DeviceMemoryResource(device, {"ipc_enabled": True}).allocation_handle
    handle.close()
    handle.close()
    return handle


def closed_pool():
    closed_resource = DeviceMemoryResource(device, {"ipc_enabled": True})
    closed_resource.close()
    return closed_resource


def closed_buffer():
    buffer = pool.allocate(8, stream=stream)
    buffer.close()
    return buffer


def closed_event():
    event = stream.record(options={"ipc_enabled": True})
    event.close()
    return event


CASES = [
    lambda: ipc.IPCAllocationHandle(),
    lambda: ipc.IPCBufferDescriptor(),
    lambda: event_module.IPCEventDescriptor(),
    lambda: (pool.is_ipc_enabled, pool.is_mapped, pool.is_handle_owned, pool.is_closed),
    lambda: (type(pool.uuid), pool.uuid == pool.uuid, plain.uuid),
    lambda: pool.allocation_handle is pool.allocation_handle,
    lambda: pool.allocation_handle.uuid == pool.uuid,
    lambda: int(pool.allocation_handle) == pool.allocation_handle.handle,
    lambda: pool.allocation_handle.is_closed,
    lambda: plain.allocation_handle,
    lambda: pool.register(pool.uuid) is pool,
    lambda: DeviceMemoryResource.from_registry(pool.uuid) is pool,
    lambda: DeviceMemoryResource.from_registry(uuid.UUID(int=1)),
    lambda: DeviceMemoryResource.from_allocation_handle(device, pool.allocation_handle) is pool,
    lambda: DeviceMemoryResource.from_allocation_handle(device, int(pool.allocation_handle)),
    lambda: DeviceMemoryResource.from_allocation_handle(device, -1),
    lambda: DeviceMemoryResource.from_allocation_handle(device, None),
    lambda: DeviceMemoryResource.from_allocation_handle(device, closed_handle()),
    lambda: PinnedMemoryResource.from_allocation_handle(pool.allocation_handle),
    lambda: (pinned.is_ipc_enabled, pinned.numa_id, pinned.is_mapped),
    lambda: (closed_handle().handle, closed_handle().is_closed),
    lambda: int(closed_handle()),
    lambda: ipc.IPCAllocationHandle._init(-1, None),
    lambda: ipc.IPCAllocationHandle._init("x", None),
    lambda: ipc.IPCAllocationHandle._init(os.dup(2), None).uuid,
    lambda: (closed_pool().uuid, closed_pool().is_ipc_enabled, closed_pool().is_mapped),
    lambda: closed_pool().allocation_handle,
    lambda: closed_pool().register(pool.uuid),
    lambda: pickle.loads(pickle.dumps(pool)) is pool,
    lambda: pickle.dumps(closed_pool()),
    lambda: pickle.dumps(pool.allocation_handle),
    lambda: buffer.ipc_descriptor is described,
    lambda: (described.size, buffer.is_mapped),
    lambda: type(pickle.loads(pickle.dumps(described))) is type(described),
    lambda: ipc.IPCBufferDescriptor._init("x", 3),
    lambda: ipc.IPCBufferDescriptor._init(b"x", -3),
    lambda: closed_buffer().ipc_descriptor,
    lambda: pickle.dumps(closed_buffer()),
    lambda: plain.allocate(8, stream=stream).ipc_descriptor,
    lambda: pickle.dumps(plain.allocate(8, stream=stream)),
    lambda: Buffer.from_ipc_descriptor(pool, short, stream=stream),
    lambda: Buffer.from_ipc_descriptor(pool, b"x", stream=stream),
    lambda: Buffer.from_ipc_descriptor(5, described, stream=stream),
    lambda: Buffer.from_ipc_descriptor(plain, described, stream=stream),
    lambda: Buffer.from_ipc_descriptor(pool, described, stream=None),
    lambda: Buffer.from_ipc_descriptor(closed_pool(), described, stream=stream),
    lambda: event.ipc_descriptor is event.ipc_descriptor,
    lambda: pickle.loads(pickle.dumps(event.ipc_descriptor)) == event.ipc_descriptor,
    lambda: event.ipc_descriptor == 5,
    lambda: (event.is_ipc_enabled, event.is_timing_enabled, event.is_blocking_sync),
    lambda: pickle.dumps(event),
    lambda: stream.record(event),
    lambda: closed_event().ipc_descriptor,
    lambda: Event.from_ipc_descriptor(5),
    lambda: Event.from_ipc_descriptor(garbage),
    lambda: event_module.IPCEventDescriptor._init("x", True),
]
