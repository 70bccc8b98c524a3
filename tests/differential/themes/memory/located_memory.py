# SPDX-License-Identifier: Apache-2.0
"""Memory at a chosen location: pinned and managed pools, advice, batches, copies with options."""

import copy
import ctypes
import pickle

from cuda.bindings import driver
from cuda.core import (
    LEGACY_DEFAULT_STREAM,
    Buffer,
    Device,
    DeviceMemoryResource,
    Host,
    ManagedBuffer,
    ManagedMemoryResource,
    ManagedMemoryResourceOptions,
    MemoryResource,
    PinnedMemoryResource,
    PinnedMemoryResourceOptions,
    VirtualMemoryResource,
    VirtualMemoryResourceOptions,
    utils,
)
from cuda.core.utils import CopyOptions

device = Device(0)
device.set_current()
stream = device.create_stream()
pinned = PinnedMemoryResource({})
managed = ManagedMemoryResource({})
buffer = managed.allocate(4096, stream=stream)
other = managed.allocate(4096, stream=stream)
small = managed.allocate(16, stream=stream)
plain = DeviceMemoryResource(device).allocate(4096, stream=stream)
# Pool memory accepts no advice, on an H200 and on the emulator.
advisable = ManagedBuffer.from_handle(int(driver.cuMemAllocManaged(4096, 1)[1]), 4096)
wrapped = ManagedBuffer.from_handle(plain.handle, 4096)


def location_of(**options):
    return ManagedMemoryResource(options).preferred_location


def advised(name, value):
    setattr(advisable, name, value)
    return getattr(advisable, name)


def accessed_by(*members):
    advisable.accessed_by = members
    return sorted(map(repr, advisable.accessed_by))


def a_bad_element_changes_nothing():
    advisable.accessed_by = [Host()]
    try:
        advisable.accessed_by = [device, 3]
    except TypeError:
        return sorted(map(repr, advisable.accessed_by))


def closed():
    buffer = managed.allocate(16, stream=stream)
    buffer.close()
    return buffer


def copied(**options):
    buffer.fill(3, stream=stream)
    buffer.copy_to(other, stream=stream, **options)
    stream.sync()
    return bytes(memoryview_of(other))[:2]


def memoryview_of(kind):
    return (ctypes.c_ubyte * kind.size).from_address(kind.handle)


def virtual(size=1, **options):
    buffer = VirtualMemoryResource(device, options).allocate(size)
    buffer.close()
    return buffer


def virtual_size(size):
    with VirtualMemoryResource(device).allocate(size) as buffer:
        return buffer.size


def growth_keeps_the_contents():
    resource = VirtualMemoryResource(device)
    memory = resource.allocate(1)
    memory.fill(6, stream=stream)
    stream.sync()
    grown = resource.modify_allocation(memory, 4 << 20)
    seen = bytearray(grown.size)
    host = (ctypes.c_ubyte * grown.size).from_buffer(seen)
    on_host = Buffer.from_handle(ctypes.addressof(host), grown.size)
    grown.copy_to(on_host, stream=stream)
    stream.sync()
    grown.close()
    return seen[:2], grown.is_closed


def a_smaller_size_gives_the_same_buffer():
    resource = VirtualMemoryResource(device)
    with resource.allocate(4 << 20) as memory:
        return resource.modify_allocation(memory, 1) is memory, memory.size


