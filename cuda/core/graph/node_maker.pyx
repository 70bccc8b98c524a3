# SPDX-License-Identifier: Apache-2.0
# Adding nodes: to a definition, or behind one of its nodes.


cdef _NodeState add_node(GraphNode node, _NodeMaker after, CUgraphNodeParams* how, list kept):
    """Add a node that keeps what it uses; `node` stands for it from now on."""
    cdef _KeptObjects room = None
    after.check_usable()
    if kept:
        room = take_room(after.state)
        room.objects.extend(kept)
    return add_node_with(node, after, how, room)


cdef _NodeState add_node_with(GraphNode node, _NodeMaker after, CUgraphNodeParams* how,
                              _KeptObjects room):
    cdef _GraphState graph = after.state
    cdef _NodeState state = new_state_for(node)
    try:
        after.check_usable()  # the collector may run wherever an object is made
        call_alone(graph.lock, driver.cuGraphAddNode, &state.raw, graph.raw, &after.raw, NULL,
                   <size_t>(after.raw is not NULL), how)
    except BaseException:
        if room is not None:
            give_room_back(graph, room)
        raise
    if room is not None:
        settle(graph, state, room)
        if len(room.objects) < ROOM:
            graph.kept = room
    place(node, graph, state)
    return state


cdef _NodeState new_state_for(GraphNode node):
    cdef _NodeState state = _NodeState.__new__(_NodeState)
    stand_for(node, state)
    return state


cdef inline int stand_for(GraphNode node, _NodeState state) except -1:
    state.wrapper.set(node)
    node.known = state
    return 0


cdef int place(GraphNode node, _GraphState graph, _NodeState state) except -1:
    """Make an object the one that stands for a new node."""
    node.state, node.raw, node.identity = graph, state.raw, <uintptr_t>state.raw
    with cython.critical_section(graph):  # as what takes them into the index
        graph.added.append(state)
    return 0


cdef size_t count_from(object given, str what) except? 0:
    """A number of elements, rows or branches."""
    if not PyIndex_Check(given):
        raise TypeError(f"{what} must be an int, got {qualified_name(given)}")
    number = PyNumber_Index(given)
    if number < 0:
        raise OverflowError(f"{what} must not be negative, got {number}")
    return number


