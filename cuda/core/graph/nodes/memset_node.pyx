# SPDX-License-Identifier: Apache-2.0
# MemsetNode: fills memory with a pattern.


@cython.final
cdef class MemsetNode(GraphNode):
    """A node that fills memory with a pattern."""

    cdef CUDA_MEMSET_NODE_PARAMS fill

    @property
    def dptr(self):
        """Address of the memory. Host only."""
        return self.fill.dst

    @property
    def value(self):
        """Pattern as an int. Host only."""
        return self.fill.value

    @property
    def element_size(self):
        """Size of the pattern: 1, 2 or 4 bytes. Host only."""
        return self.fill.elementSize

    @property
    def width(self):
        """Number of elements in a row. Host only."""
        return self.fill.width

    @property
    def height(self):
        """Number of rows. Host only."""
        return self.fill.height

    @property
    def pitch(self):
        """Distance from one row to the next in bytes. Host only."""
        return self.fill.pitch

    def update(self, *, dst=None, value=None, width=None, height=None, pitch=None, dst_owner=None):
        """Set parameters of the fill; omitted parameters do not change.

        Host only. Does not change executable graphs that exist already.

        Parameters
        ----------
        dst : Buffer or int, optional
        value : int or bytes-like, optional
        width, height, pitch : int, optional
        dst_owner : object, optional
            Accepted only if `dst` is an address.

        See Also
        --------
        cuGraphNodeSetParams : the driver function.
        """
        self.check_usable()
        check_updated_owner("dst", dst, dst_owner)
        if dst is None and value is None and width is None and height is None and pitch is None:
            return
        update_memset_node(self, dst, value, width, height, pitch, dst_owner)

    def _details(self):
        return f"dptr=0x{self.fill.dst:x} value={self.fill.value}"

    def _label(self):
        rows = "" if self.fill.height == 1 else f" x {self.fill.height}"
        return f"memset\n{self.fill.width}{rows} of {self.fill.elementSize} B = {self.fill.value}"


cdef CUDA_MEMSET_NODE_PARAMS build_fill(memory_range to, object value, object width, object height,
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
    cdef CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_MEMSET)
    params.memset.dst, params.memset.value, params.memset.pitch = fill.dst, fill.value, fill.pitch
    params.memset.elementSize = fill.elementSize
    params.memset.width, params.memset.height = fill.width, fill.height
    params.memset.ctx = raw_current_context()
    return params


cdef MemsetNode add_memset_node(_NodeFactory factory, object dst, object value, object width,
                                object height, object pitch, object owner):
    cdef CUgraphNodeParams params
    cdef MemsetNode node = MemsetNode.__new__(MemsetNode)
    factory.check_usable()
    node.fill = build_fill(range_of_operand(dst, owner, "dst"), value, width, height, pitch)
    factory.check_usable()
    owners = present_owners(owner_of_operand(dst, owner), None)
    params = memset_parameters(node.fill)
    try:
        add_node(node, factory, &params, owners)
    except CUDAError as error:
        explain_pitch(error, "pitch", node.fill.pitch, node.fill.width * node.fill.elementSize,
                      node.fill.height)
        raise
    return node


cdef int update_memset_node(MemsetNode node, object dst, object value, object width, object height,
                            object pitch, object owner) except -1:
    cdef CUgraphNodeParams params
    cdef CUDA_MEMSET_NODE_PARAMS fill
    cdef memory_range to
    cdef graph_hold _hold
    if dst is None:
        to.pointer, to.size, to.is_buffer = node.fill.dst, SIZE_MAX, False
    else:
        to = range_of_operand(dst, owner, "dst")
    if value is None:
        value = (<unsigned>node.fill.value).to_bytes(node.fill.elementSize, "little")
    fill = build_fill(to, value, node.fill.width if width is None else width,
                      node.fill.height if height is None else height,
                      node.fill.pitch if pitch is None else pitch)
    owners = None if dst is None else present_owners(owner_of_operand(dst, owner), None)
    params = memset_parameters(fill)
    _hold = graph_hold(node.state.lock)
    node.check_usable()
    if owners is not None:
        set_node(node, &params, owners)
    else:
        call_alone(node.state.lock, driver.cuGraphNodeSetParams, node.raw, &params)
    node.fill = fill


cdef GraphNode inspect_memset_node(_GraphState graph, CUgraphNode raw, _NodeState state):
    cdef MemsetNode node = MemsetNode.__new__(MemsetNode)
    call(driver.cuGraphMemsetNodeGetParams, raw, &node.fill)
    return node


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
