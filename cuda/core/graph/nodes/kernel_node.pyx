# SPDX-License-Identifier: Apache-2.0
# KernelNode: a kernel launch as a node.

cdef int OF_NODES = 2  # bit of kernel nodes in LAUNCH_ATTRIBUTES


@cython.final
cdef class KernelNode(GraphNode):
    """A node that launches a kernel."""

    cdef LaunchConfig shape
    cdef Kernel kernel_object

    cdef LaunchConfig launch_shape(self):
        return <LaunchConfig>require_set(self, self.shape)

    @property
    def grid(self):
        """Number of blocks in x, y, z. Host only."""
        cdef LaunchConfig shape = self.launch_shape()
        cdef CUlaunchConfig* native = &shape.fields.native
        return native.gridDimX, native.gridDimY, native.gridDimZ

    @property
    def block(self):
        """Number of threads of a block in x, y, z. Host only."""
        return self.launch_shape().block

    @property
    def shmem_size(self):
        """Dynamic shared memory of a block, in bytes. Host only."""
        return self.launch_shape().shmem_size

    @property
    def kernel(self):
        """The `Kernel` that the node launches. Host only."""
        return self.kernel_object

    @property
    def config(self):
        """A copy of the node's `LaunchConfig`. Host only."""
        return copy_config(self.launch_shape())

    @property
    def attributes(self):
        """Attributes of the node: ``{"priority": 0, ...}``. Host only.

        The driver reports the values; the names are the names of `LaunchConfig`. Executable graphs
        that exist already may have other values.

        See Also
        --------
        cuGraphKernelNodeGetAttribute : the driver function.
        """
        cdef graph_hold hold
        self.hold_usable(hold)
        return read_attributes(OF_NODES, self.raw, True)

    def set_attributes(self, **attributes):
        """Set attributes of the launch; None resets one, omitted attributes do not change.

        Host only. Does not change executable graphs that exist already.

        Parameters
        ----------
        **attributes
            Attributes as for `LaunchConfig`: ``priority=-1``, ``cluster=2``.

        Raises
        ------
        TypeError
            If kernel nodes have no such attribute.
        ValueError
            If the attribute does not accept the value.

        See Also
        --------
        cuGraphKernelNodeSetAttribute : the driver function.
        """
        cdef LaunchConfig shape = copy_config(self.launch_shape())
        for name, value in attributes.items():
            row_for(name, OF_NODES, "kernel nodes")
            setattr(shape, name, value)
        self.check_usable()
        update_kernel_shape(self, shape)

    def update(self, *, config=None, kernel=None, args=None):
        """Set the configuration, kernel or arguments; omitted ones do not change.

        Host only. Does not change executable graphs that exist already.

        Parameters
        ----------
        config : LaunchConfig, optional
        kernel : Kernel, optional
            Requires `args`.
        args : tuple, optional
            All arguments of the kernel.

        Raises
        ------
        ValueError
            If `kernel` is passed without `args`.

        See Also
        --------
        cuGraphNodeSetParams : the driver function.
        """
        if kernel is not None and args is None:
            raise ValueError("changing kernel requires args: pass all arguments of the new kernel, "
                             "() if it has none")
        if config is not None or args is not None:
            update_kernel_node(self, config, kernel, args)

    def _details(self):
        return f"kernel=0x{<uintptr_t>self.kernel_object.native.get(self.kernel_object).raw():x}"

    def _label(self):
        return (f"{kernel_name(self.kernel_object)}\n<<<{readable_extent(self.grid)}, "
                f"{readable_extent(self.block)}>>>")


cdef str readable_extent(tuple extent):
    while len(extent) > 1 and extent[-1] == 1:
        extent = extent[:-1]
    return str(extent[0]) if len(extent) == 1 else f"({', '.join([str(e) for e in extent])})"


cdef Kernel as_kernel(object kernel_arg):
    if not isinstance(kernel_arg, Kernel):
        raise TypeError(f"kernel must be a Kernel, got {qualified_name(kernel_arg)}; the order is "
                        "launch(config, kernel, *args)")
    return <Kernel>kernel_arg


cdef KernelNode add_kernel_node(_NodeFactory factory, object config, object kernel, tuple args):
    cdef packed_launch packed
    cdef CUgraphNodeParams params
    cdef LaunchConfig shape = accept_config(
        config, "; the order is launch(config, kernel, *args): a node has no stream")
    cdef Kernel kernel_object = as_kernel(kernel)
    cdef KernelNode node
    cdef CUresult code
    cdef graph_hold _hold
    factory.check_usable()
    packed.prepare(shape, kernel_object, args)
    factory.check_usable()  # converting an argument may run user code
    check_attributes_of_nodes(shape)
    params = packed.parameters()
    node = KernelNode.__new__(KernelNode)
    node.kernel_object, node.shape = kernel_object, shared_config(factory.state, shape)
    retained = retain_launch_operands(factory.state, kernel_object, args)
    if packed.has_attributes():  # no other thread may use the node before it has them
        _hold = graph_hold(factory.state.lock)
    try:
        add_node_with(node, factory, &params, retained)
    except CUDAError as error:
        explain_node_limits(error, packed.config(), kernel_object)
        raise
    if packed.has_attributes():
        code = apply_attributes(node, packed.config())
        if code != CUDA_SUCCESS:
            destroy_node(node)
            check(code, "cuGraphKernelNodeSetAttribute")
    return node


