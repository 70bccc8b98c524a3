# SPDX-License-Identifier: Apache-2.0
# Context: a wrapper of a counted driver context.

cdef class Context:
    cdef context_handle native  # null once closed
    cdef CUcontext identity     # the address, kept for hashing when closed
    cdef int device             # ordinal
    cdef object __weakref__

# A share of its handle; RuntimeError when it is closed.
cdef context_handle open_context(Context self) except *

# A wrapper of that handle, which must not be null.
cdef Context wrap_context(const context_handle& native)
