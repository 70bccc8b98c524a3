# SPDX-License-Identifier: Apache-2.0
# Context: a wrapper of a reference-counted driver context.

cdef class Context:
    cdef held_context native
    cdef uintptr_t identity   # the address, valid for hashing after close
    cdef int device           # ordinal
    cdef object __weakref__

# Creates a green context of a device with the given resources, which are copied.
cdef Context make_green_context(int device, const CUdevResource* resources, unsigned count)

# Queries the device resources of a context.
cdef int get_context_resource(Context context, CUdevResource* resource, CUdevResourceType kind) \
    except -1

# Creates a wrapper of a handle, which must not be null.
cdef Context wrap_context(const context_ref& native)

# Returns the ordinal of the current context's device; CUDAError without a current context.
cdef int current_ordinal() except -1

# Returns the address of the current context of this thread; 0 without a current context.
cdef uintptr_t current_context_address() except? 0
