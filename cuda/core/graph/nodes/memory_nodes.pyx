# SPDX-License-Identifier: Apache-2.0
# Nodes that fill and copy memory.


cdef struct memory_range:
    CUdeviceptr pointer
    size_t size        # of a Buffer; else the largest number
    bint is_buffer


cdef memory_range range_of(object given, object owner, str name) except *:
    """The memory that an operand stands for: a Buffer, or an address."""
    cdef memory_range found
    if isinstance(given, Buffer):
        if owner is not None:
            raise ValueError(f"{name}_owner cannot be used when {name} is a Buffer: the graph "
                             "keeps its memory")
        check_open((<Buffer>given).fields.is_open, "Buffer")
        found.pointer = (<Buffer>given).fields.pointer
        found.size, found.is_buffer = (<Buffer>given).fields.size, True
        return found
    if not PyIndex_Check(given):
        raise TypeError(f"{name} must be a Buffer or an integer is required, the address; got "
                        f"{qualified_name(given)}")
    found.pointer, found.size, found.is_buffer = address_from(given), SIZE_MAX, False
    return found


cdef object object_to_keep(object given, object owner):
    """What keeps the memory of an operand; None for an address without an owner."""
    if isinstance(given, Buffer):
        check_open((<Buffer>given).fields.is_open, "Buffer")  # a later argument may have closed it
        return memory_to_keep(<Buffer>given)
    return owner


cdef list objects_to_keep(object first, object second):
    return [each for each in (first, second) if each is not None]


cdef int check_fits(memory_range memory, str name, object needed) except -1:
    if memory.is_buffer and needed > memory.size:
        raise ValueError(f"{name} is a Buffer of {memory.size} bytes, and the node would use "
                         f"{needed} of it")
    return 0


@cython.final
cdef class MemsetNode(GraphNode):
    """A node that fills memory with a pattern."""

    cdef CUDA_MEMSET_NODE_PARAMS fill

    @property
    def dptr(self):
        """The address of the memory. Host only."""
        return self.fill.dst

    @property
    def value(self):
        """The pattern as an int. Host only."""
        return self.fill.value

    @property
    def element_size(self):
        """The size of the pattern: 1, 2 or 4 bytes. Host only."""
        return self.fill.elementSize

    @property
    def width(self):
        """In elements. Host only."""
        return self.fill.width

    @property
    def height(self):
        """In rows. Host only."""
        return self.fill.height

    @property
    def pitch(self):
        """In bytes, from a row to the next. Host only."""
        return self.fill.pitch

    def update(self, *, dst=None, value=None, width=None, height=None, pitch=None, dst_owner=None):
        """Change what is filled; what is left out stays.

        Host only. Executables that were made before are not changed.

        Parameters
        ----------
        dst : Buffer or int, optional
        value : int or bytes-like, optional
        width, height, pitch : int, optional
        dst_owner : object, optional
            Only with an address.

        See Also
        --------
        cuGraphNodeSetParams : the driver function.
        """
        self.check_usable()
        if dst_owner is not None and (dst is None or isinstance(dst, Buffer)):
            raise ValueError("dst_owner needs an integer dst")
        if dst is None and value is None and width is None and height is None and pitch is None:
            return
        update_memset_node(self, dst, value, width, height, pitch, dst_owner)

    def _details(self):
        return f"dptr=0x{self.fill.dst:x} value={self.fill.value}"

    def _label(self):
        rows = "" if self.fill.height == 1 else f" x {self.fill.height}"
        return f"memset\n{self.fill.width}{rows} of {self.fill.elementSize} B = {self.fill.value}"


cdef CUDA_MEMSET_NODE_PARAMS fill_of(memory_range to, object value, object width, object height,
                                     object pitch) except *:
    cdef CUDA_MEMSET_NODE_PARAMS fill
    cdef unsigned pattern = 0
    fill.elementSize = 1
    if isinstance(value, int) or (not PyObject_CheckBuffer(value) and PyIndex_Check(value)):
        pattern = byte_of(value)
    else:
        fill.elementSize = pattern_of(value, &pattern)
    fill.dst, fill.value = to.pointer, pattern
    fill.width, fill.height = count_from(width, "width"), count_from(height, "height")
    fill.pitch = count_from(pitch, "pitch")
    rows, row = <object>max(fill.height, <size_t>1) - 1, <object>fill.width * fill.elementSize
    check_fits(to, "dst", rows * fill.pitch + row)
    return fill


cdef CUgraphNodeParams memset_parameters(const CUDA_MEMSET_NODE_PARAMS& fill) except *:
    cdef CUgraphNodeParams how
    memset(&how, 0, sizeof(how))
    how.type = CU_GRAPH_NODE_TYPE_MEMSET
    how.memset.dst, how.memset.value, how.memset.pitch = fill.dst, fill.value, fill.pitch
    how.memset.elementSize = fill.elementSize
    how.memset.width, how.memset.height = fill.width, fill.height
    how.memset.ctx = raw_current_context()
    return how


cdef MemsetNode add_memset_node(_NodeMaker after, object dst, object value, object width,
                                object height, object pitch, object owner):
    cdef CUgraphNodeParams how
    cdef MemsetNode node = MemsetNode.__new__(MemsetNode)
    after.check_usable()
    node.fill = fill_of(range_of(dst, owner, "dst"), value, width, height, pitch)
    after.check_usable()
    kept = objects_to_keep(object_to_keep(dst, owner), None)
    how = memset_parameters(node.fill)
    add_node(node, after, &how, kept)
    return node


cdef int update_memset_node(MemsetNode node, object dst, object value, object width, object height,
                            object pitch, object owner) except -1:
    cdef CUgraphNodeParams how
    cdef CUDA_MEMSET_NODE_PARAMS fill
    cdef memory_range to
    if dst is None:
        to.pointer, to.size, to.is_buffer = node.fill.dst, SIZE_MAX, False
    else:
        to = range_of(dst, owner, "dst")
    if value is None:
        value = (<unsigned>node.fill.value).to_bytes(node.fill.elementSize, "little")
    fill = fill_of(to, value, node.fill.width if width is None else width,
                   node.fill.height if height is None else height,
                   node.fill.pitch if pitch is None else pitch)
    node.check_usable()
    how = memset_parameters(fill)
    if dst is not None:
        set_node(node, &how, objects_to_keep(object_to_keep(dst, owner), None))
    else:
        call_alone(node.state.lock, driver.cuGraphNodeSetParams, node.raw, &how)
    node.fill = fill
    return 0


cdef GraphNode inspect_memset_node(CUgraphNode raw):
    cdef MemsetNode node = MemsetNode.__new__(MemsetNode)
    call(driver.cuGraphMemsetNodeGetParams, raw, &node.fill)
    return node


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
