# SPDX-License-Identifier: Apache-2.0
"""The module behind `cuda.core.graph`, in the shared object of `cuda.core._core`."""

cimport cython
from cpython.buffer cimport PyObject_CheckBuffer
from cpython.number cimport PyIndex_Check
from cpython.weakref cimport PyWeakref_NewRef
from libc.limits cimport UINT_MAX
from libc.stdint cimport SIZE_MAX, uintptr_t
from libc.string cimport memcmp, memset
from libcpp.vector cimport vector

import os

from importlib import import_module

from cuda.bindings.cydriver cimport (
    CU_GRAPH_NODE_TYPE_CONDITIONAL,
    CU_GRAPH_NODE_TYPE_EMPTY,
    CU_GRAPH_NODE_TYPE_EVENT_RECORD,
    CU_GRAPH_NODE_TYPE_GRAPH,
    CU_GRAPH_NODE_TYPE_HOST,
    CU_GRAPH_NODE_TYPE_KERNEL,
    CU_GRAPH_NODE_TYPE_MEMCPY,
    CU_GRAPH_NODE_TYPE_MEMSET,
    CU_GRAPH_NODE_TYPE_MEM_ALLOC,
    CU_GRAPH_NODE_TYPE_MEM_FREE,
    CU_GRAPH_NODE_TYPE_WAIT_EVENT,
)
from cuda.core._core cimport *

from cuda.core._core import CUDAError, _complete_classes

include "graph/graph_cpp.pxd"
include "graph/graph_state.pyx"
include "graph/node_factory.pyx"
include "graph/nodes/node.pyx"
include "graph/executable_nodes.pyx"
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
include "graph/graph_memory_resource.pyx"

# The type of each kind of node, its class, the function that inspects a node, and the class of its
# views in executable graphs.
add_kind(CU_GRAPH_NODE_TYPE_KERNEL, KernelNode, inspect_kernel_node, ExecutableKernelNode)
add_kind(CU_GRAPH_NODE_TYPE_MEMSET, MemsetNode, inspect_memset_node, ExecutableMemsetNode)
add_kind(CU_GRAPH_NODE_TYPE_MEMCPY, MemcpyNode, inspect_memcpy_node, ExecutableMemcpyNode)
add_kind(CU_GRAPH_NODE_TYPE_HOST, HostCallbackNode, inspect_host_node, ExecutableHostCallbackNode)
add_kind(CU_GRAPH_NODE_TYPE_GRAPH, ChildGraphNode, inspect_child_node, ExecutableChildGraphNode)
add_kind(CU_GRAPH_NODE_TYPE_EMPTY, EmptyNode, inspect_empty_node, None)
add_kind(CU_GRAPH_NODE_TYPE_EVENT_RECORD, EventRecordNode, inspect_record_node,
         ExecutableEventRecordNode)
add_kind(CU_GRAPH_NODE_TYPE_WAIT_EVENT, EventWaitNode, inspect_wait_node, ExecutableEventWaitNode)
add_kind(CU_GRAPH_NODE_TYPE_MEM_ALLOC, AllocNode, inspect_alloc_node, None)
add_kind(CU_GRAPH_NODE_TYPE_MEM_FREE, FreeNode, inspect_free_node, None)
add_kind(CU_GRAPH_NODE_TYPE_CONDITIONAL, ConditionalNode, inspect_conditional_node, None)

_complete_classes(globals(), __name__)
