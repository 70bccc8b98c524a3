# SPDX-License-Identifier: Apache-2.0
# Context: a wrapper of a counted driver context.

cdef class Context:
    cdef held_context native
    cdef uintptr_t identity   # the address, kept for hashing when closed
    cdef int device           # ordinal
    cdef object __weakref__

# A new green context of a device, with copies of those resources.
cdef Context make_green_context(int device, const CUdevResource* resources, unsigned count)

# The part of its device that a context works with.
cdef int get_context_resource(Context context, CUdevResource* resource, CUdevResourceType kind) \
    except -1

# A wrapper of that handle, which must not be null.
cdef Context wrap_context(const context_ref& native)
