# SPDX-License-Identifier: Apache-2.0
# Events that leave this process, or come from another one.

cdef object event_descriptors = WeakKeyDictionary()  # Event -> its descriptor
cdef object events = WeakValueDictionary()           # payload -> an Event of this process


def note_event(Event event not None):
    """Told of each event that was made for other processes. Host only."""
    enable_multiprocessing(Event)
    event_descriptor_of(event)


def event_descriptor_of(Event event not None):
    """What `Event.ipc_descriptor` is, the same object each time. Host only."""
    cdef borrowed_event borrowed = event.native.borrow_open(event)
    if not borrowed.facts().is_ipc_enabled():
        raise RuntimeError("Event is not IPC-enabled")
    known = event_descriptors.get(event)
    if known is None:
        raw = export_event(borrowed)
        payload = PyBytes_FromStringAndSize(<const char*>&raw, sizeof(raw))
        known = describe_event(payload, borrowed.facts().is_blocking_sync())
        event_descriptors[event] = known
        events[payload] = event
    return known


def import_event_of(cls, descriptor):
    """What `Event.from_ipc_descriptor` does. Host only."""
    cdef CUipcEventHandle raw
    cdef event_handle made
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
        made = (<Event>known).native.share(known)
    if not made.is_open():
        memcpy(&raw, PyBytes_AS_STRING(payload), sizeof(raw))
        try:
            made = import_event(raw, flags)
        except CUDAError as error:
            raise RuntimeError(f"Failed to open IPC event handle: {error}") from error
    event = wrap_event(cls, made)
    enable_multiprocessing(cls)
    event_descriptors[event] = descriptor
    if known is None:
        events[payload] = event
    return event


def import_event_by(cls, descriptor):
    """Open an event that multiprocessing brought, where no context need be current. Host only."""
    cdef context_handle primary
    if raw_current_context() is not NULL:
        return import_event_of(cls, descriptor)
    primary = retain_primary_context(import_module("cuda.core").Device(0).device_id)
    cdef entered_context* entered = new entered_context(primary.raw())
    try:
        return import_event_of(cls, descriptor)
    finally:
        del entered
