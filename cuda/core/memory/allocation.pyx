# SPDX-License-Identifier: Apache-2.0
# How the memory of a Buffer goes back: once, in order, whatever fails on the way.

from cpython.object cimport PyObject


cdef int give_back_at_collection(Buffer self) except -1:
    """What `__dealloc__` does: report instead of raise."""
    try:
        give_back(self, None)
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
            give_back_at_collection(<Buffer>self.buffer)


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


cdef int give_back(Buffer self, Stream stream) except -1:
    """Mark as closed first, so that nothing is given back twice whatever fails on the way."""
    cdef buffer_fields memory
    cdef pool_handle pool
    cdef free_order order
    cdef Buffer shared
    with cython.critical_section(self):
        if self.exports:
            raise BufferError("Buffer.close() with existing exports: release the memoryview first")
        memory, shared = self.fields, self.shared
        resource, recorded = self.resource, self.stream
        pool.swap(self.pool)
        order.swap(self.order)
        forget(self)
    if shared is not None:
        if stream is not None:
            redirect(shared, stream)
        return 0
    if pool.is_open():
        return free_in_order(memory.pointer, order, stream)
    if resource is not None and memory.is_open:
        deallocate(resource, memory, order, recorded if stream is None else stream)
    return 0


cdef int forget(Buffer self) except -1:
    """Become closed, without giving anything back."""
    self.fields = buffer_fields(0, 0, False)
    self.pool.reset()
    self.order = free_order()
    if self.guard is not None:
        (<_CycleGuard>self.guard).buffer = NULL
    self.guard = None
    self.resource = self.kept = self.stream = self.shared = None
    return 0


cdef int redirect(Buffer self, Stream stream) except -1:
    """Order the free on another stream than the recorded one."""
    cdef free_order order = recorded_order(stream)
    with cython.critical_section(self):
        self.order.swap(order)
        if self.stream is not None:
            self.stream = stream
    return 0


cdef free_order recorded_order(Stream stream) except *:
    cdef free_order order = record_free_order(stream.native.share_open(stream))
    if not order.is_recorded():
        raise RuntimeError(
            "Cannot record a default deallocation stream when no CUDA context is current. Call "
            "Device.set_current() first, or pass a non-default stream=.")
    return order


cdef int free_in_order(CUdeviceptr pointer, free_order& order, Stream stream) except -1:
    cdef CUresult code
    if pointer == 0 or not order.is_of_this_process():
        return 0
    if stream is not None:
        return free_on_stream(pointer, stream)
    with nogil:
        code = order.free(pointer)
    return check(code, "cuMemFreeAsync")


cdef int free_on_stream(CUdeviceptr pointer, Stream stream) except -1:
    cdef borrowed_stream order = stream.native.borrow_open(stream)
    if pointer != 0:
        with nogil:
            call(memory_driver.cuMemFreeAsync, pointer, order.raw())
    return 0


cdef int deallocate(object resource, buffer_fields memory, free_order& order,
                    object stream) except -1:
    """Run the Python deallocator, in the context that a recorded default stream meant."""
    cdef bint is_synchronous = isinstance(resource, _SYNCHRONOUS)
    if (is_synchronous or order.is_recorded()) and not order.is_of_this_process():
        return 0
    if stream is None and not is_synchronous:
        stream = default_stream_object()
    cdef bint entered = order.is_recorded() and order.enter()
    try:
        resource.deallocate(<object>memory.pointer, <object>memory.size, stream=stream)
    finally:
        if entered:
            free_order.leave()
    return 0


cdef object share_allocation(Buffer self):
    cdef Buffer taken
    with cython.critical_section(self):
        if self.shared is None:
            taken = Buffer.__new__(Buffer)
            taken.fields, taken.pool, taken.order = self.fields, self.pool, self.order
            taken.resource, taken.kept, taken.stream = self.resource, self.kept, self.stream
            move_guard(self.guard, taken)
            self.guard = None
            self.shared = taken
            self.pool.reset()
            self.stream = None
        return self.shared
