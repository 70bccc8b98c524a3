# SPDX-License-Identifier: Apache-2.0
# The cimport contract of views and layouts, part by part.

cimport cython

include "views/layout.pxd"
include "views/dlpack/exchange_table.pxd"
include "views/view.pxd"
include "views/tensor_maps/tensor_map.pxd"