cdef int explain_node_limits(object error, const config_fields& config, Kernel kernel) except -1:
    """Name the limit that the parameters of a node exceed on the current device."""
    cdef CUdevice device = -1
    try_call(driver.cuCtxGetDevice, &device)
    return explain_limits(error, &config.native, kernel.native.get(kernel).raw(), device)


cdef LaunchConfig shared_config(_GraphState graph, LaunchConfig config):
    """Return an immutable copy; consecutive nodes with equal configurations share it."""
    cdef LaunchConfig shared = graph.shape
    if shared is None or memcmp(&shared.fields, &config.fields, sizeof(config_fields)) != 0:
        shared = graph.shape = copy_config(config)
    return shared


cdef CUresult apply_attributes(KernelNode node, const config_fields& config) noexcept:
    return set_attributes(node.state.lock.get()[0], node.raw, config)


cdef int check_attributes_of_nodes(LaunchConfig shape) except -1:
    if shape.further is not None:
        for name in shape.further.values:
            row_for(name, OF_NODES, "kernel nodes")


cdef void reset_attributes(KernelNode node, LaunchConfig shape) except *:
    """Reset the attributes that the node has and `shape` does not set."""
    cdef CUlaunchAttributeValue value
    if node.shape.further is None:
        return
    for name in node.shape.further.values:
        if shape.further is None or name not in shape.further.values:
            memset(&value, 0, sizeof(value))
            row = LAUNCH_ATTRIBUTES[name]
            (<_Kind>row[1]).reset(&value)
            call_alone(node.state.lock, driver.cuGraphKernelNodeSetAttribute, node.raw,
                       <CUlaunchAttributeID><int>row[0], &value)


cdef int update_kernel_node(KernelNode node, object config, object kernel, object args) except -1:
    cdef packed_launch packed
    cdef CUgraphNodeParams params
    cdef LaunchConfig shape = node.shape if config is None else accept_config(config)
    cdef Kernel kernel_object = node.kernel_object if kernel is None else as_kernel(kernel)
    cdef graph_hold _hold
    node.check_usable()
    if args is None:
        return update_kernel_shape(node, shape)
    values = tuple(args)
    check_attributes_of_nodes(shape)
    packed.prepare(shape, kernel_object, values)
    refs = []
    add_launch_operands(refs, kernel_object, values)
    params = packed.parameters()
    _hold = graph_hold(node.state.lock)
    try:
        set_node(node, &params, refs)
    except CUDAError as error:
        explain_node_limits(error, packed.config(), kernel_object)
        raise
    node.kernel_object = kernel_object
    reset_attributes(node, shape)
    check(apply_attributes(node, packed.config()), "cuGraphKernelNodeSetAttribute")
    node.shape = shared_config(node.state, shape)


cdef int update_kernel_shape(KernelNode node, LaunchConfig shape) except -1:
    """Set the configuration only; the driver returns the current kernel and arguments."""
    cdef CUDA_KERNEL_NODE_PARAMS params
    cdef CUlaunchConfig* native = &shape.fields.native
    cdef graph_hold _hold
    check_attributes_of_nodes(shape)
    _hold = graph_hold(node.state.lock)
    node.check_usable()
    call_alone(node.state.lock, driver.cuGraphKernelNodeGetParams, node.raw, &params)
    params.gridDimX, params.gridDimY = native.gridDimX, native.gridDimY
    params.gridDimZ, params.sharedMemBytes = native.gridDimZ, native.sharedMemBytes
    params.blockDimX, params.blockDimY = native.blockDimX, native.blockDimY
    params.blockDimZ = native.blockDimZ
    try:
        call_alone(node.state.lock, driver.cuGraphKernelNodeSetParams, node.raw, &params)
    except CUDAError as error:
        explain_node_limits(error, shape.fields, node.kernel_object)
        raise
    reset_attributes(node, shape)
    check(apply_attributes(node, shape.fields), "cuGraphKernelNodeSetAttribute")
    node.shape = shared_config(node.state, shape)


cdef GraphNode inspect_kernel_node(_GraphState graph, CUgraphNode raw, _NodeState state):
    cdef CUDA_KERNEL_NODE_PARAMS params
    cdef KernelNode node = KernelNode.__new__(KernelNode)
    call(driver.cuGraphKernelNodeGetParams, raw, &params)
    node.kernel_object = wrap_kernel(kernel_of(
        params.kern if params.kern is not NULL else <CUkernel>params.func, library_handle()))
    node.shape = config_of_node(raw, &params)
    return node


cdef LaunchConfig config_of_node(CUgraphNode raw, CUDA_KERNEL_NODE_PARAMS* params):
    attributes = read_attributes(OF_NODES, raw, False)
    grid = (params.gridDimX, params.gridDimY, params.gridDimZ)
    block = (params.blockDimX, params.blockDimY, params.blockDimZ)
    if "cluster" in attributes:
        grid = tuple([whole // part for whole, part in zip(grid, attributes["cluster"])])
    return LaunchConfig(grid=grid, block=block, shmem_size=params.sharedMemBytes, **attributes)


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
