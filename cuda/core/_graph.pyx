# SPDX-License-Identifier: Apache-2.0
"""The module behind `cuda.core.graph`, in the shared object of `cuda.core._core`."""

cimport cython
from cpython.buffer cimport PyObject_CheckBuffer
from cpython.number cimport PyIndex_Check, PyNumber_Index
from libc.stdint cimport SIZE_MAX, uintptr_t
from libc.string cimport memcmp, memset
from libcpp.vector cimport vector

import os

from importlib import import_module

from cuda.core._core cimport *

from cuda.core._core import CUDAError, _complete_classes

include "graph/graph_cpp.pxd"
include "graph/graph_state.pyx"
include "graph/node_maker.pyx"
include "graph/nodes/node.pyx"
include "graph/nodes/adjacent_nodes.pyx"
include "graph/nodes/kernel_node.pyx"
include "graph/nodes/memory_nodes.pyx"
include "graph/nodes/allocation_nodes.pyx"
include "graph/nodes/event_nodes.pyx"
include "graph/nodes/host_node.pyx"
include "graph/nodes/child_node.pyx"
include "graph/nodes/conditional_nodes.pyx"
include "graph/definition.pyx"
include "graph/builder.pyx"
include "graph/executable.pyx"
include "graph/executable_nodes.pyx"
include "graph/graph_memory.pyx"

_complete_classes(globals(), __name__)
