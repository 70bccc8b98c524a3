# SPDX-License-Identifier: Apache-2.0
# Context: a wrapper of a counted driver context.

cdef class Context:
    cdef held_context native
    cdef uintptr_t identity   # the address, kept for hashing when closed
    cdef int device           # ordinal
    cdef object __weakref__

# A wrapper of that handle, which must not be null.
cdef Context wrap_context(const context_ref& native)
