# SPDX-License-Identifier: Apache-2.0
# _SynchronousMemoryResource: device memory without a pool.


cdef class _SynchronousMemoryResource(MemoryResource):
    """Device memory without a pool, for devices that do not support memory pools.

    See Also
    --------
    cuMemAlloc, cuMemFree : the driver functions.
    """

    def __init__(self, device_id):
        cdef Device device = Device(device_id)
        self.device = device.device_id
        self.context.set(retain_primary_context(self.device))

    @cython.binding(True)
    def allocate(self, size, stream=NOT_GIVEN):
        """Allocate memory that any stream can use immediately.

        Blocks the host.

        See Also
        --------
        cuMemAlloc : the driver function.
        """
        stream_or_default(stream, "allocate()")
        cdef CUdeviceptr pointer = 0
        cdef size_t bytes_requested = size_from(size, "allocate(): size")
        cdef context_handle context = self.context.get(self)
        if bytes_requested:
            with nogil:
                pointer = allocate_in_context(context, bytes_requested)
        return wrap_resource_memory(self, pointer, bytes_requested, context)

    @cython.binding(True)
    def deallocate(self, ptr, size_t size=0, stream=NOT_GIVEN):
        """Free memory, after synchronizing `stream`.

        Blocks the host. `ptr` is the address of the allocation; `size` is ignored.

        See Also
        --------
        cuMemFree : the driver function.
        """
        free_now(address_from(ptr), memory_kind.device, stream, self.context.get(self))

    @property
    def is_device_accessible(self):
        """True: kernels can access the memory. Host only."""
        return True

    @property
    def is_host_accessible(self):
        """False: the host cannot access the memory. Host only."""
        return False

    @property
    def device_id(self):
        """The ordinal of the device. Host only."""
        return self.device


cdef Buffer wrap_resource_memory(MemoryResource resource, CUdeviceptr pointer, size_t size,
                                 const context_handle& context):
    """Return an open buffer whose memory `resource.deallocate` frees."""
    cdef Buffer buffer = Buffer.__new__(Buffer)
    open_new_buffer(buffer, pointer, size)
    buffer.resource = resource
    buffer.order = free_order.without_stream(context_instance(context))
    if not is_synchronous(resource):
        guard_cycles(buffer)
    return buffer


cdef Buffer wrap_at_once(MemoryResource resource, CUdeviceptr pointer, size_t size):
    return wrap_resource_memory(resource, pointer, size, current_context())
