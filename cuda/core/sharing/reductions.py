# SPDX-License-Identifier: Apache-2.0
"""Reducers of multiprocessing for shared pools, their handles, and events."""

from multiprocessing import reduction

from cuda.core import Device, Event
from cuda.core._core import _MemPool
from cuda.core._sharing import (
    IPCAllocationHandle,
    VirtualMemoryIPCBufferDescriptor,
    duplicate_handle,
    duplicate_handles,
    event_descriptor_of,
    from_allocation_handle,
    import_event_by,
    restore_mappings,
)
from cuda.core._utils.fork_warning import check_multiprocessing_start_method
from cuda.core.sharing import descriptor_transfer


def register(cls):
    """Register the reducer of exactly this class. Host only."""
    if issubclass(cls, _MemPool):
        reduction.register(cls, _reduce_resource)
    elif issubclass(cls, Event):
        reduction.register(cls, _reduce_event)
    elif cls is VirtualMemoryIPCBufferDescriptor:
        reduction.register(cls, _reduce_descriptor)
    else:
        reduction.register(cls, _reduce_handle)


def _reduce_handle(handle: IPCAllocationHandle):
    check_multiprocessing_start_method()
    # A duplicate for each message, because "spawn" accepts each descriptor only once.
    return _rebuild_handle, (descriptor_transfer.pack([duplicate_handle(handle)]), handle.uuid)


def _rebuild_handle(descriptors, uuid):
    (descriptor,) = descriptors.detach()
    return IPCAllocationHandle._init(descriptor, uuid)


def _reduce_resource(resource):
    check_multiprocessing_start_method()
    # pickle merges the handle with the same handle in the same message.
    return _rebuild_resource, (type(resource), resource.device_id, resource.allocation_handle)


def _rebuild_resource(cls, device, handle):
    Device(max(0, device))  # initializes the driver
    return from_allocation_handle(cls, device, handle)


def _reduce_event(event):
    check_multiprocessing_start_method()
    return import_event_by, (type(event), event_descriptor_of(event))


def _reduce_descriptor(descriptor):
    check_multiprocessing_start_method()
    descriptors = descriptor_transfer.pack(duplicate_handles(descriptor))
    return _rebuild_descriptor, (descriptors, descriptor.sizes, descriptor.size)


def _rebuild_descriptor(descriptors, sizes, size):
    return restore_mappings(descriptors.detach(), sizes, size)
