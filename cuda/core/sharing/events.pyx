# SPDX-License-Identifier: Apache-2.0
# Export and import of events.

cdef object event_descriptors = WeakKeyDictionary()  # Event -> its descriptor
cdef object events = WeakValueDictionary()           # payload -> an Event of this process


def enable_event_transfer(Event event not None):
    """Let multiprocessing send an event that was created for sharing. Host only."""
    enable_multiprocessing(Event)
    event_descriptor_of(event)


def event_descriptor_of(Event event not None):
    """Return the `Event.ipc_descriptor`, always the same object. Host only."""
    cdef borrowed_event borrowed = event.native.borrow_open(event)
    if not borrowed.facts().is_ipc_enabled():
        raise RuntimeError("Event is not IPC-enabled: create it with "
                           "EventOptions(ipc_enabled=True)")
    known = event_descriptors.get(event)
    if known is None:
        raw = export_event(borrowed)
        payload = PyBytes_FromStringAndSize(<const char*>&raw, sizeof(raw))
        known = describe_event(payload, borrowed.facts().is_blocking_sync())
        event_descriptors[event] = known
        events[payload] = event
    return known


def import_event_of(cls, descriptor):
    """Implement `Event.from_ipc_descriptor`. Host only."""
    cdef CUipcEventHandle raw
    cdef event_handle handle
    cdef unsigned flags = CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS
    if not isinstance(descriptor, IPCEventDescriptor):
        raise TypeError("Argument 'ipc_descriptor' has incorrect type (expected "
                        f"IPCEventDescriptor, got {type(descriptor).__name__})")
    payload = (<IPCEventDescriptor>descriptor).payload
    require_payload(payload, "IPC event descriptor reserved field")
    if (<IPCEventDescriptor>descriptor).is_blocking:
        flags |= CU_EVENT_BLOCKING_SYNC
    known = events.get(payload)
    if known is not None:
        handle = (<Event>known).native.share(known)
    if not handle.is_open():
        memcpy(&raw, PyBytes_AS_STRING(payload), sizeof(raw))
        try:
            handle = import_event(raw, flags)
        except CUDAError as error:
            raise RuntimeError(f"Failed to open IPC event handle: {error}") from error
    event = wrap_event(cls, handle)
    enable_multiprocessing(cls)
    event_descriptors[event] = descriptor
    if known is None:
        events[payload] = event
    return event


def import_event_by(cls, descriptor):
    """Import an event that multiprocessing received; needs no current context. Host only."""
    cdef context_handle primary
    if raw_current_context() is not NULL:
        return import_event_of(cls, descriptor)
    primary = retain_primary_context(import_module("cuda.core").Device(0).device_id)
    cdef entered_context* entered = new entered_context(primary.raw())
    try:
        return import_event_of(cls, descriptor)
    finally:
        del entered
