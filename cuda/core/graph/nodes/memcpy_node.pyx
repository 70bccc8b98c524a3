# SPDX-License-Identifier: Apache-2.0
# MemcpyNode: copies memory.


@cython.final
cdef class MemcpyNode(GraphNode):
    """A node that copies memory."""

    cdef CUDA_MEMCPY3D copy

    @property
    def dst(self):
        """The address that is copied to. Host only."""
        if self.copy.dstMemoryType == CU_MEMORYTYPE_HOST:
            return <uintptr_t>self.copy.dstHost
        return self.copy.dstDevice

    @property
    def src(self):
        """The address that is copied from. Host only."""
        if self.copy.srcMemoryType == CU_MEMORYTYPE_HOST:
            return <uintptr_t>self.copy.srcHost
        return self.copy.srcDevice

    @property
    def size(self):
        """In bytes, all rows and layers together. Host only."""
        return <object>self.copy.WidthInBytes * self.copy.Height * self.copy.Depth

    @property
    def extent(self):
        """Bytes of a row, rows of a layer, layers. Host only."""
        return self.copy.WidthInBytes, self.copy.Height, self.copy.Depth

    def update(self, *, dst=None, src=None, size=None, dst_owner=None, src_owner=None):
        """Change what is copied; what is left out stays.

        Host only. Executables that were made before are not changed.

        Parameters
        ----------
        dst, src : Buffer or int, optional
        size : int, optional
            In bytes.
        dst_owner, src_owner : object, optional
            Only with an address on that side.

        Raises
        ------
        ValueError
            For copies of several rows, or of arrays.

        See Also
        --------
        cuGraphNodeSetParams : the driver function.
        """
        self.check_usable()
        for name, given, owner in (("dst", dst, dst_owner), ("src", src, src_owner)):
            if owner is not None and (given is None or isinstance(given, Buffer)):
                raise ValueError(f"{name}_owner needs an integer {name}")
        if dst is None and src is None and size is None:
            return
        update_memcpy_node(self, dst, src, size, dst_owner, src_owner)

    def _details(self):
        return (f"dst=0x{self.dst:x}({letter_of(self.copy.dstMemoryType)}) "
                f"src=0x{self.src:x}({letter_of(self.copy.srcMemoryType)}) size={self.size}")

    def _label(self):
        kinds = f"{letter_of(self.copy.srcMemoryType)} to {letter_of(self.copy.dstMemoryType)}"
        return f"memcpy {kinds}\n{self.size} B"


cdef str letter_of(unsigned kind):
    return "H" if kind == CU_MEMORYTYPE_HOST else "A" if kind == CU_MEMORYTYPE_ARRAY else "D"


cdef int set_destination(CUDA_MEMCPY3D& copy, CUdeviceptr pointer) except -1:
    if is_on_device(pointer):
        copy.dstMemoryType, copy.dstDevice = CU_MEMORYTYPE_DEVICE, pointer
    else:
        copy.dstMemoryType, copy.dstHost = CU_MEMORYTYPE_HOST, <void*>pointer
    return 0


cdef int set_source(CUDA_MEMCPY3D& copy, CUdeviceptr pointer) except -1:
    if is_on_device(pointer):
        copy.srcMemoryType, copy.srcDevice = CU_MEMORYTYPE_DEVICE, pointer
    else:
        copy.srcMemoryType, copy.srcHost = CU_MEMORYTYPE_HOST, <void*>pointer
    return 0


cdef bint is_on_device(CUdeviceptr pointer) except -1:
    cdef pointer_facts facts = classify_pointer(pointer)
    return facts.is_known and facts.is_device_accessible and (
        facts.is_managed or not facts.is_host_accessible)


cdef object bytes_used(tuple extent, object pitch, object height):
    """From the first byte of a copy to behind its last."""
    width, rows, layers = extent
    row = pitch or width
    layer = row * (height or rows)
    if not width * rows * layers:
        return 0
    return layer * (layers - 1) + row * (rows - 1) + width


cdef CUgraphNodeParams memcpy_parameters(const CUDA_MEMCPY3D& copy) except *:
    cdef CUgraphNodeParams how
    memset(&how, 0, sizeof(how))
    how.type = CU_GRAPH_NODE_TYPE_MEMCPY
    how.memcpy.copyCtx = raw_current_context()
    how.memcpy.copyParams = copy
    return how


cdef CUDA_MEMCPY3D copy_of(object dst, object src, tuple extent, tuple pitches, object dst_owner,
                           object src_owner) except *:
    cdef CUDA_MEMCPY3D copy
    cdef memory_range to = range_of(dst, dst_owner, "dst")
    cdef memory_range source = range_of(src, src_owner, "src")
    counts = [count_from(each, name) for each, name in zip(extent, ("size", "height", "depth"))]
    steps = [count_from(each, "a pitch or height") for each in pitches]
    check_fits(to, "dst", bytes_used(tuple(counts), steps[0], steps[1]))
    check_fits(source, "src", bytes_used(tuple(counts), steps[2], steps[3]))
    memset(&copy, 0, sizeof(copy))
    copy.WidthInBytes, copy.Height, copy.Depth = counts
    if counts[1] > 1 or counts[2] > 1:  # a single row has no pitch
        steps = [step or counts[i % 2] for i, step in enumerate(steps)]
    copy.dstPitch, copy.dstHeight, copy.srcPitch, copy.srcHeight = steps
    set_destination(copy, to.pointer)
    set_source(copy, source.pointer)
    return copy


cdef MemcpyNode add_memcpy_node(_NodeMaker after, object dst, object src, tuple extent,
                                tuple pitches, object dst_owner, object src_owner):
    cdef CUgraphNodeParams how
    cdef MemcpyNode node = MemcpyNode.__new__(MemcpyNode)
    cdef _NodeState state
    after.check_usable()
    node.copy = copy_of(dst, src, extent, pitches, dst_owner, src_owner)
    after.check_usable()
    sides = ((object_to_keep(dst, dst_owner),), (object_to_keep(src, src_owner),))
    how = memcpy_parameters(node.copy)
    state = add_node(node, after, &how, objects_to_keep(sides[0][0], sides[1][0]))
    state.made_as = sides
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
        to = range_of(dst, dst_owner, "dst")
    if src is not None:
        source = range_of(src, src_owner, "src")
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
    cdef CUgraphNodeParams how
    cdef _NodeState state = node.known
    # The side that is left out keeps what it has.
    sides = state.made_as or ((None,), (None,))
    new = (sides[0] if dst is None else (object_to_keep(dst, dst_owner),),
           sides[1] if src is None else (object_to_keep(src, src_owner),))
    how = memcpy_parameters(copy)
    set_node(node, &how, [each for side in new for each in side if each is not None])
    node.copy = copy
    state.made_as = new
    return 0


cdef GraphNode inspect_memcpy_node(CUgraphNode raw):
    cdef MemcpyNode node = MemcpyNode.__new__(MemcpyNode)
    call(driver.cuGraphMemcpyNodeGetParams, raw, &node.copy)
    return node
