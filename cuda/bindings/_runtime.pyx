# SPDX-License-Identifier: Apache-2.0
"""Functions of the CUDA runtime, from NVIDIA's static library.

The loader imports this module at the first call of a runtime function.
"""

from cpython.pycapsule cimport PyCapsule_New

from cuda.bindings._low cimport function_source


cdef extern from "runtime/source.hpp" nogil:
    const char* HALFWARP_RUNTIME_FUNCTIONS
    function_source runtime_find
    void runtime_connect(void* (*open_shared)() except NULL with gil)


cdef void* open_shared_runtime() except NULL with gil:
    from cuda.pathfinder import load_nvidia_dynamic_lib

    return <void*><size_t>load_nvidia_dynamic_lib("cudart")._handle_uint


runtime_connect(open_shared_runtime)
_functions = PyCapsule_New(<void*>runtime_find, HALFWARP_RUNTIME_FUNCTIONS, NULL)
