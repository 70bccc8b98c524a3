# SPDX-License-Identifier: Apache-2.0
# Objects that are retained until work of the device has completed.

from collections import deque

# Page-locked arrays whose copy may still be running: (event, array), oldest first.
cdef object arrays_in_use = deque()


cdef int retain_until_complete(Event event, object referent) except -1:
    release_copied_arrays()
    if not is_complete(event):
        arrays_in_use.append((event, referent))


cdef bint is_complete(Event event) except -1:
    cdef borrowed_event native = event.native.borrow_open(event)
    with nogil:
        return has_completed(native)


cdef inline int release_completed_work() except -1:
    """Release objects and frees that wait for work, after a call that synchronized."""
    if arrays_in_use:
        release_copied_arrays()
    free_deferred_if_any()


cdef int release_copied_arrays() except -1:
    """Release the arrays whose copies have completed, oldest first."""
    while arrays_in_use:
        try:
            entry = arrays_in_use.popleft()
        except IndexError:  # another thread removed the last entry
            return 0
        if not is_complete(<Event>entry[0]):
            arrays_in_use.appendleft(entry)
            return 0
