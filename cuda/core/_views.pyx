# SPDX-License-Identifier: Apache-2.0
"""The extension of `StridedMemoryView`: arrays of all libraries, and their layouts."""

cimport cython
from cpython.dict cimport PyDict_GetItemWithError
from cpython.number cimport PyIndex_Check
from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid
from libc.limits cimport INT_MAX, INT_MIN
from libc.stdint cimport UINT32_MAX

from importlib import import_module

from cuda.core._core cimport (
    Device,
    accept_stream,
    allocate_from,
    as_int,
    check_open,
    copy_memory,
    current_ordinal,
    has_dlpack,
    integer_or_none,
    is_capturing_stream,
    is_copied,
    is_subbyte_padded,
    mutable_type,
    new_instance,
    open_memory_of,
    qualified_name,
    raise_used_instance,
    read_only,
    retain_captured_copy,
    shown,
    supported_version,
)

from cuda.core._core import _complete_classes

include "views/strided_layout.pyx"
include "views/dlpack/exchange_table.pyx"
include "views/strided_memory_view.pyx"
include "views/view_content.pyx"
include "views/element_type.pyx"
include "views/stream_order.pyx"
include "views/array_interface.pyx"
include "views/dlpack/dlpack_import.pyx"
include "views/known_arrays.pyx"
include "views/dlpack/dlpack_export.pyx"
include "views/arguments.pyx"
include "views/copies.pyx"
include "views/tensor_maps/tensor_map_descriptor.pyx"

_complete_classes(globals(), __name__)
