# SPDX-License-Identifier: Apache-2.0
"""The extension behind `StridedMemoryView`: arrays of all libraries, and their layouts."""

cimport cython

from cuda.core._core import _complete_classes

include "views/layout.pyx"
include "views/view.pyx"
include "views/element_type.pyx"
include "views/stream_order.pyx"
include "views/array_interface.pyx"
include "views/dlpack/dlpack_import.pyx"
include "views/known_arrays.pyx"
include "views/dlpack/dlpack_export.pyx"
include "views/dlpack/exchange_table.pyx"
include "views/arguments.pyx"
include "views/copies.pyx"
include "views/tensor_maps/tensor_map.pyx"

_complete_classes(globals(), __name__)
