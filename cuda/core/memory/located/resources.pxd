# SPDX-License-Identifier: Apache-2.0
# Resources of memory at a place, and the buffers of managed memory.

cdef class PinnedMemoryResource(_ShareablePool):
    cdef int node          # of NUMA; -1: the system chooses

cdef class ManagedMemoryResource(_MemPool):
    cdef tuple preference  # (type, number), or None

cdef class VirtualMemoryResource(MemoryResource):
    cdef object options       # VirtualMemoryResourceOptions
    cdef dict allocations     # address -> _Extents
    cdef list stayed          # _Extents of calls that failed, which the driver did not take back
    cdef int near             # ordinal of the device that the memory is of, or used by
    cdef bint is_on_device    # or on the host

cdef class ManagedBuffer(Buffer):
    pass
