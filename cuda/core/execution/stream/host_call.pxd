# SPDX-License-Identifier: Apache-2.0
# Host functions that the driver calls.

from cpython.object cimport PyObject


cdef extern from "python/host_call.hpp" namespace "halfwarp::python" nogil:
    ctypedef void (*native_function)(void*)
    cppclass host_call:
        PyObject* function
        native_function native
        void* argument
    host_call* make_host_call(object function) except NULL
    int copy_argument(host_call&, const void*, size_t) except -1
    void discard(host_call*) noexcept
    void run_host_call(void*) noexcept
    void run_graph_call(void*) noexcept
    void release_host_call(void*) noexcept

# Creates a call of a Python callable, or of a C function with its data; checks the arguments.
cdef host_call* prepare_host_call(object fn, object user_data) except NULL