cdef class _NodeMaker:
    """What nodes can be added behind: a `GraphDefinition`, or one of its nodes.

    On a definition the new node depends on nothing, on a node it depends on that one.
    """

    cdef int check_usable(self) except -1:
        raise RuntimeError(f"{type(self).__name__} was not initialized")

    def launch(self, config, kernel, *args):
        """Add a node that launches a kernel.

        Host only. The values of the arguments are copied; memory of Buffers, and all objects among
        them, stay as long as the graph, its clones, executables and their launches.

        Parameters
        ----------
        config : LaunchConfig
            The grid and how to run it; clusters and cooperative grids become attributes.
        kernel : Kernel
            What to run.
        *args
            The arguments of the kernel, as for `cuda.core.launch`.

        Returns
        -------
        KernelNode

        Raises
        ------
        TypeError
            If an argument has a type or size that its parameter cannot take.
        CUDAError
            If the driver refuses the node.

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return add_kernel_node(self, config, kernel, args)

    def memset(self, dst, value, width, height=1, pitch=0, *, dst_owner=None):
        """Add a node that fills memory with a pattern.

        Host only.

        Parameters
        ----------
        dst : Buffer or int
            The memory, or its address on the device.
        value : int or bytes-like
            0 to 255, or 1, 2 or 4 bytes; its length is the size of an element.
        width : int
            In elements.
        height : int, optional
            In rows.
        pitch : int, optional
            In bytes, from a row to the next; for several rows.
        dst_owner : object, optional
            What the memory at an address belongs to; stays as long as the node is of use.

        Returns
        -------
        MemsetNode

        Raises
        ------
        ValueError
            If the memory of a Buffer is smaller, or `dst_owner` comes with a Buffer.

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return add_memset_node(self, dst, value, width, height, pitch, dst_owner)

    def memcpy(self, dst, src, size, *, dst_owner=None, src_owner=None):
        """Add a node that copies bytes.

        Host only. What kind of memory an address belongs to is asked of the driver now.

        Parameters
        ----------
        dst, src : Buffer or int
            To and from where.
        size : int
            In bytes.
        dst_owner, src_owner : object, optional
            What the memory at an address belongs to; stays as long as the node is of use.

        Returns
        -------
        MemcpyNode

        Raises
        ------
        ValueError
            If the memory of a Buffer is smaller, or an owner comes with a Buffer.

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return add_memcpy_node(self, dst, src, (size, 1, 1), (0, 0, 0, 0), dst_owner, src_owner)

    def memcpy_2d(self, dst, src, width, height, *, dst_pitch=0, src_pitch=0, dst_owner=None,
                  src_owner=None):
        """Add a node that copies rows of bytes.

        Host only.

        Parameters
        ----------
        dst, src : Buffer or int
            To and from where.
        width : int
            In bytes.
        height : int
            In rows.
        dst_pitch, src_pitch : int, optional
            In bytes, from a row to the next; 0: `width`.
        dst_owner, src_owner : object, optional
            As for `memcpy`.

        Returns
        -------
        MemcpyNode

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return add_memcpy_node(self, dst, src, (width, height, 1),
                               (dst_pitch, 0, src_pitch, 0), dst_owner, src_owner)

    def memcpy_3d(self, dst, src, width, height, depth, *, dst_pitch=0, dst_height=0, src_pitch=0,
                  src_height=0, dst_owner=None, src_owner=None):
        """Add a node that copies layers of rows of bytes.

        Host only.

        Parameters
        ----------
        dst, src : Buffer or int
            To and from where.
        width : int
            In bytes.
        height : int
            In rows of a layer.
        depth : int
            In layers.
        dst_pitch, src_pitch : int, optional
            In bytes, from a row to the next; 0: `width`.
        dst_height, src_height : int, optional
            In rows, from a layer to the next; 0: `height`.
        dst_owner, src_owner : object, optional
            As for `memcpy`.

        Returns
        -------
        MemcpyNode

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return add_memcpy_node(self, dst, src, (width, height, depth),
                               (dst_pitch, dst_height, src_pitch, src_height), dst_owner, src_owner)

    def allocate(self, size, options=None, *, device=None, memory_type="device", peer_access=None):
        """Add a node that allocates memory; its address is fixed now.

        Host only.

        Parameters
        ----------
        size : int
            In bytes.
        options : GraphAllocOptions, optional
            An older way to give the other three.
        device : Device or int, optional
            Where the memory lies; None is the current device.
        memory_type : str
            ``"device"``, ``"host"`` or ``"managed"``.
        peer_access : iterable of Device or int, optional
            The devices that may use it as well.

        Returns
        -------
        AllocNode

        See Also
        --------
        cuGraphAddMemAllocNode : the driver function.
        """
        if options is not None:
            warn_deprecated("the options of allocate()", "its keywords")
            device, memory_type = options.device, options.memory_type or "device"
            peer_access = options.peer_access
        return add_alloc_node(self, size, device, memory_type, peer_access)

    def deallocate(self, dptr):
        """Add a node that frees memory which a node of this or an outer graph allocates.

        Host only.

        Parameters
        ----------
        dptr : int
            The address, `AllocNode.dptr`.

        Returns
        -------
        FreeNode

        See Also
        --------
        cuGraphAddMemFreeNode : the driver function.
        """
        return add_free_node(self, dptr)

    def embed(self, child):
        """Add a node that runs a copy of another graph, with all that it keeps.

        Host only.

        Parameters
        ----------
        child : GraphDefinition
            Copied; later changes of it have no effect.

        Returns
        -------
        ChildGraphNode

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return add_child_node(self, child)

    def record(self, event):
        """Add a node that records an event.

        Host only.

        Parameters
        ----------
        event : Event

        Returns
        -------
        EventRecordNode

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return add_event_node(self, EventRecordNode, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event)

    def wait(self, event):
        """Add a node that waits for an event, as it was last recorded when the graph gets there.

        Host only.

        Parameters
        ----------
        event : Event

        Returns
        -------
        EventWaitNode

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return add_event_node(self, EventWaitNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event)

    def callback(self, fn, *, user_data=None):
        """Add a node that calls a function on the host.

        Host only. The function must not call CUDA. An exception is reported through
        `sys.unraisablehook`.

        Parameters
        ----------
        fn : callable or ctypes function
            Called without arguments, or a pointer made with
            ``ctypes.CFUNCTYPE(None, ctypes.c_void_p)``, which is called without the interpreter.
        user_data : int or bytes-like, optional
            For a ctypes function: the pointer to pass, or bytes, of which a copy is passed.

        Returns
        -------
        HostCallbackNode

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return add_host_node(self, fn, user_data)

    def if_then(self, condition):
        """Add a node whose body runs if a condition is not 0 when the node is reached.

        Host only.

        Parameters
        ----------
        condition : GraphCondition
            Of the same graph.

        Returns
        -------
        IfNode

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return add_conditional_node(self, IfNode, condition, 1)

    def if_else(self, condition):
        """Add a node with two bodies: one for a condition that is not 0, one for 0.

        Host only.

        Parameters
        ----------
        condition : GraphCondition
            Of the same graph.

        Returns
        -------
        IfElseNode

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return add_conditional_node(self, IfElseNode, condition, 2)

    def while_loop(self, condition):
        """Add a node whose body runs again and again while a condition is not 0.

        Host only.

        Parameters
        ----------
        condition : GraphCondition
            Of the same graph.

        Returns
        -------
        WhileNode

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return add_conditional_node(self, WhileNode, condition, 1)

    def switch(self, condition, count):
        """Add a node with several bodies, of which the one runs whose number the condition is.

        Host only.

        Parameters
        ----------
        condition : GraphCondition
            Of the same graph.
        count : int
            How many bodies.

        Returns
        -------
        SwitchNode

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return add_conditional_node(self, SwitchNode, condition, count_from(count, "count"))

    def alloc(self, size, options=None):
        """Deprecated spelling of `allocate`."""
        warn_deprecated("alloc()", "allocate()")
        if options is None:
            return add_alloc_node(self, size, None, "device", None)
        return add_alloc_node(self, size, options.device, options.memory_type or "device",
                              options.peer_access)

    def free(self, dptr):
        """Deprecated spelling of `deallocate`."""
        warn_deprecated("free()", "deallocate()")
        return add_free_node(self, dptr)

    def record_event(self, event):
        """Deprecated spelling of `record`."""
        warn_deprecated("record_event()", "record()")
        return self.record(event)

    def wait_event(self, event):
        """Deprecated spelling of `wait`."""
        warn_deprecated("wait_event()", "wait()")
        return self.wait(event)

    def if_cond(self, condition):
        """Deprecated spelling of `if_then`."""
        warn_deprecated("if_cond()", "if_then()")
        return self.if_then(condition)


cdef object join_nodes(_NodeMaker after, tuple nodes):
    """An empty node behind all of them, and behind `after` where that is a node."""
    cdef vector[CUgraphNode] before
    cdef CUgraphNodeParams how
    cdef _NodeState state
    cdef GraphNode node
    after.check_usable()
    if after.raw is not NULL:
        before.push_back(after.raw)
    for each in nodes:
        node = node_of_graph(after.state, each)
        if node.raw is not NULL:
            before.push_back(node.raw)
    memset(&how, 0, sizeof(how))
    how.type = CU_GRAPH_NODE_TYPE_EMPTY
    node = EmptyNode.__new__(EmptyNode)
    state = new_state_for(node)
    after.check_usable()
    call_alone(after.state.lock, driver.cuGraphAddNode, &state.raw, after.state.raw, before.data(),
               NULL, before.size(), &how)
    place(node, after.state, state)
    return node
