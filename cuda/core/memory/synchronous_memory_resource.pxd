# SPDX-License-Identifier: Apache-2.0
# _SynchronousMemoryResource: device memory without a pool.

cdef class _SynchronousMemoryResource(MemoryResource):
    cdef initialized_context context  # primary context of the device
    cdef int device              # ordinal

# Returns an open buffer whose memory `resource.deallocate` frees, ordered after the default stream
# of the context that is current now, if any.
cdef Buffer wrap_at_once(MemoryResource resource, CUdeviceptr pointer, size_t size)
