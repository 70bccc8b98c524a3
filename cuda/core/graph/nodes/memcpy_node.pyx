# SPDX-License-Identifier: Apache-2.0
# MemcpyNode: copies memory.


@cython.final
cdef class MemcpyNode(GraphNode):
    """A node that copies memory."""

    cdef CUDA_MEMCPY3D copy

    @property
    def dst(self):
        """Destination address. Host only."""
        if self.copy.dstMemoryType == CU_MEMORYTYPE_HOST:
            return <uintptr_t>self.copy.dstHost
        return self.copy.dstDevice

    @property
    def src(self):
        """Source address. Host only."""
        if self.copy.srcMemoryType == CU_MEMORYTYPE_HOST:
            return <uintptr_t>self.copy.srcHost
        return self.copy.srcDevice

    @property
    def size(self):
        """Number of bytes in all rows and layers. Host only."""
        return <object>self.copy.WidthInBytes * self.copy.Height * self.copy.Depth

    @property
    def extent(self):
        """Extent: bytes in a row, rows in a layer, number of layers. Host only."""
        return self.copy.WidthInBytes, self.copy.Height, self.copy.Depth

    def update(self, *, dst=None, src=None, size=None, dst_owner=None, src_owner=None):
        """Set parameters of the copy; omitted parameters do not change.

        Host only. Does not change executable graphs that exist already.

        Parameters
        ----------
        dst, src : Buffer or int, optional
        size : int, optional
            Number of bytes.
        dst_owner, src_owner : object, optional
            Accepted only if the operand of that side is an address.

        Raises
        ------
        ValueError
            For copies of several rows, or of arrays.

        See Also
        --------
        cuGraphNodeSetParams : the driver function.
        """
        self.check_usable()
        check_updated_owner("dst", dst, dst_owner)
        check_updated_owner("src", src, src_owner)
        if dst is None and src is None and size is None:
            return
        update_memcpy_node(self, dst, src, size, dst_owner, src_owner)

    def _details(self):
        return (f"dst=0x{self.dst:x}({memory_letter(self.copy.dstMemoryType)}) "
                f"src=0x{self.src:x}({memory_letter(self.copy.srcMemoryType)}) size={self.size}")

    def _label(self):
        src, dst = self.copy.srcMemoryType, self.copy.dstMemoryType
        return f"memcpy {memory_letter(src)} to {memory_letter(dst)}\n{self.size} B"


cdef str memory_letter(unsigned kind):
    return "H" if kind == CU_MEMORYTYPE_HOST else "A" if kind == CU_MEMORYTYPE_ARRAY else "D"


cdef int set_destination(CUDA_MEMCPY3D& copy, CUdeviceptr pointer) except -1:
    if is_on_device(pointer):
        copy.dstMemoryType, copy.dstDevice = CU_MEMORYTYPE_DEVICE, pointer
    else:
        copy.dstMemoryType, copy.dstHost = CU_MEMORYTYPE_HOST, <void*>pointer


cdef int set_source(CUDA_MEMCPY3D& copy, CUdeviceptr pointer) except -1:
    if is_on_device(pointer):
        copy.srcMemoryType, copy.srcDevice = CU_MEMORYTYPE_DEVICE, pointer
    else:
        copy.srcMemoryType, copy.srcHost = CU_MEMORYTYPE_HOST, <void*>pointer


cdef bint is_on_device(CUdeviceptr pointer) except -1:
    cdef pointer_facts facts = classify_pointer(pointer)
    return facts.is_known and facts.is_device_accessible and (
        facts.is_managed or not facts.is_host_accessible)


cdef object copy_span(tuple extent, object pitch, object height):
    """Return the distance from the first byte of a copy to the end of its last row."""
    width, rows, layers = extent
    row = pitch or width
    layer = row * (height or rows)
    if not width * rows * layers:
        return 0
    return layer * (layers - 1) + row * (rows - 1) + width


cdef CUgraphNodeParams memcpy_parameters(const CUDA_MEMCPY3D& copy) except *:
    cdef CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_MEMCPY)
    params.memcpy.copyCtx = raw_current_context()
    params.memcpy.copyParams = copy
    return params


