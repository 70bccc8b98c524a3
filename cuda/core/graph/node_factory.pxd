# SPDX-License-Identifier: Apache-2.0
# The base class of GraphDefinition and GraphNode, whose methods add nodes.

cdef class _NodeFactory:
    cdef _GraphState state    # None: not initialized
    cdef CUgraphNode raw      # dependency of new nodes; NULL: no dependency
    cdef uintptr_t identity   # the address, valid for hashing after destruction
    cdef object __weakref__

    cdef int check_usable(self) except -1
    cdef int hold_usable(self, graph_hold& hold) except -1

# A node of a graph.
cdef class GraphNode(_NodeFactory):
    cdef _NodeState node_state     # links the graph to this object; None for the entry
    cdef bint is_destroyed

    cdef tuple owned_graphs(self)


@cython.final
cdef class GraphDefinition(_NodeFactory):
    pass
