# SPDX-License-Identifier: Apache-2.0
# What GraphDefinition and GraphNode have in common: nodes can be added behind them.

cdef class _NodeMaker:
    cdef _GraphState state    # None in an object that was not made here
    cdef CUgraphNode raw      # what a new node depends on; NULL: on nothing
    cdef uintptr_t identity   # the address, kept for hashing
    cdef object __weakref__

    cdef int check_usable(self) except -1

# A node of a graph.
cdef class GraphNode(_NodeMaker):
    cdef _NodeState known     # where the graph finds this object; None for the entry
    cdef bint is_destroyed
