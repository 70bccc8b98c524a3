# SPDX-License-Identifier: Apache-2.0
# Resources over the driver's memory pools: what they share, and the one for device memory.


cdef dict POOL_ATTRIBUTES = {
    "release_threshold": (CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, int),
    "reserved_mem_current": (CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, int),
    "reserved_mem_high": (CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, int),
    "reuse_allow_internal_dependencies":
        (CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, bool),
    "reuse_allow_opportunistic": (CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, bool),
    "reuse_follow_event_dependencies": (CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, bool),
    "used_mem_current": (CU_MEMPOOL_ATTR_USED_MEM_CURRENT, int),
    "used_mem_high": (CU_MEMPOOL_ATTR_USED_MEM_HIGH, int),
}


# What an OutOfMemoryError says of the pool.
cdef dict POOL_FIGURES = {
    "used": "used_mem_current", "reserved": "reserved_mem_current", "peak": "used_mem_high"}


cdef object read_attribute(const pool_handle& pool, str name):
    attribute, kind = POOL_ATTRIBUTES[name]
    return kind(pool_attribute(pool, <CUmemPool_attribute><int>attribute))


cdef int write_attribute(const pool_handle& pool, str name, uint64_t value) except -1:
    set_pool_attribute(pool, <CUmemPool_attribute><int>POOL_ATTRIBUTES[name][0], value)
    return 0


