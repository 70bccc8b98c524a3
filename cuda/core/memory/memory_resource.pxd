# SPDX-License-Identifier: Apache-2.0
# MemoryResource: the protocol of what gives and takes memory.

cdef class MemoryResource:
    cdef object __weakref__

# Stands for "no stream was given", which is not the same as None.
cdef object NOT_GIVEN

# The stream that a call orders itself on: the one given, or the default stream with a
# DeprecationWarning when `given` is NOT_GIVEN. TypeError for None.
cdef Stream stream_or_default(object given, str call)
