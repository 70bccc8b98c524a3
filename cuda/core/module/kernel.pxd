# SPDX-License-Identifier: Apache-2.0
# Kernel: a function of a library that the device runs.

cdef class Kernel:
    cdef kernel_handle native         # what C++ reads; keeps the library loaded
    cdef object source                # of a foreign kernel: the ObjectCode given with it, or None
    cdef object cached_attributes
    cdef object cached_occupancy
    cdef object __weakref__

cdef Kernel wrap_kernel(const kernel_handle& native)

# The name to show for it, without parameters.
cdef str kernel_name(Kernel kernel)

# What launches know of it; RuntimeError for an object that was never initialised.
cdef launch_plan* plan_of(Kernel kernel) except NULL
