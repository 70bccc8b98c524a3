# SPDX-License-Identifier: Apache-2.0
# AllocNode: allocates memory of a graph.

from cuda.bindings.cydriver cimport (
    CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    CU_MEM_ALLOCATION_TYPE_MANAGED,
    CU_MEM_ALLOCATION_TYPE_PINNED,
    CU_MEM_LOCATION_TYPE_DEVICE,
    CU_MEM_LOCATION_TYPE_HOST,
)

cdef tuple MEMORY_TYPES = ("device", "host", "managed")


@cython.final
cdef class AllocNode(GraphNode):
    """A node that allocates memory. A later `FreeNode`, or the caller, frees the memory."""

    cdef CUdeviceptr address
    cdef size_t bytes
    cdef int device
    cdef object kind    # one of MEMORY_TYPES
    cdef tuple peers

    @property
    def dptr(self):
        """Address of the memory, the same in every launch. Host only."""
        return self.address

    @property
    def bytesize(self):
        """Size of the memory in bytes. Host only."""
        return self.bytes

    @property
    def device_id(self):
        """Ordinal of the device. Host only."""
        return self.device

    @property
    def memory_type(self):
        """Type of the memory: ``"device"``, ``"host"`` or ``"managed"``. Host only."""
        return self.kind

    @property
    def peer_access(self):
        """Ordinals of the other devices that may access the memory. Host only."""
        return self.peers

    @property
    def options(self):
        """Deprecated: use `device_id`, `memory_type` and `peer_access`."""
        warn_deprecated("AllocNode.options", "device_id, memory_type and peer_access")
        peers = list(require_set(self, self.peers)) or None
        return import_module("cuda.core.graph.options").GraphAllocOptions(
            device=self.device, memory_type=self.kind, peer_access=peers)

    def _details(self):
        return f"dptr=0x{self.address:x} size={self.bytes}"

    def _label(self):
        return f"allocate\n{self.bytes} B"


cdef int ordinal_of(object value) except -2:
    if isinstance(value, Device):
        return (<Device>value).ordinal
    return as_device(value).ordinal


cdef int ordinal_of_peer(object value) except -2:
    if isinstance(value, Device):
        return (<Device>value).ordinal
    return (<Device>option_checks().device("a member of peer_access", value)).ordinal


cdef AllocNode add_alloc_node(_NodeFactory factory, object size, object device, object memory_type,
                              object peer_access):
    cdef CUDA_MEM_ALLOC_NODE_PARAMS params
    cdef vector[CUmemAccessDesc] access
    cdef _NodeState state
    cdef AllocNode node = AllocNode.__new__(AllocNode)
    cdef graph_hold hold
    memory_type = "device" if memory_type is None else memory_type
    if memory_type not in MEMORY_TYPES:
        raise ValueError(f"{shown(memory_type)} is not a valid GraphMemoryType. Must be 'device', "
                         "'host' or 'managed'")
    node.kind = str(memory_type)
    node.bytes = size_from(size, "allocate(): size")
    node.device = ordinal_of_current() if device is None else ordinal_of(device)
    if peer_access is None:
        node.peers = ()
    else:
        members = option_checks().members("peer_access", peer_access)
        node.peers = tuple([ordinal_of_peer(each) for each in members])
    memset(&params, 0, sizeof(params))
    params.bytesize = node.bytes
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE
    params.poolProps.location.id = node.device
    if node.kind == "managed":
        params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED
    elif node.kind == "host":
        params.poolProps.location.type = CU_MEM_LOCATION_TYPE_HOST
        params.poolProps.location.id = 0
    access.resize(len(node.peers))
    for i, peer in enumerate(node.peers):
        access[i].location.type = CU_MEM_LOCATION_TYPE_DEVICE
        access[i].location.id = peer
        access[i].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    params.accessDescs, params.accessDescCount = access.data(), access.size()
    state = new_state_for(node)
    factory.hold_usable(hold)
    with nogil:
        call_alone(factory.state.lock, driver.cuGraphAddMemAllocNode, &state.raw,
                   factory.state.raw, &factory.raw, <size_t>(factory.raw is not NULL), &params)
    node.address = params.dptr
    register_node(node, factory.state, state)
    return node


cdef int ordinal_of_current() except -1:
    cdef context_handle context = current_context()
    if not context.is_open():
        raise RuntimeError("No current CUDA context on this thread: call Device().set_current() "
                           "first, or pass device=")
    return context.facts().device


cdef GraphNode inspect_alloc_node(_GraphState graph, CUgraphNode raw, _NodeState state):
    cdef CUDA_MEM_ALLOC_NODE_PARAMS params
    cdef AllocNode node = AllocNode.__new__(AllocNode)
    call(driver.cuGraphMemAllocNodeGetParams, raw, &params)
    node.address, node.bytes = params.dptr, params.bytesize
    node.device, node.kind = params.poolProps.location.id, "device"
    if params.poolProps.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED:
        node.kind = "managed"
    elif params.poolProps.location.type == CU_MEM_LOCATION_TYPE_HOST:
        node.kind = "host"
    node.peers = tuple([params.accessDescs[i].location.id for i in range(params.accessDescCount)
                        if params.accessDescs is not NULL])
    return node
