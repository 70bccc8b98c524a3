# SPDX-License-Identifier: Apache-2.0
# Event: a wrapper of a reference-counted driver event.

cdef class Event:
    cdef held_event native
    cdef uintptr_t identity   # the address, valid for hashing after close
    cdef object __weakref__

# Converts an EventOptions, a dict of its keywords or None to flags of cuEventCreate. A `bound`
# event is recorded on a stream immediately.
cdef unsigned event_flags(object options, bint bound) except? 0xFFFFFFFF

# Moves a handle into a new instance of `cls`.
cdef Event wrap_event(object cls, event_handle& native)

# Returns an Event that shares the driver event and stays open when `event` is closed.
cdef Event share_event(Event event)

# Retains an object until an event has completed.
cdef int retain_until_complete(Event event, object referent) except -1
