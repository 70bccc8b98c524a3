# SPDX-License-Identifier: Apache-2.0
# Buffer: a contiguous range of memory.

# What the driver, or the resource, says of an address.
cdef struct pointer_facts:
    bint is_known
    bint is_host_accessible
    bint is_device_accessible
    bint is_managed
    int device

cdef class Buffer(_Allocation):
    cdef pointer_facts facts  # asked of the driver once, for memory without a resource
    cdef Py_ssize_t exports   # live views of the buffer protocol
    cdef Py_ssize_t shape     # what those views point at
    cdef Py_ssize_t stride

# An open Buffer of class Buffer over memory of a pool, to be freed on `stream`.
cdef Buffer wrap_pool_memory(MemoryResource resource, const pool_handle& pool,
                             CUdeviceptr pointer, size_t size, Stream stream)

# What an address is, with the driver initialised when it was not.
cdef pointer_facts classify_pointer(CUdeviceptr pointer) except *
