# SPDX-License-Identifier: Apache-2.0
# Views of the nodes of an executable: they change later launches of that one alone.


cdef class ExecutableGraphNode:
    """A node of an executable graph, from ``graph[node]``.

    It changes later launches of this executable alone; the definition stays as it is. It keeps the
    executable, and new operands stay as long as they are used.
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
    """A node that can be left out of launches."""

    @property
    def is_enabled(self):
        """Whether launches do what the node says; its edges count in any case. Host only.

        See Also
        --------
        cuGraphNodeGetEnabled : the driver function.
        """
        cdef unsigned found = 0
        check_view(self)
        call(driver.cuGraphNodeGetEnabled, self.native.raw(), self.node.raw, &found)
        return found != 0

    def enable(self):
        """Let later launches do what the node says. Host only.

        See Also
        --------
        cuGraphNodeSetEnabled : the driver function.
        """
        switch_node(self, 1)

    def disable(self):
        """Let later launches skip the node; its edges stay. Host only.

        See Also
        --------
        cuGraphNodeSetEnabled : the driver function.
        """
        switch_node(self, 0)


cdef int switch_node(ExecutableGraphNode view, unsigned is_enabled) except -1:
    check_view(view)
    call_alone(view.graph.lock, driver.cuGraphNodeSetEnabled, view.native.raw(), view.node.raw,
               is_enabled)
    return 0


@cython.final
cdef class ExecutableKernelNode(_SwitchableNode):
    """The launch of a kernel in an executable graph."""

    def update(self, *, config, kernel, args):
        """Change what later launches of the graph launch here.

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
        cdef CUgraphNodeParams how
        cdef LaunchConfig shape = accept_config(config)
        cdef Kernel launched = as_kernel(kernel)
        values = tuple(args)
        check_view(self)
        packed.prepare(shape, launched, values)
        if packed.has_attributes():
            raise NotImplementedError(
                "updating clustered or cooperative kernel nodes, or others with launch attributes, "
                "is not supported in an executable: change the definition and use Graph.update()")
        how = packed.parameters()
        kept = [launched]
        add_operands(kept, values)
        set_in_executable(self, &how, kept)


@cython.final
cdef class ExecutableMemsetNode(_SwitchableNode):
    """A fill in an executable graph."""

    def update(self, *, dst, value, width, height=1, pitch=0):
        """Change what later launches of the graph fill here.

        Host only.

        Parameters
        ----------
        dst : Buffer or int
        value : int or bytes-like
        width, height, pitch : int
            As for `GraphDefinition.memset`.

        See Also
        --------
        cuGraphExecNodeSetParams : the driver function.
        """
        cdef CUgraphNodeParams how
        cdef CUDA_MEMSET_NODE_PARAMS fill
        check_view(self)
        fill = fill_of(range_of(dst, None, "dst"), value, width, height, pitch)
        how = memset_parameters(fill)
        set_in_executable(self, &how, objects_to_keep(object_to_keep(dst, None), None))


@cython.final
cdef class ExecutableMemcpyNode(_SwitchableNode):
    """A copy in an executable graph."""

    def update(self, *, dst, src, size):
        """Change what later launches of the graph copy here.

        Host only.

        Parameters
        ----------
        dst, src : Buffer or int
        size : int
            In bytes.

        See Also
        --------
        cuGraphExecNodeSetParams : the driver function.
        """
        cdef CUgraphNodeParams how
        cdef CUDA_MEMCPY3D copy
        check_view(self)
        copy = copy_of(dst, src, (size, 1, 1), (0, 0, 0, 0), None, None)
        how = memcpy_parameters(copy)
        set_in_executable(self, &how, objects_to_keep(object_to_keep(dst, None),
                                                      object_to_keep(src, None)))


