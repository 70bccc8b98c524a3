# SPDX-License-Identifier: Apache-2.0
"""The module behind `cuda.core.graph`, in the shared object of `cuda.core._core`."""

cimport cython
from cpython.buffer cimport PyObject_CheckBuffer
from cpython.number cimport PyIndex_Check, PyNumber_Index
from libc.limits cimport UINT_MAX
from libc.stdint cimport SIZE_MAX, uintptr_t
from libc.string cimport memcmp, memset
from libcpp.vector cimport vector

import os

from importlib import import_module

from cuda.core._core cimport *

from cuda.core._core import CUDAError, _complete_classes

include "graph/graph_cpp.pxd"
include "graph/graph_state.pyx"
include "graph/node_factory.pyx"
include "graph/nodes/node.pyx"
include "graph/nodes/adjacency_set_proxy.pyx"
include "graph/nodes/kernel_node.pyx"
include "graph/nodes/memory_range.pyx"
include "graph/nodes/memset_node.pyx"
include "graph/nodes/memcpy_node.pyx"
include "graph/nodes/alloc_node.pyx"
include "graph/nodes/free_node.pyx"
include "graph/nodes/event_node.pyx"
include "graph/nodes/host_callback_node.pyx"
include "graph/nodes/child_graph_node.pyx"
include "graph/nodes/graph_condition.pyx"
include "graph/nodes/conditional_node.pyx"
include "graph/graph_definition.pyx"
include "graph/graph_builder.pyx"
include "graph/builder_capture.pyx"
include "graph/graph.pyx"
include "graph/executable_nodes.pyx"
include "graph/graph_memory_resource.pyx"

_complete_classes(globals(), __name__)
