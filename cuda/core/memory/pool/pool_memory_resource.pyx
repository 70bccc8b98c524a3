# SPDX-License-Identifier: Apache-2.0
# PoolMemoryResource: a pool that cuts segments of an upstream resource into blocks.

from cpython.ref cimport Py_INCREF
from libc.stdint cimport SIZE_MAX

import weakref


cdef extern from *:
    """
    static inline void halfwarp_synchronize(const halfwarp::core::stream_ref& stream) {
      const halfwarp::core::relaxed_capture_scope relaxed;
      halfwarp::driver::call(halfwarp::driver::table->cuStreamSynchronize, stream.raw());
    }
    static inline void halfwarp_count_retry(halfwarp::core::segment_pool* pool) {
      ++pool->totals().oom_retries;
    }
    """
    void synchronize_stream "halfwarp_synchronize"(const stream_ref&) \
        except +translate_exception nogil
    void count_oom_retry "halfwarp_count_retry"(segment_pool*) noexcept


cdef size_t BLOCK_UNIT = 512           # granularity of block addresses and sizes
cdef size_t DEVICE_ALIGNMENT = 256     # alignment that CUDA guarantees for an allocation
cdef size_t SEGMENT_UNIT = 2 << 20     # granularity of segment sizes
cdef size_t MAX_GROWTH = 64 << 20      # largest segment, unless an allocation needs more


