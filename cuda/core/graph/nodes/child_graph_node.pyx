# SPDX-License-Identifier: Apache-2.0
# ChildGraphNode: runs a copy of another graph.


@cython.final
cdef class ChildGraphNode(GraphNode):
    """A node that runs a child graph, which it owns."""

    cdef _GraphState child

    @property
    def child_graph(self):
        """The `GraphDefinition` of the child graph, which is destroyed with the node. Host only."""
        return wrap_graph(self.child)

    def update(self, child):
        """Replace the child graph with a copy of another graph.

        Host only. Does not change executable graphs that exist already; earlier `child_graph`
        objects become invalid.

        Parameters
        ----------
        child : GraphDefinition

        See Also
        --------
        cuGraphNodeSetParams : the driver function.
        """
        update_child_node(self, child)

    cdef tuple owned_graphs(self):
        return (self.child,)

    def _details(self):
        return f"child=0x{<uintptr_t>self.child.raw if self.child.is_valid else 0:x}"

    def _label(self):
        return "graph"


cdef _GraphState require_definition(object child_arg):
    if not isinstance(child_arg, GraphDefinition):
        raise TypeError(f"child must be a GraphDefinition, got {qualified_name(child_arg)}")
    cdef GraphDefinition child = <GraphDefinition>child_arg
    child.check_usable()
    return child.state


cdef CUgraphNodeParams child_parameters(_GraphState child) except *:
    cdef CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_GRAPH)
    params.graph.graph = child.raw
    return params


cdef _GraphState child_of(_GraphState graph, CUgraphNode raw):
    cdef CUgraph child = NULL
    call_alone(graph.lock, driver.cuGraphChildGraphNodeGetGraph, raw, &child)
    return subgraph_of(graph, child)


cdef ChildGraphNode add_child_node(_NodeFactory factory, object child_arg):
    cdef CUgraphNodeParams params
    cdef ChildGraphNode node = ChildGraphNode.__new__(ChildGraphNode)
    cdef graph_hold _hold
    factory.check_usable()
    child = require_definition(child_arg)
    _hold = graph_hold(factory.state.lock, child.lock)
    check_valid(child)
    close_retained_list(child)
    origins = node_origins(child)
    params = child_parameters(child)
    add_node(node, factory, &params, None)
    set_child(node, child_of(factory.state, node.raw), origins)
    return node


cdef int set_child(ChildGraphNode node, _GraphState child, dict origins) except -1:
    child.origins = origins
    node.child = node.node_state.creation = child


cdef int update_child_node(ChildGraphNode node, object child_arg) except -1:
    cdef CUgraphNodeParams params
    cdef graph_hold _hold
    node.check_usable()
    child = require_definition(child_arg)
    _hold = graph_hold(node.state.lock, child.lock)
    node.check_usable()
    check_valid(child)
    close_retained_list(child)
    origins = node_origins(child)
    params = child_parameters(child)
    call_alone(node.state.lock, driver.cuGraphNodeSetParams, node.raw, &params)
    invalidate_subgraph(node.state, node.child.raw)
    set_child(node, child_of(node.state, node.raw), origins)


cdef GraphNode inspect_child_node(_GraphState graph, CUgraphNode raw, _NodeState state):
    cdef ChildGraphNode node = ChildGraphNode.__new__(ChildGraphNode)
    node.child = child_of(graph, raw)
    if isinstance(state.creation, dict):
        node.child.origins = state.creation
    state.creation = node.child
    return node


@cython.final
cdef class ExecutableChildGraphNode(ExecutableGraphNode):
    """A child graph in an executable graph."""

    def update(self, child):
        """Set the parameters of all nodes from another graph of the same topology.

        Host only.

        Parameters
        ----------
        child : GraphDefinition

        See Also
        --------
        cuGraphExecNodeSetParams : the driver function.
        """
        cdef CUgraphNodeParams params
        check_view(self)
        definition = require_definition(child)
        close_retained_list(definition)
        params = child_parameters(definition)
        set_in_executable(self, &params, [])
