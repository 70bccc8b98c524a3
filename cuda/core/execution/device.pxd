# SPDX-License-Identifier: Apache-2.0
# Device: a GPU, with the current context of one thread.

cdef class Device:
    cdef int ordinal
    cdef context_handle native     # context of the last set_current(); null before the first
    cdef context_handle primary    # retained by the first set_current()
    cdef Context current_wrapper   # Context of `native` that was returned to users, or None
    cdef object cached_uuid
    cdef object cached_capability
    cdef object cached_properties
    cdef object cached_memory_resource
    cdef object cached_resources
    cdef object __weakref__

    # Returns the context for new objects; CUDAError if neither set_current() nor another library
    # made a context of this device current.
    cdef context_handle context_to_use(self)
    cdef object exchange_current(self, object ctx)
    cdef Context find_wrapper(self, CUcontext raw)
    cdef Context context_wrapper(self)

# Begin and end a block `with device:` on the calling thread.
cdef int enter_device(Device device) except -1
cdef int leave_device(Device device) except -1

# Returns this thread's Device of an ordinal; ValueError if the ordinal is out of range.
cdef Device device_of_ordinal(int ordinal)

# Returns this thread's Device of its current context; device 0 without a current context.
cdef Device current_device()

# Converts an int, a Device or None as Device(...) does.
cdef Device as_device(object value)