# no_gc_clear: deallocation needs the fields that the collector would clear first.
# trashcan: a chain of pools that are upstream of each other may be thousands long.
@cython.no_gc_clear
@cython.trashcan(True)
cdef class PoolMemoryResource(MemoryResource):
    """PoolMemoryResource(device, *, initial_size=0, max_size=None, release_threshold=None, \
upstream=None, capture="refuse", track_allocations=False)\n--\n
    Stream-ordered memory from large cached segments that are cut into blocks.

    A block that was freed on a stream is reused on it immediately, without a driver call. Another
    stream reuses it once its free has completed, or after waiting for it. The host blocks only if
    memory has run out. Blocks are aligned to 512 bytes, or to 256 bytes if the memory of `upstream`
    is. Buffers of the pool keep it alive.

    Parameters
    ----------
    device : Device or int
        The device whose streams use the memory.
    initial_size : int
        Bytes to allocate from `upstream` at construction.
    max_size : int, optional
        Maximum bytes that the pool may reserve from `upstream`; None for no limit.
    release_threshold : int, optional
        Maximum bytes that the pool keeps when `Device.sync` returns: free segments beyond that are
        returned then. None keeps all.
    upstream : MemoryResource, optional
        The resource of the segments; None for a `DeviceMemoryResource` of the current pool.
    capture : str
        Behavior of an allocation on a capturing stream: ``"refuse"`` raises RuntimeError;
        ``"private"`` allocates memory that only the graphs of this capture use.
    track_allocations : bool
        Whether to record the Python stack of each allocation for `report_leaks`.

    Raises
    ------
    ValueError
        If a size is negative, `initial_size` exceeds `max_size`, or `capture` is invalid.
    """

    def __init__(self, device, *, initial_size=0, max_size=None, release_threshold=None,
                 upstream=None, capture="refuse", track_allocations=False):
        cdef Device device_object = Device(device)
        cdef size_t initial = size_from(initial_size, "initial_size")
        cdef size_t limit = SIZE_MAX if max_size is None else size_from(max_size, "max_size")
        threshold = None if release_threshold is None else size_from(
            release_threshold, "release_threshold")
        if initial > limit:
            raise ValueError(f"initial_size {initial} is above max_size {limit}")
        if capture not in ("refuse", "private"):
            raise ValueError(f"capture must be 'refuse' or 'private', got {shown(capture)}")
        if upstream is None:
            upstream = DeviceMemoryResource(device_object)
        else:
            require_memory_resource(upstream)
        if self.native.is_set():
            raise RuntimeError("a PoolMemoryResource is already initialized")
        self.is_for_device = upstream.is_device_accessible
        self.is_for_host = upstream.is_host_accessible
        self.is_migrating = upstream.is_managed
        self.device = upstream.device_id if self.is_for_device else device_object.ordinal
        self.upstream, self.limit, self.capture = upstream, limit, capture
        self.stacks = {} if track_allocations else None
        self.native.set(new segment_pool(new_totals()))
        self.capture_pools = weakref.WeakValueDictionary()
        self.release_threshold = threshold
        import_module("cuda.core.memory.leak_report").watch(self)
        if initial:
            add_initial_segment(self, device_object, initial)

    def __dealloc__(self):
        if not is_usable(self) or is_finalizing():
            return
        cdef segment_pool* pool = self.native.value_or_null()
        try:
            try:
                return_segments(self, 0)  # in stream order, which needs the driver
            finally:
                close_segments(pool.remove_all_segments())
                if self.parent is not None and self.parent.is_closed:
                    return_segments(self.parent, 0)  # nothing else releases its stream now
        except Exception as error:
            report_line(f"Warning: a PoolMemoryResource could not free its memory: {error}")
        pool.release()

    @cython.binding(True)
    def allocate(self, size, stream=NOT_GIVEN):
        """Allocate memory from the pool.

        Stream-ordered: the memory may be used on `stream`, and on streams that wait for it. Blocks
        the host only if memory has run out.

        Parameters
        ----------
        size : int
            Size in bytes; 0 returns a buffer without an address.
        stream : Stream
            The stream that orders the allocation and, by default, the deallocation.

        Returns
        -------
        Buffer

        Raises
        ------
        OutOfMemoryError
            If there is not enough memory after all free segments were returned to `upstream`.
        RuntimeError
            If the stream is capturing, or the resource is closed, or belongs to the parent process
            or to a context that was reset.
        """
        if type(stream) is not Stream:
            stream = stream_or_default(stream, "allocate()")
        return allocate_block(self, size, <Stream>stream)

    @cython.binding(True)
    def deallocate(self, ptr, size_t size=0, stream=NOT_GIVEN):
        """Free memory that no Buffer owns; closing a Buffer frees its memory.

        Stream-ordered. Looks the address up, which is slower than closing a Buffer.

        Parameters
        ----------
        ptr : int
            The address of the allocation; 0 has no effect.
        size : int
            Ignored; part of the `MemoryResource` protocol.
        stream : Stream
            The stream that orders the deallocation.

        Raises
        ------
        ValueError
            If no allocation of the pool begins at `ptr`.

        Warns
        -----
        RuntimeWarning
            If a Buffer owns the allocation; then the call has no effect.
        """
        cdef CUdeviceptr address = address_from(ptr)
        cdef Stream order = stream_or_default(stream, "deallocate()")
        if address == 0 or not is_usable(self):
            return
        cdef pool_block* block
        cdef cbool is_owned = False
        cdef PoolMemoryResource pool
        for pool in pools_of(self):
            block = pool_of(pool).claim(address, is_owned)
            if block is not NULL:
                free_block(pool, block, free_order(), order)
                return
            if is_owned:
                PyErr_WarnEx(RuntimeWarning, f"PoolMemoryResource.deallocate() has no effect: a "
                             f"Buffer owns the allocation at {address:#x} and frees it when it is "
                             "closed; call Buffer.close() instead".encode(), 1)
                return
        raise ValueError(f"no allocation of this pool begins at {address:#x}")

    def close(self):
        """Reject further allocations and return the free segments.

        Stream-ordered. The other segments are returned with the last buffer. Closing twice has no
        effect.
        """
        if is_usable(self):
            pool_of(self).close()
            return_segments(self, 0)

    @property
    def is_closed(self):
        """Whether `close` was called. Host only."""
        return not self.native.is_set() or pool_of(self).is_closed()

    def trim(self, size_t min_bytes_to_keep=0):
        """Return the completely free segments to `upstream`.

        Stream-ordered: `upstream` reuses the memory after its last use.

        Parameters
        ----------
        min_bytes_to_keep : int
            Bytes that the pool may keep.

        Returns
        -------
        int
            Number of bytes returned.
        """
        require_native(self)
        return return_segments(self, min_bytes_to_keep)

    def statistics(self):
        """Return the sizes and counters of the pool as a flat dict.

        Host only. Exact while no other thread uses the pool. Sizes in use are the requested sizes,
        in bytes.

        Returns
        -------
        dict of str to number
            ``allocated_bytes`` and ``reserved_bytes`` (from upstream) each with ``.current`` and
            ``.peak``, ``allocated_bytes.total``, ``allocation_count.current`` and ``.total``,
            ``reuse_same_stream``, ``reuse_cross_stream``, ``cross_stream_waits``,
            ``upstream_allocs``, ``upstream_frees``, ``oom_retries``, ``largest_free_block``, and
            ``fragmentation``: the fraction of the free bytes outside the largest free block.
        """
        require_native(self)
        cdef pool_totals* totals = &pool_of(self).totals()
        cdef block_figures own = pool_of(self).figures()
        cdef PoolMemoryResource pool
        allocations, allocated_bytes, frees, reused = (
            totals.allocations.load(), totals.allocated_bytes.load(), totals.frees.load(),
            totals.reused.load())
        for pool in pools_of(self):
            figures = pool_of(pool).figures()
            allocations = allocations + figures.allocations
            allocated_bytes = allocated_bytes + figures.allocated_bytes
            frees, reused = frees + figures.frees, reused + figures.reuse_same_stream
        return {
            "allocated_bytes.current": totals.allocated.load(),
            "allocated_bytes.peak": totals.allocated_peak.load(),
            "allocated_bytes.total": allocated_bytes,
            "allocation_count.current": allocations - frees,
            "allocation_count.total": allocations,
            "reserved_bytes.current": totals.reserved.load(),
            "reserved_bytes.peak": totals.reserved_peak.load(),
            "reuse_same_stream": reused,
            "reuse_cross_stream": totals.reuse_cross_stream.load(),
            "cross_stream_waits": totals.cross_stream_waits.load(),
            "upstream_allocs": totals.upstream_allocs.load(),
            "upstream_frees": totals.upstream_frees.load(),
            "oom_retries": totals.oom_retries.load(),
            "largest_free_block": own.largest_free_block,
            "fragmentation": (0.0 if own.free_bytes == 0 else
                              1 - <double>own.largest_free_block / <double>own.free_bytes),
        }

    def report_leaks(self):
        """Return the allocations in use, the oldest first.

        Host only.

        Returns
        -------
        list of LiveAllocation
            Named tuples ``(address, size, stream, age, traceback)``: size in bytes, stream address,
            age in seconds to some milliseconds, and with ``track_allocations`` the Python stack.
        """
        require_native(self)
        cdef vector[live_block] blocks
        cdef live_block block
        cdef PoolMemoryResource pool
        rows = []
        for pool in pools_of(self):
            blocks = pool_of(pool).live_blocks()
            for block in blocks:
                rows.append((block.address, block.size, <uintptr_t>block.stream, block.age))
        reports = import_module("cuda.core.memory.pool.reports")
        return reports.live_allocations(rows, self.stacks or {})

    @property
    def max_size(self):
        """Maximum bytes that the pool may reserve; None for no limit. Host only."""
        return None if self.limit == SIZE_MAX else self.limit

    @property
    def release_threshold(self):
        """Maximum bytes kept when `Device.sync` returns; None: no maximum. Settable."""
        return self.threshold

    @release_threshold.setter
    def release_threshold(self, value):
        self.native.check(self)
        self.threshold = None if value is None else size_from(value, "release_threshold")
        pools_with_threshold.discard(self)
        if value is not None:
            pools_with_threshold.add(self)

    @property
    def device_id(self):
        """The ordinal of the device that owns the memory. Host only."""
        return self.device

    @property
    def is_device_accessible(self):
        """Whether kernels can access the memory (from `upstream`). Host only."""
        return self.is_for_device

    @property
    def is_host_accessible(self):
        """Whether the host can access the memory (from `upstream`). Host only."""
        return self.is_for_host

    @property
    def is_managed(self):
        """Whether the driver migrates the memory (from `upstream`). Host only."""
        return self.is_migrating

    def __repr__(self):
        state = " closed" if self.is_closed else ""
        return f"<{type(self).__name__} device={self.device}{state}>"


