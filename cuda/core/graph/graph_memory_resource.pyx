# SPDX-License-Identifier: Apache-2.0
# GraphMemoryResource: memory that is allocated by launches of a graph.

from cuda.bindings.cydriver cimport (
    CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT,
    CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH,
    CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT,
    CU_GRAPH_MEM_ATTR_USED_MEM_HIGH,
    CUgraphMem_attribute,
    cuuint64_t,
)

cdef dict graph_resources = {}  # ordinal: the one GraphMemoryResource


@cython.final
cdef class GraphMemoryResourceAttributes:
    """How much memory the graphs of a device use. Each attribute asks the driver, in bytes."""

    cdef int device

    def __init__(self, *args, **kwargs):
        raise RuntimeError("GraphMemoryResourceAttributes cannot be instantiated directly. Please "
                           "use GraphMemoryResource.attributes")

    @property
    def reserved_mem_current(self):
        """What is reserved for graphs now. Host only."""
        return graph_memory(self, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT)

    @property
    def reserved_mem_high(self):
        """The most that was reserved; may be set to 0, which means to begin again. Host only."""
        return graph_memory(self, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)

    @reserved_mem_high.setter
    def reserved_mem_high(self, value):
        reset_graph_memory(self, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, "reserved_mem_high", value)

    @property
    def used_mem_current(self):
        """What graphs have allocated now. Host only."""
        return graph_memory(self, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT)

    @property
    def used_mem_high(self):
        """The most that they had; may be set to 0, which means to begin again. Host only."""
        return graph_memory(self, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)

    @used_mem_high.setter
    def used_mem_high(self, value):
        reset_graph_memory(self, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, "used_mem_high", value)

    def __repr__(self):
        names = ("reserved_mem_current", "reserved_mem_high", "used_mem_current", "used_mem_high")
        values = [f"{name}={getattr(self, name)}" for name in names]
        return f"GraphMemoryResourceAttributes({', '.join(values)})"


cdef object graph_memory(GraphMemoryResourceAttributes self, CUgraphMem_attribute which):
    cdef cuuint64_t value = 0
    cdef CUdevice device = self.device
    initialize_driver()
    with nogil:
        call(driver.cuDeviceGetGraphMemAttribute, device, which, &value)
    return value


cdef int reset_graph_memory(GraphMemoryResourceAttributes self, CUgraphMem_attribute which,
                            str name, object value) except -1:
    cdef cuuint64_t zero = 0
    if value != 0:
        raise AttributeError(f"Attribute {name!r} may only be set to zero (got {value}).")
    initialize_driver()
    call(driver.cuDeviceSetGraphMemAttribute, self.device, which, &zero)
    return 0


class GraphMemoryResource(MemoryResource):
    """Memory that is a part of a captured graph: each launch allocates it, at the same address.

    There is one of each device: constructing it again gives the same object.

    Parameters
    ----------
    device_id : Device or int
    """

    __slots__ = ("_device",)

    def __new__(cls, device_id):
        ordinal = (<Device>device_id).ordinal if isinstance(device_id, Device) \
            else PyNumber_Index(device_id)
        made = MemoryResource.__new__(cls)
        made._device = ordinal
        return graph_resources.setdefault(ordinal, made)

    def allocate(self, size, *, stream):
        """Allocate memory in the graph that a stream is being captured into.

        Stream-ordered.

        Parameters
        ----------
        size : int
            In bytes.
        stream : Stream or GraphBuilder
            It must be capturing.

        Returns
        -------
        Buffer
            Closed during the capture, it is freed in the graph; closed later, where a launch left
            it allocated.

        Raises
        ------
        RuntimeError
            If the stream is not being captured.

        See Also
        --------
        cuMemAllocAsync : the driver function.
        """
        return allocate_in_graph(self, size, accept_stream(stream))

    def deallocate(self, ptr, size, *, stream):
        """Free memory: in the graph while a stream is being captured, else what a launch left.

        Stream-ordered.

        Parameters
        ----------
        ptr : int
            The address.
        size : int
            In bytes.
        stream : Stream or GraphBuilder

        See Also
        --------
        cuMemFreeAsync : the driver function.
        """
        if isinstance(stream, Stream) and stream.is_closed:  # of a builder that was closed
            stream = default_stream_object()
        free_in_graph(address_from(ptr), accept_stream(stream))

    def close(self):
        """Does nothing: the memory belongs to the graphs. Host only."""

    def trim(self):
        """Give memory back that graphs have reserved and do not use.

        Host only.

        See Also
        --------
        cuDeviceGraphMemTrim : the driver function.
        """
        trim_graph_memory(self._device)

    @property
    def attributes(self):
        """How much memory graphs of the device use: `GraphMemoryResourceAttributes`. Host only."""
        cdef GraphMemoryResourceAttributes made
        made = GraphMemoryResourceAttributes.__new__(GraphMemoryResourceAttributes)
        made.device = self._device
        return made

    @property
    def device_id(self):
        """The ordinal of the device. Host only."""
        return self._device

    @property
    def is_device_accessible(self):
        """True. Host only."""
        return True

    @property
    def is_host_accessible(self):
        """False. Host only."""
        return False

    def __reduce__(self):
        return GraphMemoryResource, (self._device,)

    def __repr__(self):
        return f"<GraphMemoryResource device={self._device}>"


set_graph_memory_class(GraphMemoryResource)


cdef int check_captures(const stream_ref& stream) except -1:
    cdef capture_info found
    check(find_capture(stream, found), "cuStreamGetCaptureInfo")
    if found.status != CU_STREAM_CAPTURE_STATUS_ACTIVE:
        raise RuntimeError("GraphMemoryResource cannot perform memory operations on a "
                           "non-capturing stream.")
    return 0


cdef Buffer allocate_in_graph(object resource, object size, Stream order):
    cdef CUdeviceptr pointer = 0
    cdef size_t wanted = size_from(size, "allocate(): size")
    cdef borrowed_stream on = order.native.borrow_open(order)
    check_captures(on)
    if wanted:
        with nogil:
            call(driver.cuMemAllocAsync, &pointer, wanted, on.raw())
    try:
        return Buffer.from_handle(pointer, wanted, mr=resource, stream=order)
    except BaseException:
        if pointer:
            try_call(driver.cuMemFreeAsync, pointer, on.raw())
        raise


cdef int free_in_graph(CUdeviceptr pointer, Stream order) except -1:
    cdef borrowed_stream on = order.native.borrow_open(order)
    if pointer:
        with nogil:
            call(driver.cuMemFreeAsync, pointer, on.raw())
    return 0


cdef int trim_graph_memory(int device) except -1:
    initialize_driver()
    with nogil:
        call(driver.cuDeviceGraphMemTrim, <CUdevice>device)
    return 0
