# SPDX-License-Identifier: Apache-2.0
# MemoryResource: the protocol of memory allocators.

cdef class MemoryResource:
    cdef object __weakref__

# A device argument for memory of any device.
cdef enum:
    ANY_DEVICE = -1

# Allocates from any resource. Every other file calls this instead of `allocate`, which may be user
# code: the result is an open Buffer of at least `size` bytes that is not memory of another device.
cdef Buffer allocate_from(object resource, object size, object stream, int device=*)
