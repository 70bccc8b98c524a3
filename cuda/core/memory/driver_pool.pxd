# SPDX-License-Identifier: Apache-2.0
# Resources over the driver's memory pools.

cdef class _MemPoolAttributes:
    cdef pool_handle pool     # held, so that this answers after the resource is closed

cdef class _MemPool(MemoryResource):
    cdef pool_handle pool     # null once closed
    cdef _MemPoolAttributes known_attributes  # made at the first access
    cdef int device           # ordinal
    cdef bint is_import       # of another process's pool, also once closed
    cdef object identity      # uuid.UUID of a pool that is shared, or None
    cdef object exported      # its IPCAllocationHandle, made at the first access, or None

cdef class _ShareablePool(_MemPool):
    pass

# Makes an open buffer of an empty one, over memory of the pool.
cdef Buffer allocate_for(Buffer empty, _MemPool self, object size, Stream given)

# Gives a resource its pool: a new one, or the one that is there; the types are those of the driver.
cdef int open_pool(_MemPool self, int allocation_type, int location_type, int id, bint is_new,
                   size_t max_size, bint is_shared=*) except -1

# What the processes share: the module, loaded when the first asks for it.
cdef object sharing_module()

# Which devices may use the memory of the pool; the descriptions are CUmemAccessDesc.
cdef bint may_use_pool(_MemPool self, int device) except -1
cdef int let_use_pool(_MemPool self, const void* descriptions, size_t count) except -1
