# SPDX-License-Identifier: Apache-2.0
# _SynchronousMemoryResource: device memory without a pool.

cdef class _SynchronousMemoryResource(MemoryResource):
    cdef context_handle context  # the primary one of the device
    cdef int device              # ordinal

# An open buffer whose memory goes back through `resource.deallocate`, in the context that is
# current now, if any, after the default stream.
cdef Buffer wrap_at_once(MemoryResource resource, CUdeviceptr pointer, size_t size)
