# SPDX-License-Identifier: Apache-2.0
# KernelNode: a launch.

from cuda.bindings.cydriver cimport (
    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
    CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
    CUlaunchAttributeID,
    CUlaunchAttributeValue,
)


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
        """The launch attributes that a program may ask for: ``{"priority": 0, ...}``. Host only.

        See Also
        --------
        cuGraphKernelNodeGetAttribute : the driver function.
        """
        return kernel_node_attributes(self)

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
    kept = (launched, *operands_of(args)) if args else (launched,)
    room = room_to_keep(after.state)
    how = packed.parameters()
    node = KernelNode.__new__(KernelNode)
    node.launched, node.shape = launched, copy_config(shape)
    place(node, after.state, add_node(after, &how, room, kept))
    if packed.config().native.numAttrs:
        code = set_attributes(node.raw, packed.config())
        if code != CUDA_SUCCESS:
            destroy_node(node)
            check(code, "cuGraphKernelNodeSetAttribute")
    return node


cdef int update_kernel_node(KernelNode node, object config, object kernel, object args) except -1:
    cdef packed_launch packed
    cdef CUgraphNodeParams how
    cdef LaunchConfig shape = node.shape if config is None else accept_config(config)
    cdef Kernel launched = node.launched if kernel is None else as_kernel(kernel)
    node.check_usable()
    if args is None:
        return update_kernel_shape(node, shape)
    values = tuple(args)
    packed.prepare(shape, launched, values)
    node.check_usable()
    kept = (launched, *operands_of(values))
    room = room_to_keep(node.state)
    how = packed.parameters()
    call(driver.cuGraphNodeSetParams, node.raw, &how)
    check(set_attributes(node.raw, packed.config()), "cuGraphKernelNodeSetAttribute")
    node.launched, node.shape = launched, copy_config(shape)
    replace_kept(node.state, state_of_node(node.state, node.raw), kept, room)
    return 0


cdef int update_kernel_shape(KernelNode node, LaunchConfig shape) except -1:
    """The arguments stay: the driver says what they are."""
    cdef CUDA_KERNEL_NODE_PARAMS now
    cdef CUlaunchConfig* native = &shape.fields.native
    call(driver.cuGraphKernelNodeGetParams, node.raw, &now)
    now.gridDimX, now.gridDimY, now.gridDimZ = native.gridDimX, native.gridDimY, native.gridDimZ
    now.blockDimX, now.blockDimY = native.blockDimX, native.blockDimY
    now.blockDimZ, now.sharedMemBytes = native.blockDimZ, native.sharedMemBytes
    call(driver.cuGraphKernelNodeSetParams, node.raw, &now)
    check(set_attributes(node.raw, shape.fields), "cuGraphKernelNodeSetAttribute")
    node.shape = copy_config(shape)
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
    cdef CUlaunchAttributeValue value
    grid = (found.gridDimX, found.gridDimY, found.gridDimZ)
    block = (found.blockDimX, found.blockDimY, found.blockDimZ)
    cluster, is_cooperative = None, False
    memset(&value, 0, sizeof(value))
    if try_call(driver.cuGraphKernelNodeGetAttribute, raw, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                &value) == CUDA_SUCCESS and value.clusterDim.x:
        cluster = (value.clusterDim.x, value.clusterDim.y, value.clusterDim.z)
        grid = tuple([whole // part for whole, part in zip(grid, cluster)])
    memset(&value, 0, sizeof(value))
    if try_call(driver.cuGraphKernelNodeGetAttribute, raw, CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                &value) == CUDA_SUCCESS:
        is_cooperative = bool(value.cooperative)
    return LaunchConfig(grid=grid, block=block, shmem_size=found.sharedMemBytes, cluster=cluster,
                        is_cooperative=is_cooperative)


cdef dict kernel_node_attributes(KernelNode node):
    cdef CUlaunchAttributeValue value
    node.check_usable()
    found = {}
    low = import_module("cuda.bindings.driver")
    for name, key in NODE_ATTRIBUTES.items():
        memset(&value, 0, sizeof(value))
        member = getattr(low.CUlaunchAttributeID, key, None)
        if member is not None and try_call(
                driver.cuGraphKernelNodeGetAttribute, node.raw, <CUlaunchAttributeID><int>member,
                &value) == CUDA_SUCCESS:
            if name == "cluster":
                found[name] = (value.clusterDim.x, value.clusterDim.y, value.clusterDim.z)
            else:
                found[name] = value.priority  # all others are one int at the same place
    return found


cdef dict NODE_ATTRIBUTES = {
    "cluster": "CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION",
    "cooperative": "CU_LAUNCH_ATTRIBUTE_COOPERATIVE",
    "priority": "CU_LAUNCH_ATTRIBUTE_PRIORITY",
    "cluster_scheduling_policy": "CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE",
    "memory_synchronization_domain": "CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN",
}
