# SPDX-License-Identifier: Apache-2.0
# _MemPool: the base of the resources that allocate from a memory pool of the driver.

from libc.stdint cimport SIZE_MAX


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


# Attributes of OutOfMemoryError, and the pool attributes that they report.
cdef dict POOL_FIGURES = {
    "used": "used_mem_current", "reserved": "reserved_mem_current", "peak": "used_mem_high"}


cdef object read_attribute(const pool_handle& pool, str name):
    attribute, kind = POOL_ATTRIBUTES[name]
    return kind(pool_attribute(pool, <CUmemPool_attribute><int>attribute))


cdef int write_attribute(const pool_handle& pool, str name, uint64_t value) except -1:
    set_pool_attribute(pool, <CUmemPool_attribute><int>POOL_ATTRIBUTES[name][0], value)


@cython.final
cdef class _MemPoolAttributes:
    """Sizes and reuse policies of a memory pool.

    The `attributes` of a resource returns this object. It keeps the pool alive, so it remains
    usable after the resource is closed. Sizes are in bytes. Host only.

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
        """Size of the free memory that the pool keeps when a stream synchronizes. Settable."""
        return read_attribute(self.pool.get(self), "release_threshold")

    @release_threshold.setter
    def release_threshold(self, value):
        write_attribute(self.pool.get(self), "release_threshold",
                        size_from(value, "release_threshold"))

    @property
    def reuse_follow_event_dependencies(self):
        """Whether memory is reused across streams that an event orders. Settable."""
        return read_attribute(self.pool.get(self), "reuse_follow_event_dependencies")

    @reuse_follow_event_dependencies.setter
    def reuse_follow_event_dependencies(self, bint value):
        write_attribute(self.pool.get(self), "reuse_follow_event_dependencies", value)

    @property
    def reuse_allow_opportunistic(self):
        """Whether memory is reused across streams once its free has completed. Settable."""
        return read_attribute(self.pool.get(self), "reuse_allow_opportunistic")

    @reuse_allow_opportunistic.setter
    def reuse_allow_opportunistic(self, bint value):
        write_attribute(self.pool.get(self), "reuse_allow_opportunistic", value)

    @property
    def reuse_allow_internal_dependencies(self):
        """Whether the driver may make streams wait for each other to reuse memory. Settable."""
        return read_attribute(self.pool.get(self), "reuse_allow_internal_dependencies")

    @reuse_allow_internal_dependencies.setter
    def reuse_allow_internal_dependencies(self, bint value):
        write_attribute(self.pool.get(self), "reuse_allow_internal_dependencies", value)

    @property
    def reserved_mem_current(self):
        """Size of the memory that the pool currently reserves."""
        return read_attribute(self.pool.get(self), "reserved_mem_current")

    @property
    def reserved_mem_high(self):
        """Peak of `reserved_mem_current` since the last reset; assign 0 to reset it."""
        return read_attribute(self.pool.get(self), "reserved_mem_high")

    @reserved_mem_high.setter
    def reserved_mem_high(self, value):
        write_attribute(self.pool.get(self), "reserved_mem_high", only_zero(value))

    @property
    def used_mem_current(self):
        """Size of the memory that is currently allocated from the pool."""
        return read_attribute(self.pool.get(self), "used_mem_current")

    @property
    def used_mem_high(self):
        """Peak of `used_mem_current` since the last reset; assign 0 to reset it."""
        return read_attribute(self.pool.get(self), "used_mem_high")

    @used_mem_high.setter
    def used_mem_high(self, value):
        write_attribute(self.pool.get(self), "used_mem_high", only_zero(value))

    def reset_high_water_marks(self):
        """Reset both peaks to the current sizes."""
        self.reserved_mem_high = 0
        self.used_mem_high = 0

    def __repr__(self):
        if not self.pool.is_set():
            return "<_MemPoolAttributes>"
        pool = &self.pool.get(self)
        values = [f"{name}={read_attribute(pool[0], name)!r}" for name in POOL_ATTRIBUTES]
        return f"_MemPoolAttributes({', '.join(values)})"


cdef object only_zero(object value):
    if value != 0:
        raise ValueError(f"a high-water mark can only be reset to 0, got {shown(value)}")
    return 0


cdef class _MemPool(MemoryResource):
    """Base class of the resources that allocate from a memory pool of the driver."""

    @cython.binding(True)
    def allocate(self, size, stream=NOT_GIVEN):
        """Allocate memory from the pool.

        Stream-ordered: the memory may be used on `stream`, and on streams that wait for it.

        Parameters
        ----------
        size : int
            Size in bytes; 0 returns a buffer without an address.
        stream : Stream
            The stream that orders the allocation and, by default, the deallocation.

        Returns
        -------
        Buffer

        Raises
        ------
        OutOfMemoryError
            If neither the pool nor the device has enough free memory.
        RuntimeError
            If the stream is capturing, or the resource is closed.

        See Also
        --------
        cuMemAllocFromPoolAsync : the driver function.
        """
        return allocate_pool_buffer(Buffer.__new__(Buffer), self, size,
                                    stream_or_default(stream, "allocate()"))

    @cython.binding(True)
    def deallocate(self, ptr, size_t size=0, stream=NOT_GIVEN):
        """Free memory of the pool.

        Stream-ordered. Also works after `close`.

        Parameters
        ----------
        ptr : int
            The address of the allocation; 0 has no effect.
        size : int
            Ignored; part of the `MemoryResource` protocol.
        stream : Stream
            The stream that orders the deallocation.

        See Also
        --------
        cuMemFreeAsync : the driver function.
        """
        cdef Stream order = stream_or_default(stream, "deallocate()")
        free_now(address_from(ptr), memory_kind.pool, order, context_handle())

    def close(self):
        """Release the pool. Host only.

        Its buffers remain valid; a pool that this resource created is destroyed with the last of
        them. Closing twice has no effect.

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
        """The pool as `cuda.bindings.driver.CUmemoryPool`; 0 if closed. Host only."""
        return as_bindings("CUmemoryPool", self.pool.raw())

    @property
    def attributes(self):
        """Sizes and reuse policies of the pool; always the same object. Host only."""
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

    def trim(self, min_bytes_to_keep=0):
        """Return free memory of the pool to the device.

        Host only.

        Parameters
        ----------
        min_bytes_to_keep : int
            Size in bytes that the pool may keep.

        See Also
        --------
        cuMemPoolTrimTo : the driver function.
        """
        cdef pool_handle pool = share_open_pool(self)
        cdef size_t size = size_from(min_bytes_to_keep, "trim(): min_bytes_to_keep")
        with nogil:
            trim_pool(pool, size)

    @property
    @cython.critical_section
    def is_handle_owned(self):
        """Whether this resource created the pool and destroys it. Host only."""
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
        """UUID of a shared pool, created at the first access; else None. Host only."""
        return sharing_module().identity_of(self) if self.is_ipc_enabled else None

    def __reduce__(self):
        return sharing_module().reduce_resource(self)


