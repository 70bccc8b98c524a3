# SPDX-License-Identifier: Apache-2.0
# _SynchronousMemoryResource: device memory without a pool.


cdef class _SynchronousMemoryResource(MemoryResource):
    """Device memory of a device without memory pools.

    See Also
    --------
    cuMemAlloc, cuMemFree : the driver functions.
    """

    def __init__(self, device_id):
        cdef Device device = Device(device_id)
        self.device = device.device_id
        self.context = retain_primary_context(self.device)

    @cython.binding(True)
    def allocate(self, size, stream=NOT_GIVEN):
        """Take memory, usable at once on any stream.

        Blocks the host.

        See Also
        --------
        cuMemAlloc : the driver function.
        """
        stream_or_default(stream, "allocate()")
        cdef CUdeviceptr pointer = 0
        cdef size_t wanted = size_from(size, "allocate(): size")
        if wanted:
            with nogil:
                pointer = allocate_in_context(self.context, wanted)
        return wrap_resource_memory(self, pointer, wanted, self.context)

    @cython.binding(True)
    def deallocate(self, ptr, size_t size=0, stream=NOT_GIVEN):
        """Give memory back, after waiting for `stream`.

        Blocks the host. `ptr` is what was allocated, `size` is not needed.

        See Also
        --------
        cuMemFree : the driver function.
        """
        free_now(address_from(ptr), memory_kind.device, stream, self.context)

    @property
    def is_device_accessible(self):
        """True: kernels may use the memory. Host only."""
        return True

    @property
    def is_host_accessible(self):
        """False: the host must copy. Host only."""
        return False

    @property
    def device_id(self):
        """The ordinal of the device. Host only."""
        return self.device


cdef Buffer wrap_resource_memory(MemoryResource resource, CUdeviceptr pointer, size_t size,
                                 const context_handle& context):
    """An open buffer whose memory goes back through `resource.deallocate`."""
    cdef Buffer buffer = Buffer.__new__(Buffer)
    buffer.fields = buffer_fields(pointer, size, True)
    buffer.resource = resource
    buffer.order = free_order.without_stream(context_instance(context))
    if type(resource) not in _SYNCHRONOUS:
        guard_cycles(buffer)
    return buffer


cdef Buffer wrap_at_once(MemoryResource resource, CUdeviceptr pointer, size_t size):
    return wrap_resource_memory(resource, pointer, size, current_context())


cdef memory_kind kind_of(object resource) noexcept:
    """How the memory of one of these resources goes back."""
    if type(resource) is LegacyPinnedMemoryResource:
        return memory_kind.host
    return memory_kind.device


# They wait for the stream they are given, and the driver waits in any case: none is needed.
cdef tuple _SYNCHRONOUS = (LegacyPinnedMemoryResource, _SynchronousMemoryResource)
