# SPDX-License-Identifier: Apache-2.0
# ParamHolder: packed arguments for a raw launch.

cdef class ParamHolder:
    cdef readonly intptr_t ptr
    cdef owned_arguments* packed
    cdef tuple values

# Fields of a memory view that launches read.
cdef extern from "python/objects.hpp" namespace "halfwarp::python":
    struct view_fields:
        uintptr_t pointer
        int32_t device
        bint is_device_accessible
        const buffer_fields* source

# Registers the class of `sample` as a launch argument type; `fields` are the fields of `sample`.
cdef int register_views(object sample, const view_fields* fields) except -1
