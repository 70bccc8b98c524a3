# SPDX-License-Identifier: Apache-2.0
# GraphMemoryResource: memory that graph launches allocate.

from cuda.bindings.cydriver cimport (
    CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT,
    CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH,
    CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT,
    CU_GRAPH_MEM_ATTR_USED_MEM_HIGH,
    CUgraphMem_attribute,
    cuuint64_t,
)

cdef dict graph_resources = {}  # class and device ordinal: GraphMemoryResource


@cython.final
cdef class GraphMemoryResourceAttributes:
    """Memory usage of all graphs of a device, in bytes. Reading an attribute queries the driver."""

    cdef int device

    def __init__(self, *args, **kwargs):
        raise RuntimeError("GraphMemoryResourceAttributes cannot be instantiated directly. Please "
                           "use GraphMemoryResource.attributes")

    @property
    def reserved_mem_current(self):
        """Memory currently reserved for graphs, in bytes. Host only."""
        return graph_memory(self, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT)

    @property
    def reserved_mem_high(self):
        """Peak of the reserved memory in bytes; setting it to 0 resets the peak. Host only."""
        return graph_memory(self, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)

    @reserved_mem_high.setter
    def reserved_mem_high(self, value):
        reset_graph_memory(self, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, "reserved_mem_high", value)

    @property
    def used_mem_current(self):
        """Memory currently allocated by graphs, in bytes. Host only."""
        return graph_memory(self, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT)

    @property
    def used_mem_high(self):
        """Peak of the allocated memory in bytes; setting it to 0 resets the peak. Host only."""
        return graph_memory(self, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)

    @used_mem_high.setter
    def used_mem_high(self, value):
        reset_graph_memory(self, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, "used_mem_high", value)

    def __repr__(self):
        names = ("reserved_mem_current", "reserved_mem_high", "used_mem_current", "used_mem_high")
        values = [f"{name}={getattr(self, name)}" for name in names]
        return f"GraphMemoryResourceAttributes({', '.join(values)})"


cdef object graph_memory(GraphMemoryResourceAttributes self, CUgraphMem_attribute attribute):
    cdef cuuint64_t value
    cdef CUdevice device = self.device
    initialize_driver()
    with nogil:
        call(driver.cuDeviceGetGraphMemAttribute, device, attribute, &value)
    return value


cdef int reset_graph_memory(GraphMemoryResourceAttributes self, CUgraphMem_attribute attribute,
                            str name, object value) except -1:
    cdef cuuint64_t zero = 0
    if value != 0:
        raise AttributeError(f"Attribute {name!r} may only be set to zero (got {value}).")
    initialize_driver()
    call(driver.cuDeviceSetGraphMemAttribute, self.device, attribute, &zero)


cdef object graph_device_of(object resource):
    ordinal = getattr(resource, "_device", None)
    if ordinal is None:
        raise RuntimeError("GraphMemoryResource was not initialized: its constructor did not run, "
                           "or failed")
    return ordinal


class GraphMemoryResource(MemoryResource):
    """Memory of a captured graph: each launch allocates it at the same address.

    Each device has one resource; constructing it again returns the same object.

    Parameters
    ----------
    device_id : Device or int
    """

    __slots__ = ("_device",)

    def __new__(cls, device_id):
        ordinal = (<Device>device_id).ordinal if isinstance(device_id, Device) \
            else int_option("device_id", device_id)
        resource = MemoryResource.__new__(cls)
        resource._device = ordinal
        return graph_resources.setdefault((cls, ordinal), resource)

    def allocate(self, size, *, stream):
        """Add an allocation to the graph that a stream is capturing.

        Stream-ordered.

        Parameters
        ----------
        size : int
            Number of bytes.
        stream : Stream or GraphBuilder
            A stream that is being captured.

        Returns
        -------
        Buffer
            Closing it during the capture adds a free to the graph. Closing it later frees the
            memory that a launch left allocated.

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
        """Free memory: as a node during a capture, otherwise memory that a launch left allocated.

        Stream-ordered.

        Parameters
        ----------
        ptr : int
            Address of the memory.
        size : int
            Number of bytes.
        stream : Stream or GraphBuilder

        See Also
        --------
        cuMemFreeAsync : the driver function.
        """
        if isinstance(stream, Stream) and stream.is_closed:  # the builder was closed
            stream = default_stream_object()
        free_in_graph(address_from(ptr), accept_stream(stream))

    def close(self):
        """Do nothing: the graphs own the memory. Host only."""

    def trim(self):
        """Release memory that is reserved for graphs and unused.

        Host only.

        See Also
        --------
        cuDeviceGraphMemTrim : the driver function.
        """
        trim_graph_memory(graph_device_of(self))

    @property
    def attributes(self):
        """Memory usage of graphs, as `GraphMemoryResourceAttributes`. Host only."""
        cdef GraphMemoryResourceAttributes attributes
        attributes = GraphMemoryResourceAttributes.__new__(GraphMemoryResourceAttributes)
        attributes.device = graph_device_of(self)
        return attributes

    @property
    def device_id(self):
        """Ordinal of the device. Host only."""
        return graph_device_of(self)

    @property
    def is_device_accessible(self):
        """Whether the device can access the memory: True. Host only."""
        return True

    @property
    def is_host_accessible(self):
        """Whether the host can access the memory: False. Host only."""
        return False

    def __reduce__(self):
        return GraphMemoryResource, (graph_device_of(self),)

    def __repr__(self):
        return f"<GraphMemoryResource device={graph_device_of(self)}>"


set_graph_memory_class(GraphMemoryResource)


cdef int check_captures(const stream_ref& stream) except -1:
    cdef capture_info capture
    check(find_capture(stream, capture), "cuStreamGetCaptureInfo")
    if capture.status != CU_STREAM_CAPTURE_STATUS_ACTIVE:
        raise RuntimeError("GraphMemoryResource cannot perform memory operations on a "
                           "non-capturing stream. Pass a GraphBuilder after begin_building(), or "
                           "use DeviceMemoryResource for memory outside of a graph.")


cdef Buffer allocate_in_graph(object resource, object size, Stream target):
    cdef CUdeviceptr pointer = 0
    cdef size_t byte_count = size_from(size, "allocate(): size")
    cdef borrowed_stream native_stream = target.native.borrow_open(target)
    check_captures(native_stream)
    if byte_count:
        with nogil:
            call(driver.cuMemAllocAsync, &pointer, byte_count, native_stream.raw())
    try:
        return Buffer.from_handle(pointer, byte_count, mr=resource, stream=target)
    except BaseException:
        if pointer:
            try_call(driver.cuMemFreeAsync, pointer, native_stream.raw())
        raise


cdef int free_in_graph(CUdeviceptr pointer, Stream target) except -1:
    cdef borrowed_stream native_stream = target.native.borrow_open(target)
    if pointer:
        with nogil:
            call(driver.cuMemFreeAsync, pointer, native_stream.raw())


cdef int trim_graph_memory(int device) except -1:
    initialize_driver()
    with nogil:
        call(driver.cuDeviceGraphMemTrim, <CUdevice>device)
