# SPDX-License-Identifier: Apache-2.0
# ChildGraphNode: a copy of another graph as a node.


@cython.final
cdef class ChildGraphNode(GraphNode):
    """A node that runs a graph of its own."""

    cdef _GraphState child

    @property
    def child_graph(self):
        """The `GraphDefinition` of the node's graph; it goes with the node. Host only."""
        return wrap_graph(self.child)

    def update(self, child):
        """Put a copy of another graph in place of this one's.

        Host only. Executables that were made before are not changed; earlier `child_graph` objects
        become invalid.

        Parameters
        ----------
        child : GraphDefinition

        See Also
        --------
        cuGraphNodeSetParams : the driver function.
        """
        update_child_node(self, child)

    def _details(self):
        return f"child=0x{<uintptr_t>self.child.raw if self.child.is_valid else 0:x}"

    def _label(self):
        return "graph"


cdef _GraphState graph_to_embed(object given):
    if not isinstance(given, GraphDefinition):
        raise TypeError(f"child must be a GraphDefinition, got {qualified_name(given)}")
    cdef GraphDefinition child = <GraphDefinition>given
    child.check_usable()
    return child.state


cdef CUgraphNodeParams child_parameters(_GraphState child) except *:
    cdef CUgraphNodeParams how
    memset(&how, 0, sizeof(how))
    how.type = CU_GRAPH_NODE_TYPE_GRAPH
    how.graph.graph = child.raw
    return how


cdef _GraphState child_of(_GraphState graph, CUgraphNode raw):
    cdef CUgraph found = NULL
    call(driver.cuGraphChildGraphNodeGetGraph, raw, &found)
    return part_of(graph, found)


cdef ChildGraphNode add_child_node(_NodeMaker after, object given):
    cdef CUgraphNodeParams how
    cdef ChildGraphNode node = ChildGraphNode.__new__(ChildGraphNode)
    after.check_usable()
    child = graph_to_embed(given)
    seal(child)
    how = child_parameters(child)
    add_node(node, after, &how, None)
    node.child = child_of(after.state, node.raw)
    return node


cdef int update_child_node(ChildGraphNode node, object given) except -1:
    cdef CUgraphNodeParams how
    node.check_usable()
    child = graph_to_embed(given)
    seal(child)
    how = child_parameters(child)
    call_alone(node.state.lock, driver.cuGraphNodeSetParams, node.raw, &how)
    end_part(node.state, node.child.raw)
    node.child = child_of(node.state, node.raw)
    return 0


cdef GraphNode inspect_child_node(_GraphState graph, CUgraphNode raw):
    cdef ChildGraphNode node = ChildGraphNode.__new__(ChildGraphNode)
    node.child = child_of(graph, raw)
    return node
