# SPDX-License-Identifier: Apache-2.0
# Resources over the driver's memory pools.

cdef class _MemPoolAttributes:
    cdef pool_handle pool     # held, so that this answers after the resource is closed

cdef class _MemPool(MemoryResource):
    cdef pool_handle pool     # null once closed
    cdef _MemPoolAttributes known_attributes  # made at the first access
    cdef int device           # ordinal

cdef class DeviceMemoryResource(_MemPool):
    pass
