# SPDX-License-Identifier: Apache-2.0
# The cimport interface of graphs.

cimport cython

from cuda.bindings.cydriver cimport CUgraph, CUgraphNode, CUuserObject
from cuda.core._core cimport LaunchConfig, graph_handle, graph_hold, shared_graph_lock
from libc.stdint cimport uintptr_t

include "graph/graph_state.pxd"
include "graph/node_factory.pxd"
