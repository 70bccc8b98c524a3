# SPDX-License-Identifier: Apache-2.0
# KernelNode: a launch.

cdef int OF_NODES = 2  # in the table of attributes


@cython.final
cdef class KernelNode(GraphNode):
    """A node that launches a kernel."""

    cdef LaunchConfig shape
    cdef Kernel launched

    @property
    def grid(self):
        """Blocks in x, y, z. Host only."""
        cdef CUlaunchConfig* native = &self.shape.fields.native
        return native.gridDimX, native.gridDimY, native.gridDimZ

    @property
    def block(self):
        """Threads of a block in x, y, z. Host only."""
        return self.shape.block

    @property
    def shmem_size(self):
        """Dynamic shared memory of a block, in bytes. Host only."""
        return self.shape.shmem_size

    @property
    def kernel(self):
        """The `Kernel` that is launched. Host only."""
        return self.launched

    @property
    def config(self):
        """A `LaunchConfig` of the same shape. Host only."""
        return copy_config(self.shape)

    @property
    def attributes(self):
        """The attributes that the driver knows: ``{"priority": 0, ...}``. Host only.

        The names are those of `LaunchConfig`; an executable that was made before may have others.

        See Also
        --------
        cuGraphKernelNodeGetAttribute : the driver function.
        """
        self.check_usable()
        return read_attributes(OF_NODES, self.raw, True)

    def set_attributes(self, **attributes):
        """Change attributes of the launch; what is left out stays, None resets.

        Host only. Executables that were made before are not changed.

        Parameters
        ----------
        **attributes
            As for `LaunchConfig`: ``priority=-1``, ``cluster=2``.

        Raises
        ------
        TypeError
            If kernel nodes have no such attribute.
        ValueError
            If it has no such value.

        See Also
        --------
        cuGraphKernelNodeSetAttribute : the driver function.
        """
        cdef LaunchConfig shape = copy_config(self.shape)
        for name, value in attributes.items():
            row_for(name, OF_NODES, "kernel nodes")
            setattr(shape, name, value)
        self.check_usable()
        update_kernel_shape(self, shape)

    def update(self, *, config=None, kernel=None, args=None):
        """Change what is launched; what is left out stays.

        Host only. Executables that were made before are not changed.

        Parameters
        ----------
        config : LaunchConfig, optional
        kernel : Kernel, optional
            Needs `args` as well.
        args : tuple, optional
            All arguments of the kernel.

        Raises
        ------
        ValueError
            If a kernel comes without arguments.

        See Also
        --------
        cuGraphNodeSetParams : the driver function.
        """
        if kernel is not None and args is None:
            raise ValueError("changing kernel requires args: give all arguments of the new kernel, "
                             "() if it has none")
        if config is not None or args is not None:
            update_kernel_node(self, config, kernel, args)

    def _details(self):
        return f"kernel=0x{<uintptr_t>self.launched.native.raw():x}"

    def _label(self):
        return (f"{kernel_name(self.launched)}\n<<<{readable_extent(self.grid)}, "
                f"{readable_extent(self.block)}>>>")


cdef str readable_extent(tuple extent):
    while len(extent) > 1 and extent[-1] == 1:
        extent = extent[:-1]
    return str(extent[0]) if len(extent) == 1 else f"({', '.join([str(e) for e in extent])})"


cdef Kernel as_kernel(object given):
    if not isinstance(given, Kernel):
        raise TypeError(f"kernel must be a Kernel, got {qualified_name(given)}; the order is "
                        "launch(config, kernel, *args)")
    return <Kernel>given


cdef KernelNode add_kernel_node(_NodeMaker after, object config, object kernel, tuple args):
    cdef packed_launch packed
    cdef CUgraphNodeParams how
    cdef LaunchConfig shape = accept_config(config)
    cdef Kernel launched = as_kernel(kernel)
    cdef KernelNode node
    cdef CUresult code
    after.check_usable()
    packed.prepare(shape, launched, args)
    after.check_usable()  # converting an argument may have changed that
    check_attributes_of_nodes(shape)
    how = packed.parameters()
    node = KernelNode.__new__(KernelNode)
    node.launched, node.shape = launched, shape_in(after.state, shape)
    add_node_with(node, after, &how, room_with(after.state, launched, args))
    if packed.has_attributes():
        code = give_attributes(node, packed.config())
        if code != CUDA_SUCCESS:
            destroy_node(node)
            check(code, "cuGraphKernelNodeSetAttribute")
    return node


