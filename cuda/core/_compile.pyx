# SPDX-License-Identifier: Apache-2.0
"""The extension behind `Program` and `Linker`: from source text to object code."""

cimport cython

from cpython.dict cimport PyDict_Next
from cpython.object cimport PyObject, PyObject_GenericGetDict, PyObject_TypeCheck, PyTypeObject
from libc.stdint cimport uint32_t, uint64_t, uintptr_t

from cuda.bindings.cynvrtc cimport NVRTC_ERROR_INVALID_OPTION, NVRTC_SUCCESS
from cuda.core._core cimport (
    LinkState,
    ObjectCode,
    PyVectorcall_NARGS,
    as_options,
    check_open,
    damage_of,
    declarations_of,
    driver_error,
    enter_gate,
    exact_str,
    extend_error,
    known_declarations,
    leave_gate,
    make_object_code,
    mutable_type,
    nvrtc_error,
    public_object,
    notify_log,
    qualified_name,
    require_set,
    shown,
    utf8,
    vectorcallfunc,
)

import os
import sys
import warnings

from _thread import RLock
from importlib import import_module
from time import monotonic

from cuda.bindings import _low
from cuda.core._core import CUDAError, _complete_classes
from cuda.core.compile import fatal_options

include "link/library_calls.pyx"
include "link/backend.pyx"
include "link/link_session.pyx"
include "link/nvjitlink_session.pyx"
include "link/driver_session.pyx"
include "link/linker.pyx"
include "compile/nvrtc_program.pyx"
include "compile/versions.pyx"
include "compile/expected_nvrtc.pyx"
include "compile/compiler.pyx"
include "compile/nvrtc_compiler.pyx"
include "compile/nvvm_program.pyx"
include "compile/nvvm_compiler.pyx"
include "compile/ptx_compiler.pyx"
include "compile/program.pyx"
include "compile/cache/file_reading.pyx"
include "compile/caching.pyx"
include "extension/named_calls.pyx"

install_named_calls((Program, Linker))
_complete_classes(globals(), __name__)