# Pools that Device.sync trims to their threshold.
pools_with_threshold = weakref.WeakSet()


cdef int release_beyond_thresholds(int device) except -1:
    cdef PoolMemoryResource pool
    for each in list(pools_with_threshold):
        pool = each
        if pool.device == device and is_usable(pool):
            return_segments(pool, pool.threshold)


cdef int require_native(PoolMemoryResource self) except -1:
    if not pool_of(self).is_of_this_process():
        raise RuntimeError("this pool belongs to the parent process: its memory cannot be used in "
                           "a forked child process; create a new PoolMemoryResource")


cdef Buffer allocate_block(PoolMemoryResource self, object size, Stream stream):
    cdef Buffer buffer = Buffer.__new__(Buffer)
    cdef size_t size_requested = size_from(size, "allocate(): size")
    cdef borrowed_stream order
    cdef pool_block* block = NULL
    cdef segment_pool* native = pool_of(self)
    buffer.order.record(stream.native.share_open(stream))
    order = stream.native.borrow_open(stream)
    if native.is_closed() or not native.is_of_this_process():
        require_native(self)
        check_open(False, "PoolMemoryResource")
    if is_being_captured(order) and self.parent is None:
        return allocate_block(pool_for_capture(self, order), size, stream)
    if size_requested:
        block = native.allocate(size_requested, order)
        if block is NULL:
            block = find_memory(self, size_requested, stream)
        if self.stacks is not None:
            self.stacks[block.address] = import_module("cuda.core.memory.stacks").stack_here()
        open_new_buffer(buffer, block.address, size_requested)
        buffer.block = block
    else:
        open_new_buffer(buffer, 0, 0)
    buffer.resource = self
    return buffer


