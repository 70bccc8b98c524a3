# SPDX-License-Identifier: Apache-2.0
# Views of the nodes of an executable graph; updates affect later launches of that graph only.

cdef class Graph


cdef class ExecutableGraphNode:
    """A node of an executable graph, from ``graph[node]``.

    Updates affect later launches of this executable graph only, not the definition. The node keeps
    the executable graph alive. New operands stay alive as long as launches use them.
    """

    cdef graph_exec_handle native
    cdef Graph graph
    cdef GraphNode node
    cdef object key  # of the node in `updated_operands`; a lookup finds the same object fastest
    cdef object __weakref__

    def __init__(self, *args, **kwargs):
        raise RuntimeError("directly constructing an executable graph node is not supported: use "
                           "graph[node]")

    def __repr__(self):
        return f"<{type(self).__name__} of {self.node!r} in {self.graph!r}>"


cdef class _SwitchableNode(ExecutableGraphNode):
    """Base class of nodes that launches can skip."""

    @property
    def is_enabled(self):
        """Whether launches execute the node; its edges always apply. Host only.

        See Also
        --------
        cuGraphNodeGetEnabled : the driver function.
        """
        cdef unsigned enabled
        cdef graph_hold hold, source_hold
        hold_view(self, hold, source_hold)
        call_alone(self.graph.lock, driver.cuGraphNodeGetEnabled, self.native.raw(), self.node.raw,
                   &enabled)
        return enabled != 0

    def enable(self):
        """Make later launches execute the node. Host only.

        See Also
        --------
        cuGraphNodeSetEnabled : the driver function.
        """
        switch_node(self, 1)

    def disable(self):
        """Make later launches skip the node; its edges still apply. Host only.

        See Also
        --------
        cuGraphNodeSetEnabled : the driver function.
        """
        switch_node(self, 0)


cdef int switch_node(ExecutableGraphNode view, unsigned is_enabled) except -1:
    cdef graph_hold hold, source_hold
    hold_view(view, hold, source_hold)
    call_alone(view.graph.lock, driver.cuGraphNodeSetEnabled, view.native.raw(), view.node.raw,
               is_enabled)


cdef ExecutableGraphNode executable_view(Graph graph, object value):
    cdef ExecutableGraphNode view
    cdef GraphNode node
    if not isinstance(value, GraphNode):
        raise TypeError("the index must be a GraphNode of the graph's definition, got "
                        f"{qualified_name(value)}")
    node = <GraphNode>value
    graph.native.check_open(graph)
    node.check_usable()
    cls = VIEW_OF_CLASS.get(type(node))
    if cls is None:
        raise TypeError(f"{type(node).__name__} does not support executable updates")
    check_source(graph.source(), node)
    view = cls.__new__(cls)
    view.graph, view.node, view.native = graph, node, graph.native.share_open(graph)
    view.key = node.identity
    return view


cdef int check_source(_GraphState source, GraphNode node) except -1:
    if node.state is not source and not contains_subgraph(source, node.state):
        raise ValueError(f"{node!r} is not a node of the definition that this executable graph was "
                         "instantiated or last updated from")


cdef bint contains_subgraph(_GraphState whole, _GraphState subgraph) except -1:
    if whole is None:
        return False
    for each in whole.subgraphs.values():
        if each is subgraph or contains_subgraph(<_GraphState>each, subgraph):
            return True
    return False


cdef int check_view(ExecutableGraphNode view) except -1:
    if view.node is None:
        raise_uninitialized(view)
    view.graph.lock.get().wait()
    return view.node.check_usable()


cdef int hold_view(ExecutableGraphNode view, graph_hold& hold, graph_hold& source) except -1:
    """Hold the executable graph and then the definition: the driver reads the node's handle."""
    check_view(view)
    hold = graph_hold(view.graph.lock)
    source = graph_hold(view.node.state.lock)
    return view.node.check_usable()


cdef int set_in_executable(ExecutableGraphNode view, CUgraphNodeParams* params,
                           list refs) except -1:
    """Set the parameters of a node of an executable graph and retain its new operands.

    The previous operands are released once the last launch that may use them has completed.
    """
    cdef Graph graph = view.graph
    cdef graph_hold hold, source_hold
    hold_view(view, hold, source_hold)
    previous = None
    if graph.last_launch is not None and graph.updated_operands:
        previous = graph.updated_operands.get(view.key)
    call_alone(graph.lock, driver.cuGraphExecNodeSetParams, view.native.raw(), view.node.raw,
               params)
    if graph.updated_operands is None:
        graph.updated_operands = {}
    graph.updated_operands[view.key] = refs
    if previous is not None:
        release_after_event(graph.last_launch, previous)
