# SPDX-License-Identifier: Apache-2.0
# VirtualMemoryResource: memory that is mapped into reserved addresses and can grow.


cdef CUresult wait_for_all_work(CUstream stream, void* arguments) \
        except? CUDA_ERROR_NOT_FOUND nogil:
    """Synchronize a stream, unless it is capturing: captured work does not run.

    Returns the first failure after one retry; the caller frees the memory in any case.
    """
    cdef CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE
    cdef CUresult queried = cydriver.cuStreamIsCapturing(stream, &status), synchronized
    if queried == CUDA_ERROR_INVALID_CONTEXT or queried == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
        return CUDA_SUCCESS  # default stream without a context, or blocked by a capture
    if queried != CUDA_SUCCESS and cydriver.cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS:
        return queried
    if status != CU_STREAM_CAPTURE_STATUS_NONE:
        return queried
    synchronized = cydriver.cuStreamSynchronize(stream)
    if synchronized != CUDA_SUCCESS:
        cydriver.cuStreamSynchronize(stream)
    return synchronized if queried == CUDA_SUCCESS else queried


cdef class VirtualMemoryResource(MemoryResource):
    """VirtualMemoryResource(device_id, config=None)\n--\n
    Memory mapped into a reserved address range, so that a buffer can grow at its address.

    Sizes are rounded up to the granularity of the driver. Closing a buffer synchronizes the stream
    and frees memory and addresses.

    Parameters
    ----------
    device_id : Device or int
        The device that owns the memory or, for host memory, uses it.
    config : VirtualMemoryResourceOptions or dict, optional
        Properties of the memory, and the devices that can access it.

    Raises
    ------
    RuntimeError
        If the device does not support virtual memory management, or GPUDirect RDMA if requested.
    ValueError
        If the value of an option is invalid.

    See Also
    --------
    cuMemCreate, cuMemMap : the driver functions.
    """

    def __init__(self, device_id, config=None):
        set_up_resource(self, Device(device_id), options_from_config(config))

    def allocate(self, size, *, stream=None):
        """Map new memory at new addresses; any stream can use it immediately.

        Blocks the host. A failure leaves nothing allocated.

        Parameters
        ----------
        size : int
            Size in bytes, rounded up to the granularity; the buffer has the rounded size.
        stream : Stream, optional
            The stream that a `close` without a stream synchronizes; the default stream if None.

        Returns
        -------
        Buffer

        Raises
        ------
        OutOfMemoryError
            If there is not enough memory, or no address range of that size.

        See Also
        --------
        cuMemCreate, cuMemAddressReserve, cuMemMap, cuMemSetAccess : the driver functions.
        """
        cdef Stream order = None if stream is None else accept_stream(stream)
        cdef object options = require_set(self, self.options)
        cdef CUmemAllocationProp properties = virtual_properties(self)
        cdef size_t requested_size = size_from(size, "allocate(): size")
        cdef size_t rounded_size = rounded_up(requested_size, options, &properties)
        cdef _Extents extents = _Extents()
        cdef CUdeviceptr address
        cdef Buffer buffer
        release_deferred(self)
        try:
            alignment, hint = requested_range(options)
            address = extents.reserve(rounded_size, alignment, hint)
            extents.map_new(address, rounded_size, &properties)
            set_virtual_access(address, rounded_size, options, &properties.location)
            if order is None:
                buffer = wrap_at_once(self, address, rounded_size)
            else:
                buffer = wrap_memory(Buffer, address, rounded_size, self, None, order)
            extents.set_buffer(buffer)
        except BaseException:
            release_or_defer(self, extents)
            raise
        self.allocations[address] = extents
        return buffer

    def deallocate(self, ptr, size, *, stream=None):
        """Unmap the memory and free its addresses, after synchronizing `stream` unless it is None.

        Blocks the host. Has no effect in a forked child process: the parent owns the memory.

        Parameters
        ----------
        ptr : int
            The address of an allocation.
        size : int
            Size in bytes; ignored for memory that this resource allocated.
        stream : Stream, optional
            The stream that may still use the memory.

        Raises
        ------
        ValueError
            If the address is inside an allocation of this resource, not its start.

        Warns
        -----
        RuntimeWarning
            If an open Buffer owns the allocation or a part of it; then the call has no effect.

        See Also
        --------
        cuMemUnmap, cuMemAddressFree : the driver functions.
        """
        cdef _Extents extents = require_set(self, self.allocations).get(ptr)
        if extents is None:
            check_outside(self, ptr, size)
            _unmap(ptr, size)
            _free_addresses(ptr, size)
            return
        if extents.has_open_buffer():
            PyErr_WarnEx(RuntimeWarning, "VirtualMemoryResource.deallocate() has no effect: a "
                         f"Buffer owns the allocation at {int(ptr):#x} and frees it when it is "
                         "closed; call Buffer.close() instead".encode(), 1)
            return
        if self.allocations.pop(ptr, None) is not extents:  # another thread frees it
            return
        if extents.process != os.getpid():
            return
        try:
            if stream is not None:
                run_on_stream(accept_stream(stream), wait_for_all_work, NULL,
                              "cuStreamSynchronize")
        finally:
            try:
                extents.release()
            except CUDAError:
                if extents.reservations:
                    self.allocations[ptr] = extents  # another call frees the rest
                raise
            finally:
                release_deferred(self)

    def modify_allocation(self, buf, new_size, config=None):
        """Grow the memory of a buffer, or apply the access rights of the options.

        Blocks the host. The buffer keeps its contents and remains the same object. It keeps its
        address if the following addresses are free. Otherwise it moves to a larger range, after
        the current context is synchronized. A failure leaves the buffer unchanged, except that it
        stays moved if the driver fails to free the old addresses. The next call retries to release
        what the driver failed to release.

        Parameters
        ----------
        buf : Buffer
            A buffer of this resource.
        new_size : int
            Size in bytes, rounded up to the granularity. A size that is not larger only sets the
            access.
        config : VirtualMemoryResourceOptions or dict, optional
            Replaces the options of the resource.

        Returns
        -------
        Buffer
            `buf`.

        Raises
        ------
        BufferError
            If the memory must move while memoryviews, parts or prepared launches refer to it.
        OutOfMemoryError
            If there is not enough memory.
        ValueError
            If the buffer belongs to another resource.

        See Also
        --------
        cuMemCreate, cuMemAddressReserve, cuMemMap, cuMemSetAccess : the driver functions.
        """
        if not isinstance(buf, Buffer):
            raise TypeError(f"buf must be a Buffer, got {type(buf).__name__}")
        cdef Buffer buffer = <Buffer>buf
        cdef size_t requested_size = size_from(new_size, "modify_allocation(): new_size")
        before = self.options
        after = before if config is None else options_from_config(config)
        check_open(buffer.fields.is_open, "Buffer")
        if buffer.resource is not self or buffer.fields.pointer not in self.allocations:
            raise ValueError("modify_allocation: the buffer was not allocated by this resource")
        with cython.critical_section(buffer):
            check_open(buffer.fields.is_open, "Buffer")
            buffer.exports += 1  # attributes of options may be user code, which must not close it
        try:
            release_deferred(self)
            self.options = after
            if (requested_size > buffer.fields.size
                    and import_module("cuda.core._utils.version").follows_release(1, 3)):
                return grow_into_new_buffer(self, buffer, requested_size)
            change_allocation(self, buffer, requested_size)
        except BaseException:
            self.options = before
            raise
        finally:
            with cython.critical_section(buffer):
                buffer.exports -= 1
        return buf

    @property
    def is_ipc_enabled(self):
        """Whether the options let other processes import new buffers. Host only.

        True on Linux if the option `handle_type` is ``"posix_fd"``, its default, and
        `location_type` is not ``"host"``.
        """
        return is_shareable(self)

    @property
    def device(self):
        """The Device that owns the memory; None for host memory. Host only."""
        return Device(self.device_ordinal) if self.is_on_device else None

    @property
    def config(self):
        """The VirtualMemoryResourceOptions; changes apply to later allocations. Host only."""
        return self.options

    @property
    def device_id(self):
        """The ordinal of the device; -1 for host memory. Host only."""
        return self.device_ordinal if self.is_on_device else -1

    @property
    def is_device_accessible(self):
        """Whether the memory is device memory. Host only."""
        return self.is_on_device

    @property
    def is_host_accessible(self):
        """Whether the memory is host memory. Host only."""
        return not self.is_on_device

    def __reduce__(self):
        return reduce_virtual_resource(self)

    def __repr__(self):
        return f"<{type(self).__name__} device={self.device!r}>"


