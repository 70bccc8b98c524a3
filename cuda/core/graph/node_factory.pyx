# SPDX-License-Identifier: Apache-2.0
# Methods that add nodes: to a definition, or after one of its nodes.


cdef class _NodeFactory:
    """Base class of `GraphDefinition` and `GraphNode`, whose methods add nodes.

    A node added by a definition has no dependency. A node added by another node depends on it.
    """

    cdef int check_usable(self) except -1:
        return raise_uninitialized(self)

    cdef int hold_usable(self, graph_hold& hold) except -1:
        """Hold the graph's lock; raise RuntimeError if the graph or the node was destroyed."""
        self.check_usable()
        hold = graph_hold(self.state.lock)
        return self.check_usable()

    def launch(self, config, kernel, *args):
        """Add a node that launches a kernel.

        Host only. Copies the values of the arguments. The graph, its clones, executable graphs and
        launches retain the memory of Buffers and all other objects among the arguments.

        Parameters
        ----------
        config : LaunchConfig
            Grid, block and launch options; clusters and cooperative grids become attributes.
        kernel : Kernel
            The kernel to launch.
        *args
            Arguments of the kernel, as for `cuda.core.launch`.

        Returns
        -------
        KernelNode

        Raises
        ------
        TypeError
            If the type or size of an argument does not fit its parameter.
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
            0 to 255, or 1, 2 or 4 bytes; the number of bytes is the size of an element.
        width : int
            Elements in a row.
        height : int, optional
            Number of rows.
        pitch : int, optional
            Distance from one row to the next in bytes; used for several rows.
        dst_owner : object, optional
            Owner of the memory at an address; the graph retains it with the node. A Buffer may
            be closed: the graph retains its memory.

        Returns
        -------
        MemsetNode

        Raises
        ------
        ValueError
            If a Buffer is smaller than the fill, or `dst_owner` is passed with a Buffer.

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return add_memset_node(self, dst, value, width, height, pitch, dst_owner)

    def memcpy(self, dst, src, size, *, dst_owner=None, src_owner=None):
        """Add a node that copies bytes.

        Host only. Queries the driver for the kind of memory at each address during this call.

        Parameters
        ----------
        dst, src : Buffer or int
            Destination and source.
        size : int
            Number of bytes.
        dst_owner, src_owner : object, optional
            Owner of the memory at an address; the graph retains it with the node. A Buffer may
            be closed: the graph retains its memory.

        Returns
        -------
        MemcpyNode

        Raises
        ------
        ValueError
            If a Buffer is smaller than the copy, or an owner is passed with a Buffer.

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
            Destination and source.
        width : int
            Bytes in a row.
        height : int
            Number of rows.
        dst_pitch, src_pitch : int, optional
            Distance from one row to the next in bytes; 0 means `width`.
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
            Destination and source.
        width : int
            Bytes in a row.
        height : int
            Rows in a layer.
        depth : int
            Number of layers.
        dst_pitch, src_pitch : int, optional
            Distance from one row to the next in bytes; 0 means `width`.
        dst_height, src_height : int, optional
            Distance from one layer to the next in rows; 0 means `height`.
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
        """Add a node that allocates memory at an address that this call determines.

        Host only.

        Parameters
        ----------
        size : int
            Size of the memory in bytes.
        options : GraphAllocOptions, optional
            Deprecated form of the three keywords below.
        device : Device or int, optional
            Location of the memory; None means the current device.
        memory_type : str, optional
            ``"device"``, ``"host"`` or ``"managed"``; None means ``"device"``.
        peer_access : iterable of Device or int, optional
            Other devices that may access the memory.

        Returns
        -------
        AllocNode

        See Also
        --------
        cuGraphAddMemAllocNode : the driver function.
        """
        if options is not None:
            device, memory_type, peer_access = allocation_fields(options)
            warn_deprecated("the options of allocate()", "its keywords")
        return add_alloc_node(self, size, device, memory_type, peer_access)

    def deallocate(self, dptr):
        """Add a node that frees memory of an `AllocNode` of this graph or of an enclosing graph.

        Host only.

        Parameters
        ----------
        dptr : int
            Address of the memory, `AllocNode.dptr`.

        Returns
        -------
        FreeNode

        See Also
        --------
        cuGraphAddMemFreeNode : the driver function.
        """
        return add_free_node(self, dptr)

    def embed(self, child):
        """Add a node that runs a copy of another graph; the copy retains the same objects.

        Host only.

        Parameters
        ----------
        child : GraphDefinition
            The graph to copy; later changes to it do not affect the node.

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
        return add_event_node(self, EventRecordNode.__new__(EventRecordNode), event)

    def wait(self, event):
        """Add a node that waits for the last record of an event made before the node executes.

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
        return add_event_node(self, EventWaitNode.__new__(EventWaitNode), event)

    def callback(self, fn, *, user_data=None):
        """Add a node that calls a function on the host.

        Host only. The function must not call CUDA. An exception is reported through
        `sys.unraisablehook`.

        Parameters
        ----------
        fn : callable or ctypes function
            A callable is called without arguments. A function created by
            ``ctypes.CFUNCTYPE(None, ctypes.c_void_p)`` is called without the GIL.
        user_data : int or bytes-like, optional
            Argument of a ctypes function: a pointer, or bytes, which are copied.

        Returns
        -------
        HostCallbackNode

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return add_host_node(self, fn, user_data)

    def if_then(self, condition):
        """Add a node whose body runs if a condition is not 0 when the node executes.

        Host only.

        Parameters
        ----------
        condition : GraphCondition
            A condition of the same graph.

        Returns
        -------
        IfNode

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return add_conditional_node(self, IfNode, condition, 1)

    def if_else(self, condition):
        """Add a node with two bodies: the first runs if a condition is not 0, the second if it is.

        Host only.

        Parameters
        ----------
        condition : GraphCondition
            A condition of the same graph.

        Returns
        -------
        IfElseNode

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return add_conditional_node(self, IfElseNode, condition, 2)

    def while_loop(self, condition):
        """Add a node whose body runs repeatedly while a condition is not 0.

        Host only.

        Parameters
        ----------
        condition : GraphCondition
            A condition of the same graph.

        Returns
        -------
        WhileNode

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return add_conditional_node(self, WhileNode, condition, 1)

    def switch(self, condition, count):
        """Add a node with several bodies; the condition is the index of the body that runs.

        Host only.

        Parameters
        ----------
        condition : GraphCondition
            A condition of the same graph.
        count : int
            Number of bodies.

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
        device, memory_type, peer_access = allocation_fields(options)
        return add_alloc_node(self, size, device, memory_type, peer_access)

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


cdef tuple allocation_fields(object options):
    """Return the device, the type of the memory and the peers of GraphAllocOptions or a dict."""
    if options is None:
        return None, "device", None
    cls = import_module("cuda.core.graph.options").GraphAllocOptions
    options = as_options(options, cls, "allocation options")
    return options.device, options.memory_type or "device", options.peer_access
