# SPDX-License-Identifier: Apache-2.0
# VirtualMemoryResource: device or host memory that is mapped into reserved addresses.

cdef class VirtualMemoryResource(MemoryResource):
    cdef object options       # VirtualMemoryResourceOptions
    cdef dict allocations     # address -> _Extents
    cdef list unreleased      # _Extents that the driver failed to release, for another attempt
    cdef int device_ordinal   # the device that owns the memory or, for host memory, uses it
    cdef bint is_on_device    # False for host memory
    cdef object identity      # uuid.UUID once the resource was sent to another process, or None
