# SPDX-License-Identifier: Apache-2.0
# ParamHolder: packed arguments for a raw launch.

cdef class ParamHolder:
    cdef readonly intptr_t ptr
    cdef owned_arguments* packed
    cdef tuple values

# What launches read of a view of memory.
cdef extern from "python/objects.hpp" namespace "halfwarp::python":
    struct view_fields:
        uintptr_t pointer
        int32_t device
        bint is_device_accessible
        const buffer_fields* source

# Lets launches take objects of the class of `sample`, a fresh one whose fields are there.
cdef int register_views(object sample, const view_fields* fields) except -1