CASES = [
    growth_keeps_the_contents,
    a_smaller_size_gives_the_same_buffer,
    lambda: virtual_size(1),
    lambda: virtual_size((2 << 20) + 1),
    lambda: VirtualMemoryResource(device),
    lambda: VirtualMemoryResource(0).device,
    lambda: VirtualMemoryResource(0, {"location_type": "host"}).device,
    lambda: VirtualMemoryResource(0, {"location_type": "host"}).is_host_accessible,
    lambda: VirtualMemoryResource(0).is_device_accessible,
    lambda: VirtualMemoryResource(0).device_id,
    lambda: VirtualMemoryResource(99),
    lambda: VirtualMemoryResource("0"),
    lambda: VirtualMemoryResource(0, 3),
    lambda: VirtualMemoryResource(0, {"x": 3}),
    lambda: VirtualMemoryResource(0, {"gpu_direct_rdma": True}),
    lambda: virtual(0),
    lambda: virtual(1 << 45),
    lambda: virtual(allocation_type="x"),
    lambda: virtual(location_type="x"),
    lambda: virtual(handle_type="x"),
    lambda: virtual(handle_type="win32"),
    lambda: virtual(granularity="x"),
    lambda: virtual(self_access="x"),
    lambda: virtual(allocation_type="managed"),
    lambda: virtual(self_access=None).is_closed,
    lambda: virtual(location_type="host").is_closed,
    lambda: virtual(addr_align=3),
    lambda: virtual(handle_type=None).is_closed,
    lambda: VirtualMemoryResource(0).modify_allocation(3, 1),
    lambda: VirtualMemoryResourceOptions(),
    lambda: VirtualMemoryResourceOptions() == VirtualMemoryResourceOptions("pinned"),
    lambda: hash(VirtualMemoryResourceOptions()),
    a_bad_element_changes_nothing,
    lambda: isinstance(pinned, MemoryResource),
    lambda: pinned.device_id,
    lambda: pinned.numa_id,
    lambda: (pinned.is_device_accessible, pinned.is_host_accessible, pinned.is_managed),
    lambda: (pinned.is_ipc_enabled, pinned.is_mapped, pinned.uuid, pinned.is_handle_owned),
    lambda: PinnedMemoryResource().is_handle_owned,
    lambda: PinnedMemoryResource({"numa_id": 0}).numa_id,
    lambda: PinnedMemoryResource({"numa_id": -1}),
    lambda: PinnedMemoryResource(3),
    lambda: PinnedMemoryResource({"x": 3}),
    lambda: PinnedMemoryResourceOptions(),
    lambda: PinnedMemoryResourceOptions(True, 4, 0) == PinnedMemoryResourceOptions(True, 4, 0),
    lambda: pinned.allocate(64, stream=stream).size,
    lambda: pinned.allocate(64, stream=stream).__dlpack_device__(),
    lambda: pinned.allocate(0, stream=stream).handle,
    lambda: pinned.allocate(64, stream=None),
    lambda: pinned.allocate(-1, stream=stream),
    lambda: location_of(),
    lambda: location_of(preferred_location=0),
    lambda: location_of(preferred_location=-1),
    lambda: location_of(preferred_location=-2),
    lambda: location_of(preferred_location_type="host"),
    lambda: location_of(preferred_location_type="host", preferred_location=0),
    lambda: location_of(preferred_location_type="host_numa"),
    lambda: location_of(preferred_location_type="host_numa", preferred_location=-1),
    lambda: location_of(preferred_location_type="device"),
    lambda: location_of(preferred_location_type="x"),
    lambda: ManagedMemoryResource({"preferred_location": 0}).device_id,
    lambda: (managed.device_id, managed.is_managed, managed.is_ipc_enabled),
    lambda: ManagedMemoryResource().is_handle_owned,
    lambda: ManagedMemoryResourceOptions(),
    lambda: managed.allocate(8, stream=3),
    lambda: type(buffer) is ManagedBuffer,
    lambda: isinstance(buffer, Buffer),
    lambda: repr(buffer).startswith("<Buffer ptr=0x"),
    lambda: ManagedBuffer(),
    lambda: type(wrapped) is ManagedBuffer,
    lambda: buffer.is_managed,
    lambda: buffer.__dlpack_device__(),
    lambda: advised("read_mostly", True),
    lambda: advised("read_mostly", 0),
    lambda: advised("preferred_location", Host()),
    lambda: advised("preferred_location", Host(0)),
    lambda: advised("preferred_location", device),
    lambda: advised("preferred_location", None),
    lambda: advised("preferred_location", 3),
    lambda: accessed_by(),
    lambda: accessed_by(device),
    lambda: accessed_by(device, Host()),
    lambda: accessed_by(3),
    lambda: accessed_by(Host(0)),
    lambda: repr(advisable.accessed_by).partition("(")[0],
    lambda: advisable.accessed_by.add(3),
    lambda: advisable.accessed_by.discard(Host(0)),
    lambda: advisable.accessed_by.remove(Host(0)),
    lambda: type(advisable.accessed_by | {Host()}),
    lambda: buffer.prefetch(device, stream=stream),
    lambda: buffer.prefetch(Host(), stream=stream),
    lambda: buffer.prefetch(None, stream=stream),
    lambda: buffer.prefetch(0, stream=stream),
    lambda: buffer.prefetch(device, stream=None),
    lambda: buffer.discard(stream=stream),
    lambda: buffer.discard_prefetch(device, stream=stream),
    lambda: wrapped.prefetch(device, stream=stream),
    lambda: wrapped.discard(stream=stream),
    lambda: setattr(wrapped, "read_mostly", True),
    lambda: wrapped.read_mostly,
    lambda: closed().read_mostly,
    lambda: closed().prefetch(device, stream=stream),
    lambda: utils.prefetch_batch(stream, [buffer, other], device),
    lambda: utils.prefetch_batch(stream, [buffer, other], [device, Host()]),
    lambda: utils.prefetch_batch(stream, [buffer, other], [device]),
    lambda: utils.prefetch_batch(stream, buffer, device),
    lambda: utils.prefetch_batch(stream, [], device),
    lambda: utils.prefetch_batch(stream, [3], device),
    lambda: utils.prefetch_batch(stream, [plain], device),
    lambda: utils.prefetch_batch(stream, [buffer], None),
    lambda: utils.prefetch_batch(stream, [buffer], 3),
    lambda: utils.prefetch_batch(None, [buffer], device),
    lambda: utils.discard_batch(stream, [buffer, other]),
    lambda: utils.discard_batch(stream, []),
    lambda: utils.discard_prefetch_batch(stream, [buffer], Host()),
    lambda: utils.copy_batch(stream, [buffer], [other]),
    lambda: utils.copy_batch(stream, [buffer], [small]),
    lambda: utils.copy_batch(stream, [buffer], [other, small]),
    lambda: utils.copy_batch(stream, [], []),
    lambda: utils.copy_batch(stream, buffer, other),
    lambda: utils.copy_batch(stream, [3], [other]),
    lambda: utils.copy_batch(None, [buffer], [other]),
    lambda: utils.copy_batch(LEGACY_DEFAULT_STREAM, [buffer], [other]),
    lambda: utils.copy_batch(stream, [buffer], [other], options=3),
    lambda: utils.copy_batch(stream, [buffer], [other], options=[CopyOptions("any")]),
    lambda: utils.copy_batch(stream, [buffer], [other], options=[]),
    lambda: utils.copy_batch(stream, [closed()], [closed()]),
    lambda: copied(),
    lambda: copied(options=CopyOptions("any", device, Host())),
    lambda: copied(options=CopyOptions("during_api_call")),
    lambda: copied(options=CopyOptions(src_location_hint=3)),
    lambda: copied(options=3),
    lambda: copied(options={}),
    lambda: buffer.copy_to(other, stream=LEGACY_DEFAULT_STREAM, options=CopyOptions()),
    lambda: CopyOptions(),
    lambda: CopyOptions("any") == CopyOptions("any"),
    lambda: hash(CopyOptions()) == hash(CopyOptions("stream")),
    lambda: CopyOptions("x"),
    lambda: CopyOptions(overlap_mode=3),
    lambda: setattr(CopyOptions(), "overlap_mode", "default"),
    lambda: list(utils.MemcpyOverlapMode),
    lambda: list(utils.MemcpySrcAccessOrder),
    lambda: [Host(), Host(3), Host.numa_current()],
    lambda: Host(3) is Host(numa_id=3),
    lambda: pickle.loads(pickle.dumps(Host(3))) is Host(3),
    lambda: copy.deepcopy(Host()) is Host(),
    lambda: (Host().numa_id, Host().is_numa_current, Host(2).numa_id),
    lambda: Host(-1),
    lambda: Host(True),
    lambda: Host(1, is_numa_current=True),
    lambda: setattr(Host(), "numa_id", 3),
    lambda: Host() == Host(0),
    lambda: DeviceMemoryResource(0, {}).peer_accessible_by == set(),
    lambda: repr(DeviceMemoryResource(0, {}).peer_accessible_by),
    lambda: DeviceMemoryResource(0, {}).peer_accessible_by.add(0),
    lambda: DeviceMemoryResource(0, {}).peer_accessible_by.add(99),
    lambda: DeviceMemoryResource(0, {}).peer_accessible_by.remove(0),
    lambda: hash(DeviceMemoryResource(0, {}).peer_accessible_by),
]