cdef int check_outside(VirtualMemoryResource self, CUdeviceptr address, size_t size) except -1:
    """Reject a range that covers a part of an allocation."""
    cdef _Extents each
    for begin, each in list(self.allocations.items()):
        if each.overlaps(address, size):
            raise ValueError(f"VirtualMemoryResource.deallocate(): {size} bytes at {address:#x} "
                             f"cover a part of the allocation at {begin:#x}: pass that address, or "
                             "close its Buffer")


cdef int change_allocation(VirtualMemoryResource self, Buffer buffer,
                           size_t requested_size) except -1:
    cdef CUmemAllocationProp properties = virtual_properties(self)
    cdef CUdeviceptr address = buffer.fields.pointer
    cdef _Extents extents = self.allocations[address]
    if requested_size <= buffer.fields.size:
        return set_virtual_access(address, extents.mapped_size(), self.options,
                                  &properties.location)
    require_own(extents)
    cdef size_t new_size = rounded_up(requested_size, self.options, &properties)
    if grow_in_place(self, buffer, extents, new_size, &properties):
        return 0
    return move_to_larger_range(self, buffer, extents, new_size, &properties)


cdef int require_own(_Extents extents) except -1:
    if extents.is_import:
        raise ValueError("modify_allocation: the buffer was imported from another process, and "
                         "only that process can grow it: grow it there and import it again")


