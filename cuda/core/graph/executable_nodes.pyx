# SPDX-License-Identifier: Apache-2.0
# Views of the nodes of an executable graph; updates affect later launches of that graph only.


cdef class ExecutableGraphNode:
    """A node of an executable graph, from ``graph[node]``.

    Updates affect later launches of this executable graph only, not the definition. The node keeps
    the executable graph alive. New operands stay alive as long as launches use them.
    """

    cdef graph_exec_handle native
    cdef Graph graph
    cdef GraphNode node
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
        cdef unsigned enabled = 0
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
    return 0


@cython.final
cdef class ExecutableKernelNode(_SwitchableNode):
    """A kernel launch in an executable graph."""

    def update(self, *, config, kernel, args):
        """Set the kernel, configuration and arguments for later launches of the graph.

        Host only.

        Parameters
        ----------
        config : LaunchConfig
        kernel : Kernel
        args : tuple
            All arguments of the kernel.

        See Also
        --------
        cuGraphExecNodeSetParams : the driver function.
        """
        cdef packed_launch packed
        cdef CUgraphNodeParams params
        cdef LaunchConfig shape = accept_config(config)
        cdef Kernel kernel_object = as_kernel(kernel)
        values = tuple(args)
        check_view(self)
        packed.prepare(shape, kernel_object, values)
        if packed.has_attributes():
            raise NotImplementedError(
                "updating clustered or cooperative kernel nodes, or others with launch attributes, "
                "is not supported in an executable graph: change the definition and use "
                "Graph.update()")
        params = packed.parameters()
        refs = []
        add_launch_operands(refs, kernel_object, values)
        try:
            set_in_executable(self, &params, refs)
        except CUDAError as error:
            explain_node_limits(error, packed.config(), kernel_object)
            raise


@cython.final
cdef class ExecutableMemsetNode(_SwitchableNode):
    """A memory fill in an executable graph."""

    def update(self, *, dst, value, width, height=1, pitch=0):
        """Set the parameters of the fill for later launches of the graph.

        Host only.

        Parameters
        ----------
        dst : Buffer or int
        value : int or bytes-like
        width, height, pitch : int
            Extent of the fill, as for `GraphDefinition.memset`.

        See Also
        --------
        cuGraphExecNodeSetParams : the driver function.
        """
        cdef CUgraphNodeParams params
        cdef CUDA_MEMSET_NODE_PARAMS fill
        check_view(self)
        fill = build_fill(range_of_operand(dst, None, "dst"), value, width, height, pitch)
        params = memset_parameters(fill)
        set_in_executable(self, &params, present_owners(owner_of_operand(dst, None), None))


@cython.final
cdef class ExecutableMemcpyNode(_SwitchableNode):
    """A memory copy in an executable graph."""

    def update(self, *, dst, src, size):
        """Set the operands of the copy for later launches of the graph.

        Host only.

        Parameters
        ----------
        dst, src : Buffer or int
        size : int
            Number of bytes.

        See Also
        --------
        cuGraphExecNodeSetParams : the driver function.
        """
        cdef CUgraphNodeParams params
        cdef CUDA_MEMCPY3D copy
        check_view(self)
        copy = build_copy(dst, src, (size, 1, 1), (0, 0, 0, 0), None, None)
        params = memcpy_parameters(copy)
        set_in_executable(self, &params, present_owners(owner_of_operand(dst, None),
                                                        owner_of_operand(src, None)))


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


cdef class _ExecutableEventNode(ExecutableGraphNode):
    """Base class of event nodes in an executable graph."""

    def update(self, event):
        """Set the event for later launches of the graph.

        Host only.

        Parameters
        ----------
        event : Event

        See Also
        --------
        cuGraphExecNodeSetParams : the driver function.
        """
        cdef CUgraphNodeParams params
        check_view(self)
        shared = share_graph_event(event)
        params = event_parameters(kind_of_event_node(<_EventNode>self.node), shared)
        set_in_executable(self, &params, [shared])


@cython.final
cdef class ExecutableEventRecordNode(_ExecutableEventNode):
    """An event record in an executable graph."""


@cython.final
cdef class ExecutableEventWaitNode(_ExecutableEventNode):
    """An event wait in an executable graph."""


@cython.final
cdef class ExecutableHostCallbackNode(ExecutableGraphNode):
    """A host function call in an executable graph."""

    def update(self, fn, *, user_data=None):
        """Set the function for later launches of the graph.

        Host only.

        Parameters
        ----------
        fn : callable or ctypes function
        user_data : int or bytes-like, optional
            Argument of a ctypes function, as for `GraphDefinition.callback`.

        See Also
        --------
        cuGraphExecNodeSetParams : the driver function.
        """
        cdef CUgraphNodeParams params
        check_view(self)
        held = own_host_call(fn, user_data)
        params = host_parameters(held)
        set_in_executable(self, &params, [held])


cdef dict VIEWS = {
    KernelNode: ExecutableKernelNode,
    MemsetNode: ExecutableMemsetNode,
    MemcpyNode: ExecutableMemcpyNode,
    ChildGraphNode: ExecutableChildGraphNode,
    EventRecordNode: ExecutableEventRecordNode,
    EventWaitNode: ExecutableEventWaitNode,
    HostCallbackNode: ExecutableHostCallbackNode,
}


cdef ExecutableGraphNode executable_view(Graph graph, object value):
    cdef ExecutableGraphNode view
    cdef GraphNode node
    if not isinstance(value, GraphNode):
        raise TypeError("the index must be a GraphNode of the graph's definition, got "
                        f"{qualified_name(value)}")
    node = <GraphNode>value
    graph.native.check_open(graph)
    node.check_usable()
    cls = VIEWS.get(type(node))
    if cls is None:
        raise TypeError(f"{type(node).__name__} does not support executable updates")
    check_source(graph.source(), node)
    view = cls.__new__(cls)
    view.graph, view.node, view.native = graph, node, graph.native.share_open(graph)
    return view


cdef int check_source(_GraphState source, GraphNode node) except -1:
    if node.state is not source and not contains_subgraph(source, node.state):
        raise ValueError(f"{node!r} is not a node of the definition that this executable graph was "
                         "instantiated or last updated from")
    return 0


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
    hold.acquire(view.graph.lock)
    source.acquire(view.node.state.lock)
    return view.node.check_usable()


cdef int set_in_executable(ExecutableGraphNode view, CUgraphNodeParams* params,
                           list refs) except -1:
    """Set the parameters of a node of an executable graph and retain its new operands.

    The previous operands are released once the last launch that may use them has completed.
    """
    cdef Graph graph = view.graph
    cdef graph_hold hold, source_hold
    hold_view(view, hold, source_hold)
    previous = graph.updated_operands.get(view.node.identity) if graph.updated_operands else None
    call_alone(graph.lock, driver.cuGraphExecNodeSetParams, view.native.raw(), view.node.raw,
               params)
    if graph.updated_operands is None:
        graph.updated_operands = {}
    graph.updated_operands[view.node.identity] = refs
    if previous is not None:
        release_after_event(graph.last_launch, previous)
    return 0
