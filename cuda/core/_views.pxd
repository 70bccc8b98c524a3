# SPDX-License-Identifier: Apache-2.0
# The cimport interface of views and layouts.

cimport cython

include "views/strided_layout.pxd"
include "views/dlpack/exchange_table.pxd"
include "views/strided_memory_view.pxd"
include "views/tensor_maps/tensor_map_descriptor.pxd"
