# SPDX-License-Identifier: Apache-2.0
"""The module behind `cuda.core.graph`, in the shared object of `cuda.core._core`."""

cimport cython
from cpython.buffer cimport PyObject_CheckBuffer
from cpython.number cimport PyIndex_Check, PyNumber_Index
from libc.stdint cimport SIZE_MAX, uintptr_t
from libc.string cimport memset
from libcpp.vector cimport vector

from importlib import import_module

from cuda.core._core cimport *

from cuda.core._core import CUDAError, _complete_classes

include "graph/native.pxd"
include "graph/graph_state.pyx"
include "graph/node_maker.pyx"
include "graph/node.pyx"
include "graph/adjacent_nodes.pyx"
include "graph/kernel_node.pyx"
include "graph/memory_nodes.pyx"
include "graph/allocation_nodes.pyx"
include "graph/event_nodes.pyx"
include "graph/host_node.pyx"
include "graph/child_node.pyx"
include "graph/conditional_nodes.pyx"
include "graph/definition.pyx"
include "graph/builder.pyx"
include "graph/executable.pyx"
include "graph/executable_nodes.pyx"
include "graph/graph_memory.pyx"

_complete_classes(globals(), __name__)