cdef CUDA_MEMCPY3D build_copy(object dst, object src, tuple extent, tuple pitches, object dst_owner,
                              object src_owner) except *:
    cdef CUDA_MEMCPY3D copy
    cdef memory_range to = range_of_operand(dst, dst_owner, "dst")
    cdef memory_range source = range_of_operand(src, src_owner, "src")
    counts = [count_from(each, name) for each, name in zip(extent, ("size", "height", "depth"))]
    steps = [count_from(each, "a pitch or height") for each in pitches]
    check_fits(to, "dst", copy_span(tuple(counts), steps[0], steps[1]))
    check_fits(source, "src", copy_span(tuple(counts), steps[2], steps[3]))
    memset(&copy, 0, sizeof(copy))
    copy.WidthInBytes, copy.Height, copy.Depth = counts
    if counts[1] > 1 or counts[2] > 1:  # a single row has no pitch
        steps = [step or counts[i % 2] for i, step in enumerate(steps)]
    copy.dstPitch, copy.dstHeight, copy.srcPitch, copy.srcHeight = steps
    set_destination(copy, to.pointer)
    set_source(copy, source.pointer)
    return copy


cdef MemcpyNode add_memcpy_node(_NodeFactory factory, object dst, object src, tuple extent,
                                tuple pitches, object dst_owner, object src_owner):
    cdef CUgraphNodeParams params
    cdef MemcpyNode node = MemcpyNode.__new__(MemcpyNode)
    cdef _NodeState state
    factory.check_usable()
    node.copy = build_copy(dst, src, extent, pitches, dst_owner, src_owner)
    factory.check_usable()
    sides = ((owner_of_operand(dst, dst_owner),), (owner_of_operand(src, src_owner),))
    params = memcpy_parameters(node.copy)
    try:
        state = add_node(node, factory, &params, present_owners(sides[0][0], sides[1][0]))
    except CUDAError as error:
        rows, row = max(node.copy.Height, node.copy.Depth), node.copy.WidthInBytes
        explain_pitch(error, "dst_pitch", node.copy.dstPitch, row, rows)
        explain_pitch(error, "src_pitch", node.copy.srcPitch, row, rows)
        raise
    state.creation = sides
    return node


cdef int update_memcpy_node(MemcpyNode node, object dst, object src, object size,
                            object dst_owner, object src_owner) except -1:
    cdef CUDA_MEMCPY3D copy = node.copy
    cdef memory_range to, source
    if (copy.Height > 1 or copy.Depth > 1 or copy.srcMemoryType == CU_MEMORYTYPE_ARRAY
            or copy.dstMemoryType == CU_MEMORYTYPE_ARRAY or copy.srcXInBytes or copy.dstXInBytes):
        raise ValueError("updating multidimensional, pitched, offset, or array-backed memcpy nodes "
                         "is not supported")
    to.pointer, to.size, to.is_buffer = node.dst, SIZE_MAX, False
    source.pointer, source.size, source.is_buffer = node.src, SIZE_MAX, False
    if dst is not None:
        to = range_of_operand(dst, dst_owner, "dst")
    if src is not None:
        source = range_of_operand(src, src_owner, "src")
    if size is not None:
        copy.WidthInBytes = count_from(size, "size")
    check_fits(to, "dst", copy.WidthInBytes)
    check_fits(source, "src", copy.WidthInBytes)
    if dst is not None:
        set_destination(copy, to.pointer)
    if src is not None:
        set_source(copy, source.pointer)
    node.check_usable()
    return set_memcpy_node(node, copy, dst, src, dst_owner, src_owner)


cdef int set_memcpy_node(MemcpyNode node, CUDA_MEMCPY3D copy, object dst, object src,
                         object dst_owner, object src_owner) except -1:
    cdef CUgraphNodeParams params
    cdef _NodeState state = node.node_state
    cdef graph_hold _hold = graph_hold(node.state.lock)
    node.check_usable()
    # An omitted side retains its current owner.
    sides = state.creation or ((None,), (None,))
    new_sides = (sides[0] if dst is None else (owner_of_operand(dst, dst_owner),),
                 sides[1] if src is None else (owner_of_operand(src, src_owner),))
    params = memcpy_parameters(copy)
    set_node(node, &params, [each for side in new_sides for each in side if each is not None])
    node.copy = copy
    state.creation = new_sides


cdef GraphNode inspect_memcpy_node(_GraphState graph, CUgraphNode raw, _NodeState state):
    cdef MemcpyNode node = MemcpyNode.__new__(MemcpyNode)
    call(driver.cuGraphMemcpyNodeGetParams, raw, &node.copy)
    return node


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
