# SPDX-License-Identifier: Apache-2.0
# Buffer: a contiguous range of memory, and how it goes back.

# What the driver, or the resource, says of an address.
cdef struct pointer_facts:
    bint is_known
    bint is_host_accessible
    bint is_device_accessible
    bint is_managed
    int device

# The way back is one of: `pool` (a driver pool), `block` (of a PoolMemoryResource, which is
# `resource`), `resource` alone (its deallocate), none.
cdef class Buffer:
    cdef buffer_fields fields   # what C++ reads
    cdef free_order order       # recorded when the memory came; empty for what needs none
    cdef pool_handle pool
    cdef pool_block* block
    cdef object resource        # the MemoryResource that the memory came from, or None
    cdef object kept            # the object that owns the memory instead, or None
    cdef object stream          # the Stream that `resource.deallocate` is given, or None
    cdef Buffer shared          # the hidden Buffer that took the memory over, or None
    cdef pointer_facts facts    # asked of the driver once, for memory without a resource
    cdef Py_ssize_t exports     # live views of the buffer protocol
    cdef Py_ssize_t shape       # what those views point at
    cdef Py_ssize_t stride
    cdef object guard           # a _CycleGuard where the resource is of a user's class, or None
    cdef object __weakref__

# Give the memory back, ordered on `stream` (None: as recorded). The buffer is closed whatever
# happens; a failure is raised.
cdef int release_memory(Buffer self, Stream stream) except -1

# An object that keeps the memory of an open Buffer, also when the Buffer is closed.
cdef object share_allocation(Buffer self)

# Orders the free on another stream than the recorded one.
cdef int redirect(Buffer self, Stream stream) except -1

# The order of a free on a stream, as of now; RuntimeError for a default stream without a context.
cdef free_order recorded_order(Stream stream) except *

# Opens an empty Buffer over memory of a pool, to be freed on `stream`. Takes both handles over.
cdef int own_pool_memory(Buffer buffer, MemoryResource resource, pool_handle& pool,
                         CUdeviceptr pointer, size_t size, stream_handle& stream) except -1

# What `Buffer.from_handle` does, for a class.
cdef Buffer wrap_memory(object cls, object ptr, object size, object mr, object owner,
                        object stream)

cdef bint is_managed(Buffer self) except -1

# What an address is, with the driver initialised when it was not.
cdef pointer_facts classify_pointer(CUdeviceptr pointer) except *

# What a fill may set every byte to; and the width and bits of a pattern of 1, 2 or 4 bytes.
cdef unsigned byte_of(object value) except? 256
cdef size_t pattern_of(object value, unsigned* pattern) except 0

# The contiguous memory of a Buffer or of an object with the buffer protocol, for a copy; and what
# is done for it after the copy was submitted, or recorded into a graph.
cdef object memory_for_copy(object given, bint is_written, Stream stream, buffer_fields* into)
cdef int keep_after_copy(object memory, Stream stream) except -1

# Keeps an object until an event is reached.
cdef int hold_until_reached(Event reached, object kept) except -1
