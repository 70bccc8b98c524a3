# SPDX-License-Identifier: Apache-2.0
# Memory that is mapped into reserved addresses, and can grow there.

cdef CUresult wait_for_all_work(CUstream stream, void* arguments) \
        except? CUDA_ERROR_NOT_FOUND nogil:
    """What a stream records into a graph is not running: there is nothing to wait for.

    The memory goes in any case, so that what fails is tried once more; the failure is told.
    """
    cdef CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE
    cdef CUresult asked = cydriver.cuStreamIsCapturing(stream, &status), waited
    if asked == CUDA_ERROR_INVALID_CONTEXT or asked == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
        return CUDA_SUCCESS  # a default stream of no context, or one that waits for a capture
    if asked != CUDA_SUCCESS and cydriver.cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS:
        return asked
    if status != CU_STREAM_CAPTURE_STATUS_NONE:
        return asked
    waited = cydriver.cuStreamSynchronize(stream)
    if waited != CUDA_SUCCESS:
        cydriver.cuStreamSynchronize(stream)
    return waited if asked == CUDA_SUCCESS else asked


cdef class VirtualMemoryResource(MemoryResource):
    """VirtualMemoryResource(device_id, config=None)\n--\n
    Memory that is mapped into addresses reserved for it, so that it can grow where it is.

    Sizes are rounded up to the granularity of the driver. Closing a buffer waits for the stream,
    and gives memory and addresses back.

    Parameters
    ----------
    device_id : Device or int
        The device that the memory is of or, for memory of the host, used by.
    config : VirtualMemoryResourceOptions or dict, optional
        How the memory is made, and who may use it.

    Raises
    ------
    RuntimeError
        If the device has no virtual memory management, or no GPUDirect RDMA where it is asked for.
    ValueError
        If an option is not one of its values.

    See Also
    --------
    cuMemCreate, cuMemMap : the driver functions.
    """

    def __init__(self, device_id, config=None):
        options = accepted_config(config)
        cdef Device device = Device(device_id)
        self.is_on_device = options.location_type == "device"
        self.near = device.ordinal
        has = device.properties
        if not has.virtual_memory_management_supported:
            raise RuntimeError("VirtualMemoryResource requires CUDA VMM API support, which device "
                               f"{device.ordinal} lacks")
        if options.gpu_direct_rdma and not has.gpu_direct_rdma_with_cuda_vmm_supported:
            raise RuntimeError("GPU Direct RDMA is not supported on this device: make the resource "
                               "with gpu_direct_rdma=False")
        self.options = options
        self.allocations = {}
        self.stayed = []

    def allocate(self, size, *, stream=None):
        """Map new memory at new addresses; usable at once on any stream.

        Blocks the host. All is done or nothing.

        Parameters
        ----------
        size : int
            In bytes, rounded up to the granularity; the buffer has the rounded size.
        stream : Stream, optional
            What a later `close` without a stream waits for; the default stream if None.

        Returns
        -------
        Buffer

        Raises
        ------
        OutOfMemoryError
            If there is not that much memory, or no such range of addresses.

        See Also
        --------
        cuMemCreate, cuMemAddressReserve, cuMemMap, cuMemSetAccess : the driver functions.
        """
        cdef Stream order = None if stream is None else accept_stream(stream)
        cdef object options = self.options
        cdef CUmemAllocationProp how = virtual_properties(self)
        cdef size_t whole = rounded_up(size_from(size, "allocate(): size"), options, &how)
        cdef _Extents extents = _Extents()
        cdef CUdeviceptr at
        release_what_stayed(self)
        try:
            at = extents.reserve(whole, options.addr_align or 0, options.addr_hint or 0)
            extents.map_new(at, whole, &how)
            set_virtual_access(at, whole, options, &how.location)
            if order is None:
                buffer = wrap_at_once(self, at, whole)
            else:
                buffer = wrap_memory(Buffer, at, whole, self, None, order)
        except BaseException:
            release_or_keep(self, extents)
            raise
        self.allocations[at] = extents
        return buffer

    def deallocate(self, ptr, size, *, stream=None):
        """Unmap the memory and free its addresses, after waiting for `stream` when one is given.

        Blocks the host. In the child of a fork nothing is done: the memory is the parent's.

        Parameters
        ----------
        ptr : int
            The address of an allocation.
        size : int
            In bytes; not needed for what this resource allocated.
        stream : Stream, optional
            What may still use the memory.

        See Also
        --------
        cuMemUnmap, cuMemAddressFree : the driver functions.
        """
        cdef _Extents extents = self.allocations.pop(ptr, None)
        if extents is None:
            _unmap(ptr, size)
            _free_addresses(ptr, size)
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
                    self.allocations[ptr] = extents  # the rest goes with another call
                raise
            finally:
                release_what_stayed(self)

    def modify_allocation(self, buf, new_size, config=None):
        """Let the memory of a buffer grow, or give it the access that the options say now.

        Blocks the host. The buffer keeps its contents and stays the same object. It keeps its
        address where the addresses behind it are free; elsewhere it moves to a larger range, after
        the work of the current context is done. If something fails, it is as it was; only where the
        memory has moved, and the driver does not take the old addresses back, it stays moved. What
        the driver did not take back is tried again at the next call.

        Parameters
        ----------
        buf : Buffer
            Of this resource.
        new_size : int
            In bytes, rounded up to the granularity. One that is not larger sets the access only.
        config : VirtualMemoryResourceOptions or dict, optional
            Replaces the options of the resource, from here on.

        Returns
        -------
        Buffer
            `buf`.

        Raises
        ------
        BufferError
            If the memory has to move while memoryviews, parts or prepared launches look at it.
        OutOfMemoryError
            If there is not that much memory.
        ValueError
            If the buffer is of another resource.

        See Also
        --------
        cuMemCreate, cuMemAddressReserve, cuMemMap, cuMemSetAccess : the driver functions.
        """
        if not isinstance(buf, Buffer):
            raise TypeError(f"buf must be a Buffer, got {type(buf).__name__}")
        cdef Buffer buffer = <Buffer>buf
        cdef size_t wanted = size_from(new_size, "modify_allocation(): new_size")
        check_open(buffer.fields.is_open, "Buffer")
        if buffer.resource is not self or buffer.fields.pointer not in self.allocations:
            raise ValueError("modify_allocation: the buffer was not allocated by this resource")
        release_what_stayed(self)
        before = self.options
        if config is not None:
            self.options = accepted_config(config)
        try:
            change_allocation(self, buffer, wanted)
        except BaseException:
            self.options = before
            raise
        return buf

    @property
    def device(self):
        """The Device that the memory is of; None for memory of the host. Host only."""
        return Device(self.near) if self.is_on_device else None

    @property
    def config(self):
        """The VirtualMemoryResourceOptions, which may be changed. Host only."""
        return self.options

    @property
    def device_id(self):
        """The ordinal of the device; -1 for memory of the host. Host only."""
        return self.near if self.is_on_device else -1

    @property
    def is_device_accessible(self):
        """Whether the memory lies on a device. Host only."""
        return self.is_on_device

    @property
    def is_host_accessible(self):
        """Whether the memory lies on the host. Host only."""
        return not self.is_on_device

    def __repr__(self):
        return f"<{type(self).__name__} device={self.device!r}>"