@cython.final
cdef class _MemPoolAttributes:
    """What a memory pool holds and how it behaves.

    It comes from the `attributes` of a resource, holds the pool and so answers after the resource
    was closed. Sizes are in bytes. Host only.

    See Also
    --------
    cuMemPoolGetAttribute, cuMemPoolSetAttribute : the driver functions.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("_MemPoolAttributes cannot be instantiated directly. Please use "
                           "MemoryResource APIs. Use the "
                           "attributes of a memory resource")

    @property
    def release_threshold(self):
        """What the pool keeps of freed memory when a stream is synchronised. Settable."""
        return read_attribute(self.pool, "release_threshold")

    @release_threshold.setter
    def release_threshold(self, value):
        write_attribute(self.pool, "release_threshold", value)

    @property
    def reuse_follow_event_dependencies(self):
        """Whether memory is reused across streams where an event orders them. Settable."""
        return read_attribute(self.pool, "reuse_follow_event_dependencies")

    @reuse_follow_event_dependencies.setter
    def reuse_follow_event_dependencies(self, bint value):
        write_attribute(self.pool, "reuse_follow_event_dependencies", value)

    @property
    def reuse_allow_opportunistic(self):
        """Whether memory is reused when its free happens to be done already. Settable."""
        return read_attribute(self.pool, "reuse_allow_opportunistic")

    @reuse_allow_opportunistic.setter
    def reuse_allow_opportunistic(self, bint value):
        write_attribute(self.pool, "reuse_allow_opportunistic", value)

    @property
    def reuse_allow_internal_dependencies(self):
        """Whether the driver may order streams to be able to reuse memory. Settable."""
        return read_attribute(self.pool, "reuse_allow_internal_dependencies")

    @reuse_allow_internal_dependencies.setter
    def reuse_allow_internal_dependencies(self, bint value):
        write_attribute(self.pool, "reuse_allow_internal_dependencies", value)

    @property
    def reserved_mem_current(self):
        """What the pool holds from the device now."""
        return read_attribute(self.pool, "reserved_mem_current")

    @property
    def reserved_mem_high(self):
        """The most that it held since the mark was reset; 0 may be assigned."""
        return read_attribute(self.pool, "reserved_mem_high")

    @reserved_mem_high.setter
    def reserved_mem_high(self, value):
        write_attribute(self.pool, "reserved_mem_high", only_zero(value))

    @property
    def used_mem_current(self):
        """What is allocated from the pool now."""
        return read_attribute(self.pool, "used_mem_current")

    @property
    def used_mem_high(self):
        """The most that was allocated since the mark was reset; 0 may be assigned."""
        return read_attribute(self.pool, "used_mem_high")

    @used_mem_high.setter
    def used_mem_high(self, value):
        write_attribute(self.pool, "used_mem_high", only_zero(value))

    def reset_high_water_marks(self):
        """Let both marks start again from what is held and allocated now."""
        self.reserved_mem_high = 0
        self.used_mem_high = 0

    def __repr__(self):
        values = [f"{name}={read_attribute(self.pool, name)!r}" for name in POOL_ATTRIBUTES]
        return f"_MemPoolAttributes({', '.join(values)})"


cdef object only_zero(object value):
    if value != 0:
        raise ValueError(f"a high-water mark can only be reset to 0, got {value!r}")
    return 0


cdef class _MemPool(MemoryResource):
    """What all resources over a driver pool share."""

    @cython.binding(True)
    def allocate(self, size, stream=NOT_GIVEN):
        """Take memory from the pool.

        Stream-ordered: the memory may be used on `stream`, and on streams that wait for it.

        Parameters
        ----------
        size : int
            In bytes; 0 gives a buffer without an address.
        stream : Stream
            The stream that orders the allocation and, unless another is named, the free.

        Returns
        -------
        Buffer

        Raises
        ------
        OutOfMemoryError
            If neither the pool nor the device has that much.
        RuntimeError
            If the stream is capturing, or the resource is closed.

        See Also
        --------
        cuMemAllocFromPoolAsync : the driver function.
        """
        return allocate_for(Buffer.__new__(Buffer), self, size,
                            stream_or_default(stream, "allocate()"))

    @cython.binding(True)
    def deallocate(self, ptr, size_t size=0, stream=NOT_GIVEN):
        """Give memory back to the pool; it works after `close` as well.

        Stream-ordered.

        Parameters
        ----------
        ptr : int
            The address that was allocated; 0 does nothing.
        size : int
            Not needed; taken for the protocol's sake.
        stream : Stream
            The stream that orders the free.

        See Also
        --------
        cuMemFreeAsync : the driver function.
        """
        cdef Stream order = stream_or_default(stream, "deallocate()")
        free_now(address_from(ptr), memory_kind.pool, order, context_handle())

    def close(self):
        """Give up the pool. Host only.

        Buffers from it stay valid; a pool of this resource's own is destroyed with the last of
        them. Closing twice is harmless.

        See Also
        --------
        cuMemPoolDestroy : the driver function.
        """
        release(self, self.pool)
        self.exported = None

    @property
    def is_closed(self):
        """Whether `close` was called. Host only."""
        return not self.pool.is_open()

    @property
    @cython.critical_section
    def handle(self):
        """The pool as `cuda.bindings.driver.CUmemoryPool`; 0 when closed. Host only."""
        return as_bindings("CUmemoryPool", self.pool.raw())

    @property
    def attributes(self):
        """What the pool holds and how it behaves; the same object each time. Host only."""
        return attributes_of(self)

    @property
    def release_threshold(self):
        """`attributes.release_threshold`, in bytes. Settable. Host only."""
        return attributes_of(self).release_threshold

    @release_threshold.setter
    def release_threshold(self, value):
        attributes_of(self).release_threshold = value

    @property
    def reuse_follow_event_dependencies(self):
        """`attributes.reuse_follow_event_dependencies`. Settable. Host only."""
        return attributes_of(self).reuse_follow_event_dependencies

    @reuse_follow_event_dependencies.setter
    def reuse_follow_event_dependencies(self, value):
        attributes_of(self).reuse_follow_event_dependencies = value

    @property
    def reuse_allow_opportunistic(self):
        """`attributes.reuse_allow_opportunistic`. Settable. Host only."""
        return attributes_of(self).reuse_allow_opportunistic

    @reuse_allow_opportunistic.setter
    def reuse_allow_opportunistic(self, value):
        attributes_of(self).reuse_allow_opportunistic = value

    @property
    def reuse_allow_internal_dependencies(self):
        """`attributes.reuse_allow_internal_dependencies`. Settable. Host only."""
        return attributes_of(self).reuse_allow_internal_dependencies

    @reuse_allow_internal_dependencies.setter
    def reuse_allow_internal_dependencies(self, value):
        attributes_of(self).reuse_allow_internal_dependencies = value

    def trim(self, size_t min_bytes_to_keep=0):
        """Give free memory back to the device.

        Host only.

        Parameters
        ----------
        min_bytes_to_keep : int
            What the pool may go on holding, in bytes.

        See Also
        --------
        cuMemPoolTrimTo : the driver function.
        """
        cdef pool_handle pool = share_open_pool(self)
        with nogil:
            trim_pool(pool, min_bytes_to_keep)

    @property
    @cython.critical_section
    def is_handle_owned(self):
        """Whether the pool is this resource's own, not the current one of a device. Host only."""
        return self.pool.is_open() and self.pool.is_owned()

    @property
    @cython.critical_section
    def is_ipc_enabled(self):
        """Whether the pool can be shared with other processes. Host only."""
        return self.pool.is_open() and self.pool.facts().sharing != pool_sharing.none

    @property
    def is_mapped(self):
        """Whether the pool was imported from another process. Host only."""
        return self.is_import and self.pool.is_open()

    @property
    def uuid(self):
        """The identity of a pool that is shared, made at the first access; else None. Host only."""
        return sharing_module().identity_of(self) if self.is_ipc_enabled else None

    def __reduce__(self):
        return sharing_module().reduce_resource(self)


cdef object sharing_module():
    return import_module("cuda.core._sharing")


cdef Buffer allocate_for(Buffer empty, _MemPool self, object size, Stream given):
    cdef pool_handle pool = share_open_pool(self)
    cdef CUdeviceptr pointer = 0
    cdef size_t wanted = size_from(size, "allocate(): size")
    cdef stream_handle order = given.native.share_open(given)
    if wanted != 0:
        try:
            with nogil:
                pointer = allocate_from_pool(pool, wanted, order)
        except OutOfMemoryError as error:
            raise describe_out_of_memory(pool, wanted, error) from None
        except CUDAError:
            refuse_import(self)
            raise
        if pointer == 0:
            raise RuntimeError("cannot perform memory operations on a capturing stream "
                               "(consider using GraphMemoryResource)")
    else:
        refuse_import(self)
    own_pool_memory(empty, self, pool, pointer, wanted, order)
    return empty


