# SPDX-License-Identifier: Apache-2.0
# MemoryResource: the protocol of memory allocators.

cdef class MemoryResource:
    cdef object __weakref__

# Default of a stream parameter whose absence is deprecated; None is an error there.
cdef object NOT_GIVEN

# Returns the stream of an argument, or the default stream with a DeprecationWarning for NOT_GIVEN.
# Raises TypeError for None.
cdef Stream stream_or_default(object stream_arg, str call)
