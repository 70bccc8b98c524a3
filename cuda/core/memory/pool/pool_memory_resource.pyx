# SPDX-License-Identifier: Apache-2.0
# PoolMemoryResource: a pool of ours, over the memory of another resource.

from cpython.ref cimport Py_DECREF, Py_INCREF
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


cdef size_t UNIT = 512                   # of addresses and sizes
cdef size_t SEGMENT = 2 << 20            # sizes of segments are multiples of this
cdef size_t LARGEST_STEP = 64 << 20      # what a pool grows by at most, if less is asked for


# What a cycle through a pool would take first is needed to give memory back.
@cython.no_gc_clear
cdef class PoolMemoryResource(MemoryResource):
    """PoolMemoryResource(device, *, initial_size=0, max_size=None, release_threshold=None, \
upstream=None, capture="refuse", track_allocations=False)\n--\n
    Memory in stream order from large segments that are kept and cut into blocks.

    A block that was freed on a stream is used again on it at once, without the driver; on another
    stream where its free is done, or after a wait of that stream. Nothing waits on the host unless
    memory has run out. Blocks begin at multiples of 512 bytes. Buffers of the pool keep it alive.

    Parameters
    ----------
    device : Device or int
        The device whose streams use the memory.
    initial_size : int
        What is taken from `upstream` at once, in bytes.
    max_size : int, optional
        The most that the pool may hold from `upstream`, in bytes; None for no limit.
    release_threshold : int, optional
        How much may be held, in bytes, when `Device.sync` returns: segments that are free beyond
        that go back then. None keeps them.
    upstream : MemoryResource, optional
        What gives the segments; None for a `DeviceMemoryResource` on the device's current pool.
    capture : str
        What an allocation does on a stream that is being captured: ``"refuse"`` raises
        RuntimeError, ``"private"`` takes memory that only the graphs of this capture use.
    track_allocations : bool
        Whether the Python stack of each allocation is kept for `report_leaks`.

    Raises
    ------
    ValueError
        If a size is negative, `initial_size` is above `max_size`, or `capture` is neither.
    """

    def __init__(self, device, *, initial_size=0, max_size=None, release_threshold=None,
                 upstream=None, capture="refuse", track_allocations=False):
        cdef Device on = Device(device)
        cdef size_t first = size_from(initial_size, "initial_size")
        cdef size_t most = SIZE_MAX if max_size is None else size_from(max_size, "max_size")
        threshold = None if release_threshold is None else size_from(
            release_threshold, "release_threshold")
        if first > most:
            raise ValueError(f"initial_size {first} is above max_size {most}")
        if capture not in ("refuse", "private"):
            raise ValueError(f"capture must be 'refuse' or 'private', got {capture!r}")
        if upstream is None:
            upstream = DeviceMemoryResource(on)
        else:
            require_memory_resource(upstream)
        if self.native is not NULL:
            raise RuntimeError("a PoolMemoryResource is initialised once")
        self.is_for_device = upstream.is_device_accessible
        self.is_for_host = upstream.is_host_accessible
        self.is_moving = upstream.is_managed
        self.device = upstream.device_id if self.is_for_device else on.ordinal
        self.upstream, self.limit, self.capture = upstream, most, capture
        self.stacks = {} if track_allocations else None
        self.native = new segment_pool(new_totals())
        self.captures = weakref.WeakValueDictionary()
        self.release_threshold = threshold
        import_module("cuda.core.memory.leak_report").watch(self)
        if first:
            fill_at_first(self, on, first)

    def __dealloc__(self):
        if self.native is NULL or not self.native.is_of_this_process() or is_finalizing():
            return
        try:
            try:
                give_segments_back(self, 0)  # in order, which needs the driver
            finally:
                drop_segments(self.native.remove_all_segments())
        except Exception as error:
            report_line(f"Warning: a PoolMemoryResource could not give its memory back: {error}")
        self.native.release()

    @cython.binding(True)
    def allocate(self, size, stream=NOT_GIVEN):
        """Take memory from the pool.

        Stream-ordered: the memory may be used on `stream`, and on streams that wait for it. Only
        where memory has run out, this blocks the host.

        Parameters
        ----------
        size : int
            In bytes; 0 gives a buffer without an address.
        stream : Stream
            The stream that orders the allocation and, unless another is named, the free.

        Returns
        -------
        Buffer

        Raises
        ------
        OutOfMemoryError
            If there is not that much, after everything that is free went back upstream.
        RuntimeError
            If the stream is capturing, the resource is closed, or it is the one of a parent
            process or of a context that was reset.
        """
        if type(stream) is not Stream:
            stream = stream_or_default(stream, "allocate()")
        return allocate_block(self, size, <Stream>stream)

    @cython.binding(True)
    def deallocate(self, ptr, size_t size=0, stream=NOT_GIVEN):
        """Give memory back that no open Buffer stands for; closing a Buffer does it by itself.

        Stream-ordered. It looks the address up, which takes time.

        Parameters
        ----------
        ptr : int
            The address that was allocated; 0 does nothing.
        size : int
            Not needed; taken for the protocol's sake.
        stream : Stream
            The stream that orders the free.

        Raises
        ------
        ValueError
            If no memory in use begins there.
        """
        cdef CUdeviceptr address = address_from(ptr)
        cdef Stream given = stream_or_default(stream, "deallocate()")
        if address == 0 or self.native is NULL or not self.native.is_of_this_process():
            return
        cdef pool_block* found
        cdef PoolMemoryResource each
        for each in parts_of(self):
            found = each.native.find(address)
            if found is not NULL:
                give_block_back(each, found, free_order(), given)
                return
        raise ValueError(f"no memory of this pool that is in use begins at {address:#x}")

    def close(self):
        """Refuse further allocations, and give back what is free.

        Stream-ordered. The rest goes back with the last buffer. Closing twice is harmless.
        """
        if self.native is not NULL and self.native.is_of_this_process():
            self.native.close()
            give_segments_back(self, 0)

    @property
    def is_closed(self):
        """Whether `close` was called. Host only."""
        return self.native is NULL or self.native.is_closed()

    def trim(self, size_t min_bytes_to_keep=0):
        """Give segments back upstream that are free as a whole.

        Stream-ordered: nothing waits for their last uses but what becomes of the memory.

        Parameters
        ----------
        min_bytes_to_keep : int
            What the pool may go on holding, in bytes.

        Returns
        -------
        int
            How much went back, in bytes.
        """
        require_native(self)
        return give_segments_back(self, min_bytes_to_keep)

    def statistics(self):
        """What the pool holds and did, as a flat dict of numbers.

        Host only. Exact where no other thread uses the pool meanwhile; sizes in use are those that
        were asked for, in bytes.

        Returns
        -------
        dict of str to number
            ``allocated_bytes`` and ``reserved_bytes`` (from upstream) each with ``.current`` and
            ``.peak``, ``allocated_bytes.total``, ``allocation_count.current`` and ``.total``,
            ``reuse_same_stream``, ``reuse_cross_stream``, ``cross_stream_waits``,
            ``upstream_allocs``, ``upstream_frees``, ``oom_retries``, ``largest_free_block``, and
            ``fragmentation``: the part of the free bytes that the largest free block has not.
        """
        require_native(self)
        cdef pool_totals* totals = &self.native.totals()
        cdef block_figures own = self.native.figures()
        cdef PoolMemoryResource each
        made, given, freed, reused = (
            totals.allocations.load(), totals.allocated_bytes.load(), totals.frees.load(),
            totals.reused.load())
        for each in parts_of(self):
            seen = each.native.figures()
            made, given = made + seen.allocations, given + seen.allocated_bytes
            freed, reused = freed + seen.frees, reused + seen.reuse_same_stream
        return {
            "allocated_bytes.current": totals.allocated.load(),
            "allocated_bytes.peak": totals.allocated_peak.load(),
            "allocated_bytes.total": given,
            "allocation_count.current": made - freed,
            "allocation_count.total": made,
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
        """The memory that is in use, the oldest first.

        Host only.

        Returns
        -------
        list of LiveAllocation
            Named tuples ``(address, size, stream, age, traceback)``: bytes, the address of the
            stream, seconds to some milliseconds, and with ``track_allocations`` the Python stack.
        """
        require_native(self)
        cdef vector[live_block] found
        cdef live_block each
        cdef PoolMemoryResource part
        rows = []
        for part in parts_of(self):
            found = part.native.live_blocks()
            for each in found:
                rows.append((each.address, each.size, <uintptr_t>each.stream, each.age))
        reports = import_module("cuda.core.memory.pool.reports")
        return reports.live_allocations(rows, self.stacks or {})

    @property
    def max_size(self):
        """The most that the pool may hold, in bytes; None for no limit. Host only."""
        return None if self.limit == SIZE_MAX else self.limit

    @property
    def release_threshold(self):
        """What may be held, in bytes, when `Device.sync` returns; None: anything. Settable."""
        return self.threshold

    @release_threshold.setter
    def release_threshold(self, value):
        self.threshold = None if value is None else size_from(value, "release_threshold")
        pools_with_threshold.discard(self)
        if value is not None:
            pools_with_threshold.add(self)

    @property
    def device_id(self):
        """The ordinal of the device that the memory belongs to. Host only."""
        return self.device

    @property
    def is_device_accessible(self):
        """Whether kernels may use the memory, as upstream says. Host only."""
        return self.is_for_device

    @property
    def is_host_accessible(self):
        """Whether the host may use the memory, as upstream says. Host only."""
        return self.is_for_host

    @property
    def is_managed(self):
        """Whether the memory moves by itself, as upstream says. Host only."""
        return self.is_moving

    def __repr__(self):
        state = " closed" if self.is_closed else ""
        return f"<{type(self).__name__} device={self.device}{state}>"


# Those that look at their size when a device was synchronised.
pools_with_threshold = weakref.WeakSet()


cdef int release_beyond_thresholds(int device) except -1:
    cdef PoolMemoryResource pool
    for each in list(pools_with_threshold):
        pool = each
        if pool.device == device and pool.native.is_of_this_process():
            give_segments_back(pool, pool.threshold)
    return 0


cdef int require_native(PoolMemoryResource self) except -1:
    check_open(self.native is not NULL, "PoolMemoryResource")
    if not self.native.is_of_this_process():
        raise RuntimeError("this pool is the parent process's: its memory cannot be used in the "
                           "child of a fork; make a new PoolMemoryResource")
    return 0


cdef Buffer allocate_block(PoolMemoryResource self, object size, Stream given):
    cdef Buffer buffer = Buffer.__new__(Buffer)
    cdef size_t wanted = size_from(size, "allocate(): size")
    cdef borrowed_stream order
    cdef CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE
    cdef pool_block* found = NULL
    buffer.order.record(given.native.share_open(given))
    order = given.native.borrow_open(given)
    if self.native is NULL or self.native.is_closed() or not self.native.is_of_this_process():
        require_native(self)
        check_open(False, "PoolMemoryResource")
    call(driver.cuStreamIsCapturing, order.raw(), &status)
    if status != CU_STREAM_CAPTURE_STATUS_NONE and self.whole is None:
        return allocate_block(part_for_capture(self, order), size, given)
    if wanted:
        found = self.native.allocate(wanted, order)
        if found is NULL:
            found = find_memory(self, wanted, given)
        if self.stacks is not None:
            self.stacks[found.address] = import_module("cuda.core.memory.stacks").stack_here()
        buffer.fields = buffer_fields(found.address, wanted, True)
        buffer.block = found
    else:
        buffer.fields = buffer_fields(0, 0, True)
    buffer.resource = self
    return buffer


cdef list parts_of(PoolMemoryResource self):
    """The pool and what serves its captures."""
    return [self, *self.captures.values()]


cdef PoolMemoryResource part_for_capture(PoolMemoryResource self, const stream_ref& stream):
    """Memory of its own for one capture: in use as long as a graph of it, or a buffer."""
    cdef capture_info found
    cdef PoolMemoryResource part
    if self.capture == "refuse":
        raise RuntimeError("cannot perform memory operations on a capturing stream (consider "
                           "using GraphMemoryResource, or a pool with capture='private')")
    check(find_capture(stream, found), "cuStreamGetCaptureInfo")
    part = self.captures.get(found.id)
    if part is None:
        part = PoolMemoryResource.__new__(PoolMemoryResource)
        part.native = new segment_pool(self.native.shared_totals())
        part.native.count_at_once()
        self.native.count_at_once()
        part.whole, part.upstream, part.stacks = self, self.upstream, self.stacks
        part.limit, part.slack, part.device = self.limit, self.slack, self.device
        part.is_for_device, part.is_for_host = self.is_for_device, self.is_for_host
        part.is_moving, part.capture, part.captures = self.is_moving, self.capture, {}
        keep_in_capture(stream, part)
        self.captures[found.id] = part
    return part


cdef pool_block* find_free(PoolMemoryResource self, size_t wanted, Stream given,
                           segment_use segments) except? NULL:
    """Steps 1 to 3 of the order: of this stream, done with on others, after a wait for others.

    Nothing waits where others than `segments` may still have it.
    """
    cdef borrowed_stream order = given.native.borrow_open(given)
    cdef pool_block* found = self.native.allocate_from_bins(wanted, order, segments)
    if found is NULL and self.whole is None:  # what a capture has is in its order alone
        with nogil:
            found = self.native.allocate_across_streams(wanted, order, segments)
    return found


cdef pool_block* find_memory(PoolMemoryResource self, size_t wanted, Stream given) except NULL:
    """All that may be done before memory has run out, the cheapest first."""
    cdef pool_block* found = NULL
    cdef int step
    if self.native.is_inert():
        raise RuntimeError("the context of this pool's memory was reset or destroyed: make a new "
                           "PoolMemoryResource")
    cdef PoolMemoryResource whole = self if self.whole is None else self.whole
    error = None
    for step in range(4):
        if step == 1:
            give_segments_back(whole, 0)
        elif step == 2:
            import_module("gc").collect()
        elif step == 3:
            with nogil:
                whole.native.synchronize()
            give_segments_back(whole, 0)
        if step:
            count_oom_retry(self.native)
        found = find_free(self, wanted, given, use_for(wanted))  # large ones stay whole
        if found is NULL:
            found = find_free(self, wanted, given, ALL_BLOCKS)
        if found is not NULL:
            return found
        try:
            return grow(self, wanted, given)
        except MemoryError as failure:
            error = failure
    raise import_module("cuda.core.memory.pool.reports").out_of_memory(
        whole, wanted, error, self.stacks is not None) from error


cdef pool_block* grow(PoolMemoryResource self, size_t wanted, Stream given) except NULL:
    """Take a segment from upstream, first a generous one, then one that is just large enough."""
    cdef size_t held = self.native.totals().reserved.load()
    cdef size_t step = min(max(held // 4, SEGMENT), LARGEST_STEP) // SEGMENT * SEGMENT
    cdef size_t whole = rounded_up_to(wanted, SEGMENT)
    cdef size_t each
    error = MemoryError("that is more than max_size allows")
    for each in sorted({max(step, whole), whole, rounded_up_to(wanted, UNIT)}, reverse=True):
        if each < wanted or not self.native.reserve(each, self.limit):
            continue
        try:
            return add_segment(self, each, wanted, given)
        except MemoryError as failure:
            error = failure
    raise error


cdef size_t rounded_up_to(size_t size, size_t unit) noexcept:
    """0 for what is more than there are addresses."""
    cdef size_t more = size + unit - 1
    return more - more % unit if more >= size else 0


cdef pool_block* add_segment(PoolMemoryResource self, size_t size, size_t wanted,
                             Stream given) except? NULL:
    """Of a size that is reserved already; nothing stays reserved where it fails."""
    cdef borrowed_stream order
    cdef pool_block* found
    cdef size_t beyond = 0
    cdef Buffer memory
    try:
        memory = from_upstream(self, size, given)
        if memory.fields.pointer % UNIT:
            beyond = UNIT - memory.fields.pointer % UNIT
            if self.slack == 0:  # known from now on
                self.slack = UNIT
                memory.close()
                memory = from_upstream(self, size, given)
                beyond = -memory.fields.pointer % UNIT
        order = given.native.borrow_open(given)
        found = self.native.add_segment(memory.fields.pointer + beyond, size, <void*>memory,
                                        order, wanted)
    except BaseException:
        self.native.unreserve(size)
        raise
    Py_INCREF(memory)
    tell("note_pool", (self.device, size, self.native.totals().reserved.load()))
    return found


cdef Buffer from_upstream(PoolMemoryResource self, size_t size, Stream given):
    cdef borrowed_stream order
    cdef Stream last = order_of(self)
    if last is None and self.whole is not None:
        last = create_order(self, given)
    memory = self.upstream.allocate(size + self.slack,
                                    stream=given if self.whole is None else last)
    if not isinstance(memory, Buffer) or (<Buffer>memory).fields.size < size:
        raise TypeError(f"{qualified_name(self.upstream)}.allocate() must give a Buffer of at "
                        f"least {size} bytes, got {memory!r}")
    if last is None:
        last = create_order(self, given)
    redirect(<Buffer>memory, last)
    if self.whole is not None:  # a graph does not wait for what is not captured
        order = last.native.borrow_open(last)
        with nogil:
            synchronize_stream(order)
    return memory


cdef Stream create_order(PoolMemoryResource self, Stream given):
    cdef borrowed_stream order = given.native.borrow_open(given)
    cdef Stream made = create_stream_in(Stream, context_of_stream(order), None)
    with cython.critical_section(self):
        if self.order is None:
            self.order = made
        return self.order


cdef int fill_at_first(PoolMemoryResource self, Device on, size_t size) except -1:
    size = rounded_up_to(size, UNIT)
    self.order = create_stream_in(Stream, on.context_to_use(), None)
    if not self.native.reserve(size, SIZE_MAX):
        raise MemoryError(f"{size} bytes are more than there are addresses")
    add_segment(self, size, 0, self.order)
    return 0


cdef size_t give_segments_back(PoolMemoryResource self, size_t keep) except? 0:
    """What is free as a whole goes upstream after its last use, as long as `keep` is left."""
    cdef borrowed_stream order
    cdef pool_segment* taken
    cdef size_t size
    cdef Stream last = order_of(self)
    if last is None:
        return 0
    order = last.native.borrow_open(last)
    with nogil:
        taken = self.native.remove_free_segments(keep, order)
    size = drop_segments(taken)
    if self.native.is_closed() and self.native.totals().reserved.load() == 0:
        with cython.critical_section(self):
            self.order = None
    return size


cdef Stream order_of(PoolMemoryResource self):
    with cython.critical_section(self):
        return self.order


cdef size_t drop_segments(pool_segment* first) except? 0:
    """A failure of one is raised when all are gone."""
    cdef pool_segment* each
    cdef size_t size = 0
    cdef Buffer memory
    error = None
    while first is not NULL:
        each, first = first, first.next
        size += each.size
        memory = <Buffer><object>each.owner
        del each
        Py_DECREF(memory)
        try:
            memory.close()
        except Exception as failure:
            error = failure
    if error is not None:
        raise error
    return size


cdef int give_block_back(PoolMemoryResource self, pool_block* block, const free_order& order,
                         Stream stream) except -1:
    """Once, whatever fails on the way: on `stream`, or where it came from for None."""
    cdef bint was_last
    if not self.native.is_of_this_process():
        return 0
    if self.stacks is not None:
        self.stacks.pop(block.address, None)
    if stream is None and not block.home.is_per_thread():
        was_last = self.native.free(block[0], block.home[0])
    else:
        was_last = free_elsewhere(self, block, order, stream)
    if was_last:
        give_segments_back(self, 0)
    return 0


cdef bint free_elsewhere(PoolMemoryResource self, pool_block* block, const free_order& order,
                         Stream stream) except -1:
    """On another stream than its own, or on the default stream of a thread."""
    cdef borrowed_stream given
    cdef Stream token = PER_THREAD_DEFAULT_STREAM
    cdef bint was_last
    try:
        if stream is None:
            given = token.native.borrow_open(token)
            order.make_wait(given)
        else:
            given = stream.native.borrow_open(stream)
        if given.raw() is CU_STREAM_PER_THREAD:
            with nogil:
                was_last = self.native.free_on_this_thread(block[0], given)
            return was_last
        return self.native.free(block[0], self.native.home_of(given))
    except CUDAError:
        self.native.free(block[0], block.home[0])
        raise


cdef int move_block(PoolMemoryResource self, Buffer buffer, Stream stream) except -1:
    """Let the memory go back on another stream."""
    cdef borrowed_stream given
    cdef stream_blocks* home
    if not self.native.is_of_this_process():
        return 0
    given = stream.native.borrow_open(stream)
    home = &self.native.home_of(given)
    with cython.critical_section(buffer):
        if buffer.block is not NULL:
            self.native.change_home(buffer.block[0], home[0])
    return 0