cdef LaunchConfig shape_in(_GraphState graph, LaunchConfig given):
    """A copy that nobody changes; nodes of one shape, one after the other, have the same."""
    cdef LaunchConfig last = graph.shape
    if last is None or memcmp(&last.fields, &given.fields, sizeof(config_fields)) != 0:
        last = graph.shape = copy_config(given)
    return last


cdef CUresult give_attributes(KernelNode node, const config_fields& config) noexcept:
    return set_attributes(node.state.lock.get()[0], node.raw, config)


cdef int check_attributes_of_nodes(LaunchConfig shape) except -1:
    if shape.further is not None:
        for name in shape.further.given:
            row_for(name, OF_NODES, "kernel nodes")
    return 0


cdef int reset_attributes(KernelNode node, LaunchConfig shape) except -1:
    """What the node was given before, and `shape` does not ask for."""
    cdef CUlaunchAttributeValue value
    if node.shape.further is None:
        return 0
    for name in node.shape.further.given:
        if shape.further is None or name not in shape.further.given:
            memset(&value, 0, sizeof(value))
            row = LAUNCH_ATTRIBUTES[name]
            (<_Kind>row[1]).reset(&value)
            call_alone(node.state.lock, driver.cuGraphKernelNodeSetAttribute, node.raw,
                       <CUlaunchAttributeID><int>row[0], &value)
    return 0


cdef int update_kernel_node(KernelNode node, object config, object kernel, object args) except -1:
    cdef packed_launch packed
    cdef CUgraphNodeParams how
    cdef LaunchConfig shape = node.shape if config is None else accept_config(config)
    cdef Kernel launched = node.launched if kernel is None else as_kernel(kernel)
    node.check_usable()
    if args is None:
        return update_kernel_shape(node, shape)
    values = tuple(args)
    check_attributes_of_nodes(shape)
    packed.prepare(shape, launched, values)
    node.check_usable()
    kept = [launched]
    add_operands(kept, values)
    how = packed.parameters()
    set_node(node, &how, kept)
    node.launched = launched
    reset_attributes(node, shape)
    check(give_attributes(node, packed.config()), "cuGraphKernelNodeSetAttribute")
    node.shape = shape_in(node.state, shape)
    return 0


cdef int update_kernel_shape(KernelNode node, LaunchConfig shape) except -1:
    """The arguments stay: the driver says what they are."""
    cdef CUDA_KERNEL_NODE_PARAMS now
    cdef CUlaunchConfig* native = &shape.fields.native
    check_attributes_of_nodes(shape)
    call(driver.cuGraphKernelNodeGetParams, node.raw, &now)
    now.gridDimX, now.gridDimY, now.gridDimZ = native.gridDimX, native.gridDimY, native.gridDimZ
    now.blockDimX, now.blockDimY = native.blockDimX, native.blockDimY
    now.blockDimZ, now.sharedMemBytes = native.blockDimZ, native.sharedMemBytes
    call_alone(node.state.lock, driver.cuGraphKernelNodeSetParams, node.raw, &now)
    reset_attributes(node, shape)
    check(give_attributes(node, shape.fields), "cuGraphKernelNodeSetAttribute")
    node.shape = shape_in(node.state, shape)
    return 0


cdef GraphNode inspect_kernel_node(CUgraphNode raw):
    cdef CUDA_KERNEL_NODE_PARAMS found
    cdef KernelNode node = KernelNode.__new__(KernelNode)
    call(driver.cuGraphKernelNodeGetParams, raw, &found)
    node.launched = wrap_kernel(kernel_of(
        found.kern if found.kern is not NULL else <CUkernel>found.func, library_handle()))
    node.shape = config_of_node(raw, &found)
    return node


cdef LaunchConfig config_of_node(CUgraphNode raw, CUDA_KERNEL_NODE_PARAMS* found):
    asked = read_attributes(OF_NODES, raw, False)
    grid = (found.gridDimX, found.gridDimY, found.gridDimZ)
    block = (found.blockDimX, found.blockDimY, found.blockDimZ)
    if "cluster" in asked:
        grid = tuple([whole // part for whole, part in zip(grid, asked["cluster"])])
    return LaunchConfig(grid=grid, block=block, shmem_size=found.sharedMemBytes, **asked)
