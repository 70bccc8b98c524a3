# SPDX-License-Identifier: Apache-2.0
# Event: a wrapper of a counted driver event.

cdef class Event:
    cdef held_event native
    cdef uintptr_t identity   # the address, kept for hashing when closed
    cdef object __weakref__

# The flags of cuEventCreate for an EventOptions, a dict of its keywords, or None. An event that
# is `bound` is recorded on a stream at once.
cdef unsigned event_flags(object options, bint bound) except? 0xFFFFFFFF

# A new instance of `cls` that takes the handle over.
cdef Event wrap_event(object cls, event_handle& native)
