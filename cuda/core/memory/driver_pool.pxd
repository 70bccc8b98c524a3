# SPDX-License-Identifier: Apache-2.0
# Resources over the driver's memory pools.

ctypedef initialized[pool_handle] initialized_pool_handle


cdef class _MemPoolAttributes:
    cdef initialized_pool_handle pool  # keeps the pool alive after the resource is closed

cdef class _MemPool(MemoryResource):
    cdef pool_handle pool     # null once closed
    cdef _MemPoolAttributes known_attributes  # created at the first access
    cdef int device           # ordinal
    cdef bint is_import       # the pool of another process; remains set after close
    cdef object identity      # uuid.UUID of a shared pool, or None
    cdef object exported      # IPCAllocationHandle, created at the first access, or None

cdef class _ShareablePool(_MemPool):
    pass

# Allocates memory of the pool for an empty buffer and returns that buffer, open.
cdef Buffer allocate_pool_buffer(Buffer empty, _MemPool self, object size, Stream stream)

# Creates the pool of a resource, or opens the current one. The types are the driver's numbers.
# Returns the `max_size` of options; 0, no limit, for None.
cdef size_t max_size_of(object options) except? 0

cdef int open_pool(_MemPool self, int allocation_type, int location_type, int id, bint is_new,
                   size_t max_size, bint is_shared=*) except -1

# Queries and sets which devices can access the pool. `descriptions` points at CUmemAccessDesc.
cdef bint has_pool_access(_MemPool self, int device) except -1
cdef int set_access_of_pool(_MemPool self, const void* descriptions, size_t count) except -1