cdef list pools_of(PoolMemoryResource self):
    """Return the pool and the private pools of its captures."""
    return [self, *self.capture_pools.values()]


cdef PoolMemoryResource pool_for_capture(PoolMemoryResource self, const stream_ref& stream):
    """Return the private pool of a capture, which its graphs and buffers keep alive."""
    cdef capture_info capture
    cdef PoolMemoryResource pool
    if self.capture == "refuse":
        raise RuntimeError("cannot perform memory operations on a capturing stream (consider "
                           "using GraphMemoryResource, or a pool with capture='private')")
    check(find_capture(stream, capture), "cuStreamGetCaptureInfo")
    pool = self.capture_pools.get(capture.id)
    if pool is None:
        pool = PoolMemoryResource.__new__(PoolMemoryResource)
        pool.native.set(new segment_pool(pool_of(self).shared_totals()))
        pool_of(pool).count_at_once()
        pool_of(self).count_at_once()
        pool.parent, pool.upstream, pool.stacks = self, self.upstream, self.stacks
        pool.limit, pool.padding, pool.device = self.limit, self.padding, self.device
        pool.is_for_device, pool.is_for_host = self.is_for_device, self.is_for_host
        pool.is_migrating, pool.capture, pool.capture_pools = self.is_migrating, self.capture, {}
        retain_in_capture(stream, pool)
        self.capture_pools[capture.id] = pool
    return pool


cdef pool_block* find_free(PoolMemoryResource self, size_t size, Stream target,
                           segment_use segments) except? NULL:
    """Return a free block: of this stream, then completed on others, then after a wait.

    Never waits for a block outside `segments`.
    """
    cdef borrowed_stream order = target.native.borrow_open(target)
    cdef segment_pool* pool = pool_of(self)
    cdef pool_block* block = pool.allocate_from_bins(size, order, segments)
    if block is NULL and self.parent is None:  # a capture has a single stream order
        with nogil:
            block = pool.allocate_across_streams(size, order, segments)
    return block


cdef pool_block* find_memory(PoolMemoryResource self, size_t size, Stream stream) except NULL:
    """Find memory after the fast path failed, trying the cheapest measures first."""
    cdef pool_block* block = NULL
    cdef int step
    if pool_of(self).is_inert():
        raise RuntimeError("the context of this pool's memory was reset or destroyed: create a new "
                           "PoolMemoryResource")
    cdef PoolMemoryResource root = self if self.parent is None else self.parent
    cdef segment_pool* root_pool = pool_of(root)
    error = None
    for step in range(4):
        if step == 1:
            return_segments(root, 0)
        elif step == 2:
            import_module("gc").collect()
        elif step == 3:
            with nogil:
                root_pool.synchronize()
            return_segments(root, 0)
        if step:
            count_oom_retry(pool_of(self))
        block = find_free(self, size, stream, use_for(size))  # keeps large blocks unsplit
        if block is NULL:
            block = find_free(self, size, stream, ALL_BLOCKS)
        if block is not NULL:
            return block
        try:
            block = grow(self, size, stream)
            if block is not NULL:
                return block
        except MemoryError as failure:
            error = failure
    raise import_module("cuda.core.memory.pool.reports").out_of_memory(
        root, size, error, self.stacks is not None) from error


