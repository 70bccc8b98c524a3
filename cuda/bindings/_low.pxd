# SPDX-License-Identifier: Apache-2.0
"""Function tables, for the other extensions that are compiled as C."""

from cpython.pycapsule cimport PyCapsule_Import


cdef extern from "driver/loader_api.hpp" nogil:
    const char* HALFWARP_LOADER_CAPSULE
    enum library_id:
        HALFWARP_DRIVER
        HALFWARP_LIBRARY_COUNT
    struct loader_api:
        void* const* (*table)(const char* library) noexcept
        int (*ensure)(library_id library) except -1
        int (*has)(library_id library, unsigned slot) except -1
        const char* (*name_of)(library_id library, const void* function) noexcept
        const char* (*backend)() noexcept
    ctypedef void* (*function_source)(const loader_api* loader, const char* name,
                                      const char* per_thread) except? NULL


cdef inline const loader_api* import_loader() except NULL:
    return <const loader_api*>PyCapsule_Import(HALFWARP_LOADER_CAPSULE, 0)
