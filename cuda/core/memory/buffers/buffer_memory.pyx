# SPDX-License-Identifier: Apache-2.0
# The memory of a Buffer: opening, sharing, wrapping, and properties.

cdef extern from "Python.h":
    const Py_ssize_t PY_SSIZE_T_MAX


cdef Buffer new_buffer(object cls):
    if cls is Buffer:
        return Buffer.__new__(Buffer)
    instance = new_instance(cls, Buffer)
    if (<Buffer>instance).was_opened:
        raise_used_instance(cls)
    return <Buffer>instance


cdef int open_buffer(Buffer buffer, CUdeviceptr pointer, size_t size) except -1:
    if buffer.was_opened:
        raise RuntimeError("a Buffer cannot be opened a second time")
    open_new_buffer(buffer, pointer, size)


cdef inline void open_new_buffer(Buffer buffer, CUdeviceptr pointer, size_t size) noexcept:
    """Open a Buffer that no user code has seen."""
    buffer.fields = buffer_fields(pointer, size, True)
    buffer.identity, buffer.identity_size, buffer.was_opened = pointer, size, True


cdef buffer_fields open_memory_of(Buffer buffer) except *:
    with cython.critical_section(buffer):
        check_open(buffer.fields.is_open, "Buffer")
        return buffer.fields


cdef int check_exportable(size_t size) except -1:
    if size > <size_t>PY_SSIZE_T_MAX:
        raise BufferError(f"the buffer has {size} bytes, but the buffer protocol and DLPack "
                          f"support at most {PY_SSIZE_T_MAX}")


cdef Buffer create_part(Buffer whole, size_t offset, size_t size):
    check_open(whole.fields.is_open, "Buffer")
    if offset > whole.fields.size or size > whole.fields.size - offset:
        raise ValueError(f"{size} bytes from byte {offset} on are not inside a buffer of "
                         f"{whole.fields.size} bytes")
    cdef Buffer part = Buffer.__new__(Buffer)
    cdef Buffer memory = share_allocation(whole)
    cdef CUdeviceptr start = whole.fields.pointer
    part.resource, part.memory_owner, part.shared = memory.resource, memory.memory_owner, memory
    part.is_import = whole.is_import
    open_new_buffer(part, start + offset, size)
    return part


cdef Buffer wrap_memory(object cls, object ptr, object size, object mr, object owner,
                        object stream):
    if mr is not None and owner is not None:
        raise ValueError("owner and memory resource cannot be both specified together")
    if stream is not None and mr is None:
        raise ValueError("stream requires a memory resource (mr)")
    if mr is not None:
        require_memory_resource(mr)
    cdef CUdeviceptr pointer = address_from(ptr)
    cdef size_t byte_count = size_from(size, "from_handle(): size")
    cdef Stream recorded = None
    cdef free_order order
    if mr is not None and (stream is not None or mr.is_device_accessible):
        recorded = default_stream_object() if stream is None else accept_stream(stream)
        order = record_free_order(recorded)
    cdef Buffer buffer = new_buffer(cls)
    open_buffer(buffer, pointer, byte_count)
    buffer.order.swap(order)
    buffer.stream, buffer.resource, buffer.memory_owner = recorded, mr, owner
    if mr is not None:
        guard_cycles(buffer)
    return buffer


cdef int open_pool_buffer(Buffer buffer, object resource, pool_handle& pool,
                          CUdeviceptr pointer, size_t size, stream_handle& stream) except -1:
    open_new_buffer(buffer, pointer, size)
    buffer.pool.swap(pool)
    buffer.resource = resource
    buffer.order.record(stream.take())


cdef pointer_facts classify_pointer(CUdeviceptr pointer) except *:
    cdef CUpointer_attribute[3] attributes = [
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL]
    cdef unsigned kind = 0, managed = 0
    cdef int device = -1
    cdef void** values = [&kind, &managed, &device]
    cdef CUresult code = try_call(driver.cuPointerGetAttributes, 3, attributes, values, pointer)
    if code == CUDA_ERROR_NOT_INITIALIZED:
        call(driver.cuInit, 0)
        code = try_call(driver.cuPointerGetAttributes, 3, attributes, values, pointer)
    check(code, "cuPointerGetAttributes")
    if kind == 0:  # pageable host memory is unknown to the driver
        return pointer_facts(True, True, False, False, -1)
    if managed or kind == CU_MEMORYTYPE_UNIFIED:
        return pointer_facts(True, True, True, True, device)
    if kind == CU_MEMORYTYPE_HOST:
        return pointer_facts(True, True, True, False, device)
    if kind == CU_MEMORYTYPE_DEVICE:
        return pointer_facts(True, False, True, False, device)
    raise RuntimeError(f"cuPointerGetAttributes names memory type {kind} for address "
                       f"{pointer:#x}, which is unsupported")


cdef pointer_facts facts_of(Buffer self) except *:
    with cython.critical_section(self):
        if not self.facts.is_known:
            self.facts = classify_pointer(self.fields.pointer)
        return self.facts


cdef inline object resource_of(Buffer self):
    with cython.critical_section(self):
        return self.resource


# The properties of a resource take precedence over those that the driver reports.

cdef bint is_device_accessible(Buffer self) except -1:
    resource = resource_of(self)
    if resource is not None:
        return resource.is_device_accessible
    return facts_of(self).is_device_accessible


cdef bint is_host_accessible(Buffer self) except -1:
    resource = resource_of(self)
    if resource is not None:
        return resource.is_host_accessible
    return facts_of(self).is_host_accessible


cdef bint is_managed(Buffer self) except -1:
    resource = resource_of(self)
    if resource is not None and resource.is_managed:
        return True
    return facts_of(self).is_managed


cdef object share_allocation(Buffer self):
    cdef Buffer holder
    with cython.critical_section(self):
        if self.shared is None:
            holder = Buffer.__new__(Buffer)
            check_open(self.fields.is_open, "Buffer")
            holder.pool, holder.order = self.pool, self.order
            open_new_buffer(holder, self.fields.pointer, self.fields.size)
            holder.block = self.block
            self.block = NULL
            holder.resource, holder.stream = self.resource, self.stream
            holder.memory_owner = self.memory_owner
            holder.claim, self.claim = self.claim, None
            move_guard(self.guard, holder)
            self.guard = None
            self.shared = holder
            self.pool.reset()
            self.stream = None
        return self.shared


cdef int require_memory_resource(object value) except -1:
    """Reject an object that neither is a `MemoryResource` nor declares its protocol."""
    if not (isinstance(value, MemoryResource)
            or getattr(value, "__cuda_core_memory_resource__", False)):
        raise TypeError(f"Expected type MemoryResource, got {qualified_name(value)}: pass one, "
                        "such as DeviceMemoryResource(device)")


def _wrap_memory(cls, ptr, size, mr, stream):
    """`Buffer.from_handle` for a class, without its overrides. Host only."""
    return wrap_memory(cls, ptr, size, mr, None, stream)