cdef pool_block* grow(PoolMemoryResource self, size_t size, Stream stream) except? NULL:
    """Allocate a segment from upstream: first a large one, then one of the required size.

    Return NULL if the limit of the pool permits no segment.
    """
    cdef size_t reserved = pool_of(self).totals().reserved.load()
    cdef size_t step = min(max(reserved // 4, SEGMENT_UNIT), MAX_GROWTH)
    cdef size_t exact = rounded_up_to(size, SEGMENT_UNIT)
    cdef size_t segment_size
    step = step // SEGMENT_UNIT * SEGMENT_UNIT
    error = None
    sizes = {max(step, exact), exact, rounded_up_to(size, BLOCK_UNIT)}
    for segment_size in sorted(sizes, reverse=True):
        if segment_size < size or not pool_of(self).reserve(segment_size, self.limit):
            continue
        try:
            return add_segment(self, segment_size, size, stream)
        except MemoryError as failure:
            error = failure
    if error is not None:
        raise error
    return NULL


cdef size_t rounded_up_to(size_t size, size_t unit) noexcept:
    """Round up to a multiple of `unit`; 0 on overflow."""
    cdef size_t upper = size + unit - 1
    return upper - upper % unit if upper >= size else 0


cdef pool_block* add_segment(PoolMemoryResource self, size_t size, size_t block_size,
                             Stream stream) except? NULL:
    """Allocate and add a segment of a reserved size. Cancels the reservation on failure."""
    cdef borrowed_stream order
    cdef pool_block* block
    cdef size_t offset = 0
    cdef Buffer memory
    try:
        memory = allocate_upstream(self, size, stream)
        if memory.fields.pointer % DEVICE_ALIGNMENT and self.padding == 0:
            self.padding = BLOCK_UNIT
            memory = allocate_upstream(self, size, stream)
        if self.padding:
            offset = -memory.fields.pointer % BLOCK_UNIT
        check_apart(self, memory)
        order = stream.native.borrow_open(stream)
        block = pool_of(self).add_segment(memory.fields.pointer + offset, size, <void*>memory,
                                          order, block_size)
    except BaseException:
        pool_of(self).unreserve(size)
        raise
    Py_INCREF(memory)
    notify_log("note_pool", (self.device, size, pool_of(self).totals().reserved.load()))
    return block


cdef Buffer allocate_upstream(PoolMemoryResource self, size_t size, Stream stream):
    """Return a part of new upstream memory, which others that have the Buffer cannot free."""
    cdef borrowed_stream order
    cdef Stream upstream_stream = upstream_stream_of(self)
    if upstream_stream is None and self.parent is not None:
        upstream_stream = create_upstream_stream(self, stream)
    cdef Buffer memory = allocate_from(self.upstream, size + self.padding,
                                       stream if self.parent is None else upstream_stream,
                                       self.device if self.is_for_device else ANY_DEVICE)
    if upstream_stream is None:
        upstream_stream = create_upstream_stream(self, stream)
    cdef Buffer segment = create_part(memory, 0, memory.fields.size)
    set_free_stream(segment.shared, upstream_stream)
    if self.parent is not None:  # a graph does not wait for uncaptured work
        order = upstream_stream.native.borrow_open(upstream_stream)
        with nogil:
            synchronize_stream(order)
    return segment


cdef int check_apart(PoolMemoryResource self, Buffer memory) except -1:
    if pool_of(self).overlaps(memory.fields.pointer, memory.fields.size):
        raise ValueError(f"{qualified_name(self.upstream)}.allocate() returned memory at "
                         f"{memory.fields.pointer:#x} that it has already returned to this pool")


cdef Stream create_upstream_stream(PoolMemoryResource self, Stream stream):
    cdef borrowed_stream order = stream.native.borrow_open(stream)
    cdef Stream new_stream = create_stream_in(Stream, context_of_stream(order), None)
    with cython.critical_section(self):
        if self.upstream_stream is None:
            self.upstream_stream = new_stream
        return self.upstream_stream


cdef int add_initial_segment(PoolMemoryResource self, Device device, size_t size) except -1:
    cdef size_t rounded = rounded_up_to(size, BLOCK_UNIT)
    if rounded == 0:
        raise MemoryError(f"{size} bytes exceed the address space")
    self.upstream_stream = create_stream_in(Stream, device.context_to_use(), None)
    pool_of(self).reserve(rounded, SIZE_MAX)
    add_segment(self, rounded, 0, self.upstream_stream)