cdef int refuse_import(_MemPool self) except -1:
    if self.is_import:
        raise TypeError("Cannot allocate from a mapped IPC-enabled memory resource: only the "
                        "process that made the pool allocates from it")
    return 0


cdef int open_pool(_MemPool self, int allocation_type, int location_type, int id, bint is_new,
                   size_t max_size, bint is_shared=False) except -1:
    cdef pool_sharing sharing = pool_sharing.exportable if is_shared else pool_sharing.none
    if is_shared:
        sharing_module().check_available()
    cdef pool_place place
    place.type = <CUmemAllocationType>allocation_type
    place.location = <CUmemLocationType>location_type
    place.id = id
    self.device = id if location_type == CU_MEM_LOCATION_TYPE_DEVICE else -1
    self.pool = create_pool(place, max_size, sharing) if is_new else pool_that_is_there(place)
    if is_shared:
        sharing_module().opened(self)
    return 0


cdef bint may_use_pool(_MemPool self, int device) except -1:
    return pool_access(share_open_pool(self), device) != CU_MEM_ACCESS_FLAGS_PROT_NONE


cdef int let_use_pool(_MemPool self, const void* descriptions, size_t count) except -1:
    cdef pool_handle pool = share_open_pool(self)
    with nogil:
        set_pool_access(pool, <const CUmemAccessDesc*>descriptions, count)
    return 0


cdef pool_handle share_open_pool(_MemPool self) except *:
    """For what goes on while another thread may close the resource."""
    cdef pool_handle pool = share(self, self.pool)
    if not pool.is_open():  # the name is made for the error alone: it costs 100 ns
        check_open(False, type(self).__name__)
    return pool


cdef _MemPoolAttributes attributes_of(_MemPool self):
    cdef _MemPoolAttributes attributes
    cdef pool_handle pool = share_open_pool(self)
    with cython.critical_section(self):
        if self.known_attributes is None:
            attributes = _MemPoolAttributes.__new__(_MemPoolAttributes)
            attributes.pool = pool
            self.known_attributes = attributes
        return self.known_attributes


cdef dict pool_figures(const pool_handle& pool):
    """What the pool holds, in bytes; what the driver does not tell is left out."""
    figures = {}
    for figure, name in POOL_FIGURES.items():
        try:
            figures[figure] = read_attribute(pool, name)
        except CUDAError:  # the error at hand matters more
            continue
    return figures


cdef object describe_out_of_memory(const pool_handle& pool, size_t size, object error):
    """The driver's error with what was asked for and what there is."""
    cdef size_t free = 0, total = 0
    facts = pool_figures(pool)
    if try_call(driver.cuMemGetInfo, &free, &total) == CUDA_SUCCESS:
        facts["device_free"], facts["device_total"] = free, total
    known = ", ".join([f"{name.replace('_', ' ')} {value}" for name, value in facts.items()])
    device = pool.facts().device
    whose = "a memory pool of no device" if device < 0 else f"the memory pool of device {device}"
    text = (f"{error}\n{size} bytes asked of {whose} ({known}, all in bytes); free buffers, "
            "trim() other pools, or ask for less")
    return OutOfMemoryError(text, code=error.code, name=error.name, where=error.where,
                            requested=size, device_id=None if device < 0 else device, **facts)


cdef class _ShareablePool(_MemPool):
    """What resources over a pool share that other processes can import."""

    @classmethod
    def from_registry(cls, uuid):
        """The resource that stands for a shared pool in this process.

        Host only.

        Parameters
        ----------
        uuid : uuid.UUID
            The identity of the pool.

        Returns
        -------
        Self
            Of the class that this is called on.

        Raises
        ------
        RuntimeError
            If there is none.
        """
        return sharing_module().from_registry(cls, uuid)

    def register(self, uuid):
        """Let this resource stand for a shared pool, unless another one does.

        Host only.

        Parameters
        ----------
        uuid : uuid.UUID
            The identity of the pool.

        Returns
        -------
        Self
            The one that stands for it from now on.

        Raises
        ------
        RuntimeError
            If the pool is not shared.
        """
        return sharing_module().register(self, uuid)

    @property
    def allocation_handle(self):
        """What another process imports the pool by, an `IPCAllocationHandle`. Host only.

        Raises
        ------
        RuntimeError
            If the resource is not IPC-enabled, or closed.

        See Also
        --------
        cuMemPoolExportToShareableHandle : the driver function.
        """
        return sharing_module().allocation_handle(self)

    def get_allocation_handle(self):
        """Older spelling of `allocation_handle`. Host only.

        Returns
        -------
        IPCAllocationHandle
        """
        warn_deprecated(f"{type(self).__name__}.get_allocation_handle()", "allocation_handle")
        return self.allocation_handle
