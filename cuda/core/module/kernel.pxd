# SPDX-License-Identifier: Apache-2.0
# Kernel: a function of a library that a device executes.

cdef class Kernel:
    cdef initialized_kernel native    # read by C++; keeps the library loaded
    cdef object source                # ObjectCode of a kernel that cuda.core did not load, or None
    cdef object cached_attributes
    cdef object cached_occupancy
    cdef object __weakref__

cdef Kernel wrap_kernel(const kernel_handle& native)

# Returns the readable name of a kernel, without parameters.
cdef str kernel_name(Kernel kernel)

# Returns the launch plan; raises RuntimeError for an uninitialized object.
cdef launch_plan* plan_of(Kernel kernel) except NULL