cdef Buffer grow_into_new_buffer(VirtualMemoryResource self, Buffer buffer, size_t requested_size):
    """Return a larger Buffer that shares the memory; the old one stays open, as in 1.3."""
    cdef CUmemAllocationProp properties = virtual_properties(self)
    cdef CUdeviceptr old_address = buffer.fields.pointer
    cdef _Extents extents = self.allocations[old_address], larger = _Extents()
    require_own(extents)
    cdef size_t new_size = rounded_up(requested_size, self.options, &properties)
    cdef CUdeviceptr address
    cdef Buffer result
    try:
        address = map_larger_range(self, larger, extents, old_address, new_size, &properties)
        result = wrap_at_once(self, address, new_size)
        larger.set_buffer(result)
    except BaseException:
        release_or_defer(self, larger)
        raise
    self.allocations[address] = larger
    return result


cdef CUdeviceptr map_larger_range(VirtualMemoryResource self, _Extents larger, _Extents extents,
                                  CUdeviceptr old_address, size_t new_size,
                                  const CUmemAllocationProp* properties) except? 0:
    """Map the memory of an allocation, and new memory after it, at another address."""
    cdef CUdeviceptr address = larger.reserve(new_size, self.options.addr_align or 0, 0)
    cdef CUdeviceptr mapped_address
    cdef size_t size, old_size = extents.mapped_size()
    for mapped_address, size in extents.mappings:
        larger.map_alias(address + mapped_address - old_address, mapped_address, size)
    larger.map_new(address + old_size, new_size - old_size, properties)
    set_virtual_access(address, new_size, self.options, &properties.location)
    return address


cdef int resize(Buffer buffer, CUdeviceptr address, size_t size) except -1:
    """Set the range of the buffer and of the hidden Buffer that owns shared memory."""
    buffer.fields.pointer, buffer.fields.size = address, size
    if buffer.shared is not None:
        buffer.shared.fields.pointer, buffer.shared.fields.size = address, size


cdef bint grow_in_place(VirtualMemoryResource self, Buffer buffer, _Extents extents,
                        size_t new_size, const CUmemAllocationProp* properties) except -1:
    """Return False if the addresses after the buffer are not free."""
    cdef CUdeviceptr address = buffer.fields.pointer
    cdef size_t old_size = buffer.fields.size, added_size = new_size - buffer.fields.size
    cdef _Extents added = _Extents()
    cdef CUdeviceptr end = address + old_size
    try:
        try:
            if added.reserve(added_size, 0, end) != end:
                added.release()
                return False
        except CUDAError:  # no such range: the caller tries a larger one and raises its error
            if added.reservations:
                raise
            return False
        added.map_new(end, added_size, properties)
        set_virtual_access(address, new_size, self.options, &properties.location)
    except BaseException:
        release_or_defer(self, added)
        raise
    extents.reservations += added.reservations
    extents.mappings += added.mappings
    resize(buffer, address, new_size)
    return True


cdef int move_to_larger_range(VirtualMemoryResource self, Buffer buffer, _Extents extents,
                              size_t new_size, const CUmemAllocationProp* properties) except -1:
    cdef CUdeviceptr old_address = buffer.fields.pointer
    cdef CUdeviceptr new_address
    cdef _Extents larger = _Extents()
    check_movable(buffer)
    wait_for_context()
    try:
        new_address = map_larger_range(self, larger, extents, old_address, new_size, properties)
        check_movable(buffer)
    except BaseException:
        release_or_defer(self, larger)
        raise
    larger.claim = extents.claim
    self.allocations[new_address] = larger
    del self.allocations[old_address]
    resize(buffer, new_address, new_size)
    return release_or_defer(self, extents)


cdef int check_movable(Buffer buffer) except -1:
    if buffer.exports > 1 or buffer.shared is not None:  # one is that of modify_allocation
        raise BufferError("modify_allocation: the memory must move, but other objects refer to it: "
                          "release memoryviews, parts and prepared launches first")


cdef int wait_for_context() except -1:
    """Synchronize the current context, whose work may use the memory that moves."""
    cdef CUresult code
    with nogil:
        code = cydriver.cuCtxSynchronize()
    if code != CUDA_ERROR_INVALID_CONTEXT:
        checked(code, "cuCtxSynchronize")
