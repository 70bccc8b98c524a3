# SPDX-License-Identifier: Apache-2.0
# Export and import of buffers.

cdef object exports = WeakValueDictionary()  # payload -> exported Buffer of this process


def descriptor_of(Buffer buffer not None):
    """Return the `Buffer.ipc_descriptor`, the same object while it is alive. Host only."""
    cdef CUmemPoolPtrExportData raw
    cdef buffer_fields memory
    cdef Buffer whole
    check_open(buffer.fields.is_open, "Buffer")
    resource = buffer.memory_resource
    if not isinstance(resource, _MemPool):
        if is_virtual(resource):
            return describe_virtual(buffer, resource)
        raise_not_shared(resource)
    if not (<_MemPool>resource).is_import:  # imported memory needs no export
        require_sharing(<_MemPool>resource)
    memory = open_memory_of(buffer)
    if memory.size == 0:
        raise ValueError("an empty buffer has no memory that another process could import")
    whole = buffer.shared
    if whole is not None and whole.fields.pointer != memory.pointer:
        raise_inner_part()
    if is_imported(memory.pointer, &raw):
        return describe_buffer(payload_from(raw), memory.size)
    allocation_handle(<_MemPool>resource)  # drivers export the pool before its memory
    memory = open_memory_of(buffer)
    payload = payload_from(export_memory(memory.pointer))
    exports[payload] = buffer
    return describe_buffer(payload, memory.size)


cdef bytes payload_from(const CUmemPoolPtrExportData& raw):
    return PyBytes_FromStringAndSize(<const char*>&raw, sizeof(raw))


def import_buffer(cls, resource, descriptor, stream):
    """Implement `Buffer.from_ipc_descriptor` with a checked stream. Host only."""
    cdef CUmemPoolPtrExportData raw
    cdef CUdeviceptr pointer
    cdef Buffer buffer
    cdef free_order order
    if not isinstance(resource, _MemPool):
        if is_virtual(resource):
            return import_virtual(cls, resource, descriptor, accept_stream(stream))
        raise TypeError(f"Cannot convert {type(resource).__name__} to a memory resource over a "
                        "pool: a DeviceMemoryResource or PinnedMemoryResource is expected")
    if not isinstance(descriptor, IPCBufferDescriptor):
        raise TypeError("Argument 'ipc_descriptor' has incorrect type (expected "
                        f"IPCBufferDescriptor, got {type(descriptor).__name__})")
    require_sharing(<_MemPool>resource)
    payload = (<IPCBufferDescriptor>descriptor).payload
    require_payload(payload, "IPC buffer descriptor payload")
    own = own_buffer(cls, resource, payload, (<IPCBufferDescriptor>descriptor).bytes_described)
    if own is not None:
        return own
    memcpy(&raw, PyBytes_AS_STRING(payload), sizeof(raw))
    order = record_free_order(accept_stream(stream))
    buffer = new_buffer(cls)
    pointer = import_memory(share(resource, (<_MemPool>resource).pool), raw)
    open_buffer(buffer, pointer, (<IPCBufferDescriptor>descriptor).bytes_described)
    buffer.resource = resource
    buffer.order.swap(order)
    try:
        require_extent(buffer.fields.size, extent_of(pointer))
    except BaseException:
        buffer.close()
        raise
    return buffer


cdef Buffer own_buffer(object cls, object resource, bytes payload, size_t size):
    """Return a second Buffer over memory of this process, which its driver cannot import."""
    cdef Buffer whole = exports.get(payload)
    if whole is None or not whole.fields.is_open or whole.memory_resource is not resource:
        return None
    cdef Buffer buffer = new_buffer(cls)
    cdef Buffer memory = share_allocation(whole)
    require_extent(size, memory.fields.size)
    open_buffer(buffer, memory.fields.pointer, size)
    buffer.resource, buffer.shared = memory.resource, memory
    buffer.memory_owner = memory.memory_owner
    return buffer


cdef int require_extent(size_t size, size_t extent) except -1:
    if size > extent:
        raise ValueError(f"IPC buffer descriptor size ({size}) exceeds mapped allocation extent "
                         f"({extent} bytes)")


def reduce_buffer(buffer):
    """Reduce a buffer to its resource and descriptor, for `pickle`. Host only."""
    descriptor = buffer.ipc_descriptor
    return import_on_default_stream, (type(buffer), buffer.memory_resource, descriptor)


def import_on_default_stream(cls, resource, descriptor):
    """Import a pickled buffer, ordered on the default stream. Host only.

    Without a current context, as at the start of a process, it uses the primary context of the
    device of the resource.
    """
    cdef context_handle primary
    default = import_module("cuda.core._core").default_stream()
    if raw_current_context() is not NULL:
        return import_buffer(cls, resource, descriptor, default)
    device = import_module("cuda.core").Device(max(0, resource.device_id))
    primary = retain_primary_context(device.device_id)
    cdef entered_context* entered = new entered_context(primary.raw())
    try:
        return import_buffer(cls, resource, descriptor, default)
    finally:
        del entered
