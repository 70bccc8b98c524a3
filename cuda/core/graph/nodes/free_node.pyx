# SPDX-License-Identifier: Apache-2.0
# FreeNode: frees memory of an AllocNode.


@cython.final
cdef class FreeNode(GraphNode):
    """A node that frees the memory of an `AllocNode`."""

    cdef CUdeviceptr address

    @property
    def dptr(self):
        """Address of the memory. Host only."""
        return self.address

    def _details(self):
        return f"dptr=0x{self.address:x}"

    def _label(self):
        return f"free\n0x{self.address:x}"


cdef FreeNode add_free_node(_NodeFactory factory, object dptr):
    cdef _NodeState state
    cdef FreeNode node = FreeNode.__new__(FreeNode)
    cdef graph_hold hold
    if not PyIndex_Check(dptr):
        raise TypeError(f"dptr must be an int, AllocNode.dptr, got {qualified_name(dptr)}")
    node.address = address_from(dptr)
    state = new_state_for(node)
    factory.hold_usable(hold)
    call_alone(factory.state.lock, driver.cuGraphAddMemFreeNode, &state.raw, factory.state.raw,
               &factory.raw, <size_t>(factory.raw is not NULL), node.address)
    register_node(node, factory.state, state)
    return node


cdef GraphNode inspect_free_node(_GraphState graph, CUgraphNode raw, _NodeState state):
    cdef FreeNode node = FreeNode.__new__(FreeNode)
    call(driver.cuGraphMemFreeNodeGetParams, raw, &node.address)
    return node
