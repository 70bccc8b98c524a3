# SPDX-License-Identifier: Apache-2.0
# The cimport contract of views and layouts, part by part.

cimport cython

include "views/strided_layout.pxd"
include "views/dlpack/exchange_table.pxd"
include "views/strided_memory_view.pxd"
include "views/tensor_maps/tensor_map_descriptor.pxd"
