# SPDX-License-Identifier: Apache-2.0
# A link by the driver, for the Linker in another extension.

from libcpp.vector cimport vector

from cuda.bindings.cydriver cimport (
    CU_JIT_INPUT_PTX,
    CUjit_option,
    CUjitInputType,
    CUlinkState,
)


cdef extern from "core/module/link_state.hpp" namespace "halfwarp::core" nogil:
    struct link_option:
        CUjit_option name
        uintptr_t value
    cppclass link_state_handle:
        CUlinkState raw() noexcept
        bint is_open() noexcept
        void reset() noexcept
    link_state_handle create_link_state(const vector[link_option]&) except +translate_exception
    native_text error_log_of(const link_state_handle&) except +translate_exception
    native_text info_log_of(const link_state_handle&) except +translate_exception


# Not thread-safe: the lock of the Linker that owns it protects it.
cdef class LinkState:
    cdef link_state_handle native
    cdef list inputs  # memory that the driver may read until close

    # Creates a link. `options` are pairs of CUjit_option and int. Needs a current context.
    @staticmethod
    cdef LinkState create(list options)
    cdef int add_data(self, int kind, bytes image, bytes name) except -1
    cdef int add_file(self, int kind, bytes path) except -1
    cdef bytes complete(self)
    cdef str error_log(self)
    cdef str info_log(self)
    cdef object handle(self)
    cdef int close(self) except -1
