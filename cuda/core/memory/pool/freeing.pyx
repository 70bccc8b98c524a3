# SPDX-License-Identifier: Apache-2.0
# Frees of blocks of a PoolMemoryResource, and of its segments.

from cpython.ref cimport Py_DECREF


cdef inline segment_pool* pool_of(PoolMemoryResource self) except NULL:
    return self.native.get(self)


cdef bint is_usable(PoolMemoryResource self) noexcept:
    """Return whether the pool is initialized and belongs to this process, not to its parent."""
    return self.native.is_set() and self.native.value_or_null().is_of_this_process()


cdef int free_block(PoolMemoryResource self, pool_block* block, const free_order& order,
                    Stream stream) except -1:
    """Free a block once, also after failures: on `stream`, or on its own stream for None."""
    cdef bint was_last
    if not is_usable(self):
        return 0
    if self.stacks is not None:
        self.stacks.pop(block.address, None)
    if stream is None and not block.home.is_per_thread():
        was_last = pool_of(self).free(block[0], block.home[0])
    else:
        was_last = free_on_other_stream(self, block, order, stream)
    if was_last:
        return_segments(self, 0)


cdef bint free_on_other_stream(PoolMemoryResource self, pool_block* block, const free_order& order,
                               Stream stream) except -1:
    """Free a block on another stream than its own, or on a per-thread default stream."""
    cdef borrowed_stream target
    cdef Stream token = PER_THREAD_DEFAULT_STREAM
    cdef bint was_last
    cdef segment_pool* pool = pool_of(self)
    try:
        if stream is None:
            target = token.native.borrow_open(token)
            order.make_wait(target)
        else:
            target = stream.native.borrow_open(stream)
        if target.raw() is CU_STREAM_PER_THREAD:
            with nogil:
                was_last = pool.free_on_this_thread(block[0], target)
            return was_last
        return pool.free(block[0], pool.home_of(target))
    except CUDAError:
        pool.free(block[0], block.home[0])
        raise


cdef int move_block_to_stream(PoolMemoryResource self, Buffer buffer, Stream stream) except -1:
    """Set the stream on which the block of a Buffer is freed."""
    cdef borrowed_stream target
    cdef stream_blocks* home
    if not is_usable(self):
        return 0
    cdef segment_pool* pool = pool_of(self)
    target = stream.native.borrow_open(stream)
    home = &pool.home_of(target)
    with cython.critical_section(buffer):
        if buffer.block is not NULL:
            pool.change_home(buffer.block[0], home[0])


cdef size_t return_segments(PoolMemoryResource self, size_t keep) except? 0:
    """Return free segments upstream after their last use, down to `keep` bytes; the bytes."""
    cdef borrowed_stream order
    cdef pool_segment* segments
    cdef size_t size
    cdef Stream stream = upstream_stream_of(self)
    if stream is None:
        return 0
    cdef segment_pool* pool = pool_of(self)
    order = stream.native.borrow_open(stream)
    with nogil:
        segments = pool.remove_free_segments(keep, order)
    size = close_segments(segments)
    if pool.is_closed() and pool.totals().reserved.load() == 0:
        with cython.critical_section(self):
            self.upstream_stream = None
    return size


cdef Stream upstream_stream_of(PoolMemoryResource self):
    with cython.critical_section(self):
        return self.upstream_stream


cdef size_t close_segments(pool_segment* first) except? 0:
    """Close the upstream buffers of all segments, then raise the last failure."""
    cdef pool_segment* segment
    cdef size_t size = 0
    cdef Buffer memory
    error = None
    while first is not NULL:
        segment, first = first, first.next
        size += segment.size
        memory = <Buffer><object>segment.owner
        del segment
        Py_DECREF(memory)
        try:
            memory.close()
        except Exception as failure:
            error = failure
    if error is not None:
        raise error
    return size
