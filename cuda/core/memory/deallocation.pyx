# SPDX-License-Identifier: Apache-2.0
# Deallocation of Buffer memory: exactly once and in stream order, also after failures.

from cpython.object cimport PyObject


cdef int release_at_collection(Buffer self) except -1:
    """Free the memory for `__dealloc__`, which reports failures instead of raising."""
    try:
        release_memory(self, None)
    except CUDAError as error:
        report_line(f"Warning: a Buffer could not free its memory: {error}")
    except Exception as error:
        report_line(f"Warning: mr.deallocate() failed during Buffer destruction: {error}")


@cython.final
cdef class _CycleGuard:
    """Frees the memory of a Buffer before the garbage collector clears its resource.

    The collector finalizes all objects of a cycle before it clears any of them.
    """

    cdef PyObject* buffer  # borrowed, since the Buffer owns this; null once it is closed
    cdef object resource   # makes this object part of the cycle

    def __del__(self):
        if self.buffer is not NULL and not is_finalizing():
            release_at_collection(<Buffer>self.buffer)


cdef int guard_cycles(Buffer self) except -1:
    """Create the guard of a Buffer whose resource may refer back to the Buffer."""
    cdef _CycleGuard guard = _CycleGuard.__new__(_CycleGuard)
    guard.resource = self.resource
    move_guard(guard, self)


cdef int move_guard(object guard, Buffer buffer) except -1:
    if guard is not None:
        (<_CycleGuard>guard).buffer = <PyObject*>buffer
        buffer.guard = guard


cdef int release_memory(Buffer self, Stream stream) except -1:
    """Close the Buffer first, so that a failure cannot lead to a second free."""
    cdef buffer_fields memory
    cdef pool_handle pool
    cdef free_order order
    cdef pool_block* block
    cdef Buffer shared
    if self.exports:
        release_copied_arrays()
    with cython.critical_section(self):
        if self.exports:
            raise BufferError("Buffer.close() with existing exports: release the memoryview first")
        resource, block = self.resource, self.block
        order.swap(self.order)
        if block is NULL:  # a pool block needs none of these fields
            memory, shared, recorded = self.fields, self.shared, self.stream
            pool.swap(self.pool)
        mark_closed(self)
    if block is not NULL:
        return free_block(<PoolMemoryResource>resource, block, order, stream)
    if shared is not None:
        if stream is not None:
            set_free_stream(shared, stream)
        return 0
    if pool.is_open():
        if stream is not None:
            return free_on_stream(memory.pointer, order, stream)
        return check_free(order.free(memory.pointer, memory_kind.pool))
    if resource is not None and memory.is_open:
        deallocate(resource, memory, order, recorded, stream)


cdef int detach_memory(Buffer self) except -1:
    """Close the Buffer without freeing its memory."""
    if self.block is not NULL:
        pool_of(<PoolMemoryResource>self.resource).disown(self.block[0])
    self.pool.reset()
    self.order = free_order()
    return mark_closed(self)


cdef inline int mark_closed(Buffer self) except -1:
    """Reset the fields of a Buffer whose pool and free order were moved out."""
    self.fields = buffer_fields(0, 0, False)
    self.block = NULL
    self.resource = None
    if self.guard is not None:
        (<_CycleGuard>self.guard).buffer = NULL
        self.guard = None
    if self.memory_owner is not None:  # the check is cheaper than an assignment
        self.memory_owner = None
    if self.stream is not None:
        self.stream = None
    if self.shared is not None:
        self.shared = None
    if self.claim is not None:
        self.claim = None


cdef int set_free_stream(Buffer self, Stream stream) except -1:
    """Replace the recorded stream of the deallocation."""
    cdef free_order order = record_free_order(stream)
    if self.block is not NULL:
        move_block_to_stream(<PoolMemoryResource>self.resource, self, stream)
    with cython.critical_section(self):
        self.order.swap(order)
        # An allocation without a stream recorded none for `resource.deallocate`.
        if self.resource is not None and not self.pool.is_open() and self.block is NULL:
            self.stream = stream


cdef free_order record_free_order(Stream stream) except *:
    cdef free_order order
    order.record(stream.native.share_open(stream))
    if not order.is_recorded():
        raise RuntimeError(
            "Cannot record a default deallocation stream when no CUDA context is current. Call "
            "Device.set_current() first, or pass a non-default stream=.")
    return order


cdef inline int check_free(free_result freed) except -1:
    return check(freed.code, freed.function)


cdef int free_on_stream(CUdeviceptr pointer, const free_order& recorded,
                        Stream stream) except -1:
    """Free memory of a driver pool on another stream than the recorded one."""
    if recorded.is_of_this_process():
        free_now(pointer, memory_kind.pool, stream, context_handle())


cdef int free_now(CUdeviceptr pointer, memory_kind kind, object stream,
                  context_handle context) except -1:
    """Free memory after the submitted work of a stream; immediately without a stream."""
    cdef free_order order
    cdef Stream target
    if stream is None or stream is NOT_GIVEN:
        order = free_order.without_stream(context_instance(context))
    else:
        target = accept_stream(stream)
        order = free_order.now(target.native.share_open(target), context)
    return check_free(order.free(pointer, kind))


cdef int deallocate(object resource, buffer_fields memory, free_order& order, object recorded,
                    object stream) except -1:
    """Call the Python deallocator in the context that was current at the allocation."""
    if is_synchronous(resource):
        if stream is None:
            return check_free(order.free(memory.pointer, memory_kind_of(resource)))
        if order.needs_no_free():
            return 0
    if isinstance(resource, _MemPool) and (<_MemPool>resource).is_import:
        return check_free(release_imported(memory.pointer, order if stream is None else
                                           record_free_order(stream)))
    if order.is_recorded() or is_kind_of_synchronous(resource):
        if not order.is_of_this_process():
            return 0
    if stream is None:
        stream = default_stream_object() if recorded is None else recorded
    cdef bint entered = order.enter()
    cdef relaxed_capture* relaxed
    with nogil:
        relaxed = new relaxed_capture()
    try:
        resource.deallocate(<object>memory.pointer, <object>memory.size, stream=stream)
    finally:
        with nogil:
            del relaxed
        if entered:
            free_order.leave()


cdef memory_kind memory_kind_of(object resource) noexcept:
    """Return the kind of memory that one of these resources allocates."""
    if type(resource) is LegacyPinnedMemoryResource:
        return memory_kind.host
    return memory_kind.device


# The `deallocate` of both classes blocks until the device has finished, so a buffer need not record
# a stream.

cdef bint is_synchronous(object resource) noexcept:
    """Return whether a resource is an instance of one of these classes, and of no subclass."""
    return (type(resource) is LegacyPinnedMemoryResource
            or type(resource) is _SynchronousMemoryResource)


cdef bint is_kind_of_synchronous(object resource) noexcept:
    """Return whether a resource is an instance of one of these classes or of a subclass."""
    return isinstance(resource, (LegacyPinnedMemoryResource, _SynchronousMemoryResource))