cdef Buffer allocate_pool_buffer(Buffer empty, _MemPool self, object size, Stream stream):
    cdef pool_handle pool = share_open_pool(self)
    cdef CUdeviceptr pointer = 0
    cdef size_t bytes_requested = size_from(size, "allocate(): size")
    cdef stream_handle order = stream.native.share_open(stream)
    if bytes_requested != 0:
        try:
            pointer = allocate_from_pool(pool, bytes_requested, order)
        except OutOfMemoryError as error:
            raise describe_out_of_memory(pool, bytes_requested, error) from None
        except CUDAError:
            refuse_import(self)
            raise
        if pointer == 0:
            raise RuntimeError(f"{type(self).__name__} cannot perform memory operations on a "
                               "capturing stream (consider using GraphMemoryResource).")
    else:
        refuse_import(self)
    open_pool_buffer(empty, self, pool, pointer, bytes_requested, order)
    return empty


cdef int refuse_import(_MemPool self) except -1:
    if self.is_import:
        raise TypeError("Cannot allocate from a mapped IPC-enabled memory resource: only the "
                        "process that made the pool allocates from it")


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
        sharing_module().enable_pool_transfer(self)


cdef size_t max_size_of(object options) except? 0:
    if options is None or options.max_size is None:
        return 0
    return size_from(options.max_size, f"{type(options).__name__}.max_size")


