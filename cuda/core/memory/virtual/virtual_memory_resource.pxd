# SPDX-License-Identifier: Apache-2.0
# VirtualMemoryResource: device or host memory that is mapped into reserved addresses.

cdef class VirtualMemoryResource(MemoryResource):
    cdef object options       # VirtualMemoryResourceOptions
    cdef dict allocations     # address -> _Extents
    cdef list stayed          # _Extents of calls that failed, which the driver did not take back
    cdef int near             # ordinal of the device that the memory is of, or used by
    cdef bint is_on_device    # or on the host
