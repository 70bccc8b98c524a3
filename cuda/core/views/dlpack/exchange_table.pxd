# SPDX-License-Identifier: Apache-2.0
# The DLPack exchange table of C functions.

from libc.stdint cimport int32_t, uint32_t

from cuda.core._core cimport device_type, dlpack_tensor, versioned_tensor


cdef extern from "views/arrays/exchange_table.hpp" namespace "halfwarp::views":
    ctypedef void (*set_error_function)(void* context, const char* kind, const char* text) noexcept
    ctypedef int (*allocate_function)(dlpack_tensor*, versioned_tensor**, void*,
                                      set_error_function) noexcept
    ctypedef int (*export_function)(void*, versioned_tensor**) except? -1
    ctypedef int (*import_function)(versioned_tensor*, void**) except? -1
    ctypedef int (*borrow_function)(void*, dlpack_tensor*) except? -1
    ctypedef int (*stream_function)(device_type, int32_t, void**) except? -1
    cppclass exchange_header:
        uint32_t major
        uint32_t minor
        const exchange_header* previous
    cppclass exchange_table:
        exchange_header header
        allocate_function allocate
        export_function export_tensor
        import_function import_tensor
        borrow_function borrow_tensor
        stream_function current_stream
    const char* TABLE_CAPSULE "halfwarp::views::exchange_capsule"