cdef object accepted_config(object given):
    cls = public_object("VirtualMemoryResourceOptions")
    options = as_options(given, cls, "VirtualMemoryResource options")
    options = cls() if options is None else options
    check_virtual_options(options)
    return options


cdef CUmemAllocationProp virtual_properties(VirtualMemoryResource self) except *:
    check_virtual_options(self.options)  # they may have been changed
    kind = self.options.location_type
    if (kind == "device") != self.is_on_device:
        raise ValueError(f"location_type={kind!r}: memory of a resource stays on the device or on "
                         "the host; make another resource")
    cdef int place = self.near if self.is_on_device else 0
    if kind == "host_numa":
        place = Device(self.near).properties.host_numa_id
        if place < 0:
            raise RuntimeError("Cannot determine host NUMA ID: use location_type='host'")
    elif kind == "host_numa_current":
        place = numa_node_of_this_thread()
    return properties_for(self.options, place)


cdef extern from "sys/syscall.h" nogil:
    long SYS_getcpu


cdef extern from "unistd.h" nogil:
    long system_call "syscall"(long number, unsigned* processor, unsigned* node, void* unused)


cdef int numa_node_of_this_thread() except -1:
    """By the system call: what wraps it is younger than the C libraries that are supported."""
    cdef unsigned node = 0
    if system_call(SYS_getcpu, NULL, &node, NULL) != 0:
        PyErr_SetFromErrno(OSError)
    return <int>node