cdef bint has_pool_access(_MemPool self, int device) except -1:
    return pool_access(share_open_pool(self), device) != CU_MEM_ACCESS_FLAGS_PROT_NONE


cdef int set_access_of_pool(_MemPool self, const void* descriptions, size_t count) except -1:
    cdef pool_handle pool = share_open_pool(self)
    with nogil:
        set_pool_access(pool, <const CUmemAccessDesc*>descriptions, count)


cdef pool_handle share_open_pool(_MemPool self) except *:
    """Return a reference that remains valid if another thread closes the resource."""
    cdef pool_handle pool = share(self, self.pool)
    if not pool.is_open():  # reading the class name takes 100 ns
        check_open(False, type(self).__name__)
    return pool


cdef _MemPoolAttributes attributes_of(_MemPool self):
    cdef _MemPoolAttributes attributes
    cdef pool_handle pool = share_open_pool(self)
    with cython.critical_section(self):
        if self.known_attributes is None:
            attributes = _MemPoolAttributes.__new__(_MemPoolAttributes)
            attributes.pool.set(pool)
            self.known_attributes = attributes
        return self.known_attributes


cdef dict pool_figures(const pool_handle& pool):
    """Return sizes of the pool in bytes, without those that the driver fails to return."""
    figures = {}
    for figure, name in POOL_FIGURES.items():
        try:
            figures[figure] = read_attribute(pool, name)
        except CUDAError:  # the caller already raises another error
            continue
    try:
        limit = pool_attribute(pool, CU_MEMPOOL_ATTR_MAX_POOL_SIZE)
    except CUDAError:  # drivers before CUDA 13.0
        limit = 0
    return {**figures, "limit": limit} if 0 < limit < SIZE_MAX else figures


cdef object describe_out_of_memory(const pool_handle& pool, size_t size, object error):
    """Return the driver's error with the requested size and the sizes of the pool."""
    cdef size_t free, total
    facts = pool_figures(pool)
    if try_call(driver.cuMemGetInfo, &free, &total) == CUDA_SUCCESS:
        facts["device_free"], facts["device_total"] = free, total
    known = ", ".join([f"{name.replace('_', ' ')} {value}" for name, value in facts.items()])
    device = pool.facts().device
    owner = "a memory pool without a device"
    if device >= 0:
        owner = f"the memory pool of device {device}"
    if size > facts.get("limit", size):
        advice = f"the request exceeds its max_size of {facts['limit']}: raise it, or request less"
    elif 0 <= device == current_ordinal() and size > total > 0:
        advice = f"the request exceeds the {total} bytes of the device: request less"
    else:
        advice = "free buffers, trim() other pools, "
        advice += f"{'raise max_size, ' if 'limit' in facts else ''}or request less"
    text = f"{error}\n{size} bytes requested from {owner} ({known}, all in bytes); {advice}"
    return OutOfMemoryError(text, code=error.code, name=error.name, where=error.where,
                            requested=size, device_id=None if device < 0 else device, **facts)


cdef class _ShareablePool(_MemPool):
    """Base class of the resources whose pool other processes can import."""

    @classmethod
    def from_registry(cls, uuid):
        """Return the resource that is registered for a shared pool in this process.

        Host only.

        Parameters
        ----------
        uuid : uuid.UUID
            UUID of the pool.

        Returns
        -------
        Self
            An instance of this class.

        Raises
        ------
        RuntimeError
            If no resource is registered.
        """
        return sharing_module().from_registry(cls, uuid)

    def register(self, uuid):
        """Register this resource for a shared pool, unless another one is registered.

        Host only.

        Parameters
        ----------
        uuid : uuid.UUID
            UUID of the pool.

        Returns
        -------
        Self
            The registered resource.

        Raises
        ------
        RuntimeError
            If the pool is not shared.
        """
        return sharing_module().register(self, uuid)

    @property
    def allocation_handle(self):
        """The `IPCAllocationHandle` by which another process imports the pool. Host only.

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
