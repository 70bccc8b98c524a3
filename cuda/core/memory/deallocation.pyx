# SPDX-License-Identifier: Apache-2.0
# How the memory of a Buffer goes back: once, in order, whatever fails on the way.

from cpython.object cimport PyObject


cdef int release_at_collection(Buffer self) except -1:
    """What `__dealloc__` does: report instead of raise."""
    try:
        release_memory(self, None)
    except CUDAError as error:
        report_line(f"Warning: a Buffer could not give its memory back: {error}")
    except Exception as error:
        report_line(f"Warning: mr.deallocate() failed during Buffer destruction: {error}")
    return 0


@cython.final
cdef class _CycleGuard:
    """Gives the memory of a Buffer back before the collector takes its resource apart.

    Of the objects of a cycle it finalizes all, while all are whole, before it clears any.
    """

    cdef PyObject* buffer  # borrowed: the Buffer owns this; null once there is nothing to do
    cdef object resource   # makes the collector look here

    def __del__(self):
        if self.buffer is not NULL and not is_finalizing():
            release_at_collection(<Buffer>self.buffer)


cdef int guard_cycles(Buffer self) except -1:
    """Needed where the way back goes through a resource that may hold the Buffer."""
    cdef _CycleGuard guard = _CycleGuard.__new__(_CycleGuard)
    guard.resource = self.resource
    move_guard(guard, self)
    return 0


cdef int move_guard(object guard, Buffer to) except -1:
    if guard is not None:
        (<_CycleGuard>guard).buffer = <PyObject*>to
        to.guard = guard
    return 0


cdef int report_line(str text) except -1:
    import sys

    if sys.stderr is not None:
        print(text, file=sys.stderr)
    return 0


cdef int release_memory(Buffer self, Stream stream) except -1:
    """Mark as closed first, so that nothing is given back twice whatever fails on the way."""
    cdef buffer_fields memory
    cdef pool_handle pool
    cdef free_order order
    cdef pool_block* block
    cdef Buffer shared
    if self.exports:
        release_finished_arrays()
    with cython.critical_section(self):
        if self.exports:
            raise BufferError("Buffer.close() with existing exports: release the memoryview first")
        resource, block = self.resource, self.block
        order.swap(self.order)
        if block is NULL:  # else it is the pool's, and nothing more is in the fields
            memory, shared, recorded = self.fields, self.shared, self.stream
            pool.swap(self.pool)
        become_closed(self)
    if block is not NULL:
        return give_block_back(<PoolMemoryResource>resource, block, order, stream)
    if shared is not None:
        if stream is not None:
            redirect(shared, stream)
        return 0
    if pool.is_open():
        if stream is not None:
            return free_on_stream(memory.pointer, order, stream)
        return check_free(order.free(memory.pointer, memory_kind.pool))
    if resource is not None and memory.is_open:
        deallocate(resource, memory, order, recorded, stream)
    return 0


cdef int forget(Buffer self) except -1:
    """Become closed, without giving anything back."""
    self.pool.reset()
    self.order = free_order()
    return become_closed(self)


cdef inline int become_closed(Buffer self) except -1:
    """Of a Buffer whose pool and order were taken."""
    self.fields = buffer_fields(0, 0, False)
    self.block = NULL
    self.resource = None
    if self.guard is not None:
        (<_CycleGuard>self.guard).buffer = NULL
        self.guard = None
    if self.kept is not None:  # to look costs less than to replace None by None
        self.kept = None
    if self.stream is not None:
        self.stream = None
    if self.shared is not None:
        self.shared = None
    return 0


cdef int redirect(Buffer self, Stream stream) except -1:
    """Order the free on another stream than the recorded one."""
    cdef free_order order = recorded_order(stream)
    if self.block is not NULL:
        move_block(<PoolMemoryResource>self.resource, self, stream)
    with cython.critical_section(self):
        self.order.swap(order)
        if self.stream is not None:
            self.stream = stream
    return 0


cdef free_order recorded_order(Stream stream) except *:
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
    """Order the free on another stream than the recorded one."""
    if not recorded.is_of_this_process():
        return 0
    return free_now(pointer, memory_kind.pool, stream, context_handle())


cdef int free_now(CUdeviceptr pointer, memory_kind kind, object stream,
                  context_handle context) except -1:
    """Free after what a stream was given so far; at once for None or none."""
    cdef free_order order
    cdef Stream given
    if stream is None or stream is NOT_GIVEN:
        order = free_order.without_stream(context_instance(context))
    else:
        given = accept_stream(stream)
        order = free_order.now(given.native.share_open(given), context)
    return check_free(order.free(pointer, kind))


cdef int deallocate(object resource, buffer_fields memory, free_order& order, object recorded,
                    object stream) except -1:
    """Run the Python deallocator, in the context that was current when the memory came."""
    if type(resource) in _SYNCHRONOUS:
        if stream is None:
            return check_free(order.free(memory.pointer, kind_of(resource)))
        if order.needs_no_free():
            return 0
    if isinstance(resource, _MemPool) and (<_MemPool>resource).is_import:
        return check_free(release_imported(memory.pointer, order if stream is None else
                                           recorded_order(stream)))
    if order.is_recorded() or isinstance(resource, _SYNCHRONOUS):
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
    return 0


cdef object share_allocation(Buffer self):
    cdef Buffer taken
    with cython.critical_section(self):
        if self.shared is None:
            taken = Buffer.__new__(Buffer)
            taken.fields, taken.pool, taken.order = self.fields, self.pool, self.order
            taken.block = self.block
            self.block = NULL
            taken.resource, taken.kept, taken.stream = self.resource, self.kept, self.stream
            move_guard(self.guard, taken)
            self.guard = None
            self.shared = taken
            self.pool.reset()
            self.stream = None
        return self.shared
