# SPDX-License-Identifier: Apache-2.0
# Device: a GPU as one thread sees it.

cdef class Device:
    cdef int ordinal
    cdef context_handle native     # the context of set_current(); null before
    cdef context_handle primary    # retained at the first set_current(), kept with the object
    cdef Context current_wrapper   # the Context object of `native` that users have seen, or None
    cdef object cached_uuid
    cdef object cached_capability
    cdef object cached_properties
    cdef object cached_memory_resource
    cdef object cached_resources
    cdef object __weakref__

    # The context to work in; CUDAError when neither set_current() nor another library made one
    # of this device current.
    cdef context_handle context_to_use(self)
    cdef object exchange_current(self, object given)
    cdef Context wrapper_of(self, CUcontext raw)
    cdef Context own_wrapper(self)

# This thread's Device of an ordinal that is known to be valid.
cdef Device device_of_ordinal(int ordinal)

# This thread's Device of its current context; that of ordinal 0 when there is none.
cdef Device current_device()

# What Device(given) gives: `given` is an int, a Device or None.
cdef Device as_device(object given)

# Opens the driver and calls cuInit, once for the process.
cdef int initialize_driver() except -1

# The ordinal of the device whose context is current on this thread; CUDAError without one.
cdef int current_ordinal() except -1

# The address of the context that is current on this thread; 0 without one.
cdef uintptr_t current_context_number() except? 0