@cython.final
cdef class ExecutableChildGraphNode(ExecutableGraphNode):
    """A graph in an executable graph."""

    def update(self, child):
        """Take the parameters of another graph of the same topology over.

        Host only.

        Parameters
        ----------
        child : GraphDefinition

        See Also
        --------
        cuGraphExecNodeSetParams : the driver function.
        """
        cdef CUgraphNodeParams how
        check_view(self)
        given = graph_to_embed(child)
        seal(given)
        how = child_parameters(given)
        set_in_executable(self, &how, [])


cdef class _ExecutableEventNode(ExecutableGraphNode):
    """What records an event, or waits for one, in an executable graph."""

    def update(self, event):
        """Change the event for later launches of the graph.

        Host only.

        Parameters
        ----------
        event : Event

        See Also
        --------
        cuGraphExecNodeSetParams : the driver function.
        """
        cdef CUgraphNodeParams how
        check_view(self)
        kept = event_to_keep(event)
        how = event_parameters(kind_of_event_node(<_EventNode>self.node), kept)
        set_in_executable(self, &how, [kept])


@cython.final
cdef class ExecutableEventRecordNode(_ExecutableEventNode):
    """The record of an event in an executable graph."""


@cython.final
cdef class ExecutableEventWaitNode(_ExecutableEventNode):
    """The wait for an event in an executable graph."""


@cython.final
cdef class ExecutableHostCallbackNode(ExecutableGraphNode):
    """The call of a function on the host in an executable graph."""

    def update(self, fn, *, user_data=None):
        """Change the function for later launches of the graph.

        Host only.

        Parameters
        ----------
        fn : callable or ctypes function
        user_data : int or bytes-like, optional
            As for `GraphDefinition.callback`.

        See Also
        --------
        cuGraphExecNodeSetParams : the driver function.
        """
        cdef CUgraphNodeParams how
        check_view(self)
        held = hold_call(fn, user_data)
        how = host_parameters(held)
        set_in_executable(self, &how, [held])


cdef dict VIEWS = {
    KernelNode: ExecutableKernelNode,
    MemsetNode: ExecutableMemsetNode,
    MemcpyNode: ExecutableMemcpyNode,
    ChildGraphNode: ExecutableChildGraphNode,
    EventRecordNode: ExecutableEventRecordNode,
    EventWaitNode: ExecutableEventWaitNode,
    HostCallbackNode: ExecutableHostCallbackNode,
}


cdef ExecutableGraphNode executable_view(Graph graph, object given):
    cdef ExecutableGraphNode view
    cdef GraphNode node
    if not isinstance(given, GraphNode):
        raise TypeError(f"a node of the graph's definition is expected, a GraphNode, got "
                        f"{qualified_name(given)}")
    node = <GraphNode>given
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
    if node.state is not source and not is_part(source, node.state):
        raise ValueError(f"{node!r} is not a node of the graph that this executable was made from, "
                         "or last updated from")
    return 0


cdef bint is_part(_GraphState whole, _GraphState wanted) except -1:
    if whole is None:
        return False
    for part in whole.parts.values():
        if part is wanted or is_part(<_GraphState>part, wanted):
            return True
    return False


cdef int check_view(ExecutableGraphNode view) except -1:
    if view.node is None:
        raise RuntimeError(f"{type(view).__name__} was not initialized")
    view.graph.lock.wait()
    return view.node.check_usable()


cdef int set_in_executable(ExecutableGraphNode view, CUgraphNodeParams* how,
                           list kept) except -1:
    """The graph keeps the new operands before the driver has them, and the old ones as long as a
    launch may use them."""
    cdef Graph graph = view.graph
    check_view(view)
    before = graph.changed.get(view.node.identity) if graph.changed else None
    call_alone(graph.lock, driver.cuGraphExecNodeSetParams, view.native.raw(), view.node.raw, how)
    if graph.changed is None:
        graph.changed = {}
    graph.changed[view.node.identity] = kept
    if before is not None:
        release_after(graph.reached, before)
    return 0
