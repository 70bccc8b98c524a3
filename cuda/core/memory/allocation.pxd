# SPDX-License-Identifier: Apache-2.0
# What a Buffer holds of its memory, and how the memory goes back.

# Memory and the way back, without a way to use it: the part of a Buffer that others may share.
# At most one of `pool`, `resource` alone, `owner` says what happens when it goes.
cdef class _Allocation:
    cdef buffer_fields fields   # what C++ reads
    cdef free_order order       # recorded when the memory came; empty for what needs none
    cdef pool_handle pool       # of memory that goes back to a driver pool
    cdef object resource        # the MemoryResource that the memory came from, or None
    cdef object owner           # kept alive instead, or None
    cdef object stream          # the Stream that `resource.deallocate` is given, or None
    cdef object shared          # the _Allocation that took the memory over, or None
    cdef object __weakref__

# Give the memory back, ordered on `stream` (None: as recorded). The object is closed whatever
# happens; a failure is raised.
cdef int give_back(_Allocation self, Stream stream) except -1

# An object that keeps the memory of an open Buffer, also when the Buffer is closed.
cdef object share_allocation(Buffer buffer)