cdef int change_allocation(VirtualMemoryResource self, Buffer buffer, size_t wanted) except -1:
    cdef CUmemAllocationProp how = virtual_properties(self)
    cdef CUdeviceptr at = buffer.fields.pointer
    cdef size_t old = buffer.fields.size
    cdef _Extents extents = self.allocations[at]
    if wanted <= old:
        return set_virtual_access(at, old, self.options, &how.location)
    cdef size_t new = rounded_up(wanted, self.options, &how)
    if grow_in_place(self, buffer, extents, new, &how):
        return 0
    return move_to_larger_range(self, buffer, extents, new, &how)


cdef int release_or_keep(VirtualMemoryResource self, _Extents extents) except -1:
    """Give back what a call that failed has made; what the driver keeps is tried again later."""
    try:
        return extents.release()
    except CUDAError:
        if extents.reservations:
            self.stayed.append(extents)
        raise


cdef int release_what_stayed(VirtualMemoryResource self) except -1:
    """Once more, at each call: that it failed was raised when it happened first."""
    cdef _Extents each
    if not self.stayed:
        return 0
    pending, self.stayed = self.stayed, []
    for each in pending:
        try:
            if each.process == os.getpid():
                each.release()
        except CUDAError:
            if each.reservations:
                self.stayed.append(each)
    return 0


cdef int resize(Buffer buffer, CUdeviceptr at, size_t size) except -1:
    """The buffer, and who keeps its memory for others, see the change."""
    buffer.fields.pointer, buffer.fields.size = at, size
    if buffer.shared is not None:
        buffer.shared.fields.pointer, buffer.shared.fields.size = at, size
    return 0


cdef bint grow_in_place(VirtualMemoryResource self, Buffer buffer, _Extents extents, size_t new,
                        const CUmemAllocationProp* how) except -1:
    """False when the addresses behind the buffer are taken."""
    cdef CUdeviceptr at = buffer.fields.pointer
    cdef size_t old = buffer.fields.size, more = new - buffer.fields.size
    cdef _Extents added = _Extents()
    cdef CUdeviceptr behind = at + old
    try:
        try:
            if added.reserve(more, 0, behind) != behind:
                added.release()
                return False
        except CUDAError:  # no such range: a larger one is tried next, and that error is told
            if added.reservations:
                raise
            return False
        added.map_new(behind, more, how)
        set_virtual_access(at, new, self.options, &how.location)
    except BaseException:
        release_or_keep(self, added)
        raise
    extents.reservations += added.reservations
    extents.mappings += added.mappings
    resize(buffer, at, new)
    return True


cdef int move_to_larger_range(VirtualMemoryResource self, Buffer buffer, _Extents extents,
                              size_t new, const CUmemAllocationProp* how) except -1:
    cdef CUdeviceptr old = buffer.fields.pointer
    cdef size_t old_size = buffer.fields.size
    cdef CUdeviceptr at, place
    cdef size_t size
    cdef _Extents larger = _Extents()
    if buffer.exports or buffer.shared is not None:
        raise BufferError("modify_allocation: the memory has to move, and others look at it: "
                          "release memoryviews, parts and prepared launches first")
    wait_for_context()
    try:
        at = larger.reserve(new, self.options.addr_align or 0, 0)
        for place, size in extents.mappings:
            larger.map_same(at + place - old, place, size)
        larger.map_new(at + old_size, new - old_size, how)
        set_virtual_access(at, new, self.options, &how.location)
    except BaseException:
        release_or_keep(self, larger)
        raise
    self.allocations[at] = larger
    del self.allocations[old]
    resize(buffer, at, new)
    return release_or_keep(self, extents)


cdef int wait_for_context() except -1:
    """What runs in the current context may use memory that is about to move."""
    cdef CUresult code
    with nogil:
        code = cydriver.cuCtxSynchronize()
    if code != CUDA_ERROR_INVALID_CONTEXT:
        checked(code, "cuCtxSynchronize")
    return 0
