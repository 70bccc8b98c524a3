# SPDX-License-Identifier: Apache-2.0
# Stream: work that the device does in order.


cdef object stream_options = None  # the class, loaded when options are first given
cdef object launch_function = None  # cuda.core.launch, looked up at the first Stream.launch


@cython.freelist(64)
cdef class Stream:
    """Work that the device does in order: launches, copies, allocations, events.

    It comes from `Device.create_stream`, from `Stream.from_handle` for a stream of another library,
    or from ``Stream()``, a new stream of the current device. A created stream keeps its context
    alive and is destroyed with the last wrapper; a foreign one is never destroyed.
    """

    def __init__(self, *args, **kwargs):
        if args or kwargs:
            raise RuntimeError(
                "Stream objects cannot be instantiated directly. Please use Device APIs "
                "(create_stream) or other Stream APIs (from_handle). It comes from "
                "Device.create_stream(), or Stream.from_handle() for the stream of another library")
        if self.native.is_open(self):
            raise RuntimeError("Stream is initialised already")
        cdef Device device = current_device()
        fill_stream(self, device.context_to_use(), None)

    @classmethod
    def _init(cls, obj=None, options=None, device_id=None, ctx=None):
        """Make a stream of this class: what `Device.create_stream` does. Host only."""
        if obj is not None:
            if options is not None:
                raise ValueError("obj and options cannot be given together: a stream that exists "
                                 "has its options already")
            return wrap_foreign_stream(cls, obj)
        cdef context_handle context
        if ctx is not None:
            context = (<Context?>ctx).native.share_open(ctx)
        else:
            context = context_of_current_thread()
        return create_stream_in(cls, context, options)

    @classmethod
    def _legacy_default(cls):
        """A wrapper of the legacy default stream. Host only."""
        return wrap_raw_stream(cls, CU_STREAM_LEGACY, None)

    @classmethod
    def _per_thread_default(cls):
        """A wrapper of the default stream of the calling thread. Host only."""
        return wrap_raw_stream(cls, CU_STREAM_PER_THREAD, None)

    @staticmethod
    def from_handle(handle):
        """Wrap a stream that exists, without managing its lifetime.

        Host only. The stream must stay alive as long as the wrapper is used, unless it was made
        here: then both share it.

        Parameters
        ----------
        handle : int
            The address of a ``CUstream`` or ``cudaStream_t``, or an object that converts to it; 0
            is the default stream.

        Returns
        -------
        Stream
            Equal to every other wrapper of that address.

        Raises
        ------
        TypeError
            If `handle` is not an integer.
        """
        return wrap_raw_stream(Stream, <CUstream>address_from(handle), None)

    def close(self):
        """Destroy the stream, unless another wrapper or object needs it.

        Host only. Work that was submitted is still done. Closing twice is harmless, and closing
        one of the two default-stream tokens does nothing.

        See Also
        --------
        cuStreamDestroy : the driver function.
        """
        if not is_token(self.identity):
            self.native.close(self)

    @property
    def is_closed(self):
        """Whether `close` was called. Host only."""
        return not self.native.is_open(self)

    @property
    def handle(self):
        """The stream as `cuda.bindings.driver.CUstream`; 0 when closed. Host only."""
        return as_bindings("CUstream", <void*>self.identity if self.native.is_open(self) else NULL)

    def __cuda_stream__(self):
        """The protocol that libraries share: ``(0, address)``. Host only."""
        self.native.check_open(self)
        return 0, self.identity

    @property
    def is_nonblocking(self):
        """Whether the stream runs beside the legacy default stream. Host only.

        See Also
        --------
        cuStreamGetFlags : the driver function, asked once.
        """
        return is_nonblocking(self.native.borrow_open(self))

    @property
    def priority(self):
        """How urgent the stream's work is; lower is more urgent. Host only.

        See Also
        --------
        cuStreamGetPriority : the driver function, asked once.
        """
        return priority_of(self.native.borrow_open(self))

    @property
    def context(self):
        """The `Context` of the stream; of a default stream, the one that is current. Host only.

        Raises
        ------
        RuntimeError
            For a default stream, if no context is current.

        See Also
        --------
        cuStreamGetCtx : the driver function.
        """
        return wrap_context(context_of_open_stream(self))

    @property
    def resources(self):
        """The part of its device that the stream works with, as `DeviceResources`. Host only.

        That of its context; of a default stream, that of the context that is current now.
        """
        return import_module("cuda.core._resources").resources_of_context(
            wrap_context(context_of_open_stream(self)))

    @property
    def device(self):
        """The `Device` of the stream; of a default stream, the current one. Host only."""
        return device_of_ordinal(context_of_open_stream(self).facts().device)

    @property
    def is_done(self):
        """Whether all work that was submitted is finished.

        Host only.

        Raises
        ------
        CUDAError
            If earlier work failed.

        See Also
        --------
        cuStreamQuery : the driver function.
        """
        cdef borrowed_stream stream = self.native.borrow_open(self)
        cdef CUresult code
        with nogil:  # it is polled: what it waits for may need the interpreter
            code = try_call(driver.cuStreamQuery, stream.raw())
        if code == CUDA_ERROR_NOT_READY:
            return False
        check(code, "cuStreamQuery")
        return True

    def sync(self):
        """Wait until all work that was submitted is finished.

        Blocks the host.

        Raises
        ------
        CUDAError
            If earlier work failed.

        See Also
        --------
        cuStreamSynchronize : the driver function.
        """
        cdef borrowed_stream stream = self.native.borrow_open(self)
        with nogil:
            call(driver.cuStreamSynchronize, stream.raw())
        release_completed_work()

    def record(self, event=None, options=None):
        """Mark the point that the stream's work has reached.

        Stream-ordered.

        Parameters
        ----------
        event : Event, optional
            Recorded anew; None creates one in the stream's context.
        options : EventOptions or dict, optional
            What to ask of a new event; ignored when `event` is given.

        Returns
        -------
        Event
            `event`, or the new one.

        Raises
        ------
        TypeError
            If `event` is not an Event, or is shared with another process.
        RuntimeError
            If the stream or `event` is closed.

        See Also
        --------
        cuEventRecord : the driver function.
        """
        cdef unsigned flags
        if event is None:
            if options is None:  # nearly always
                return record_new_event(self, CU_EVENT_DISABLE_TIMING)
            flags = event_flags(options, True)
            made = record_new_event(self, flags)
            if flags & CU_EVENT_INTERPROCESS:
                sharing_module().enable_event_transfer(made)
            return made
        if not isinstance(event, Event):
            raise TypeError(f"event must be an Event, got {qualified_name(event)}")
        cdef borrowed_stream stream = self.native.borrow_open(self)
        cdef borrowed_event mark = (<Event>event).native.borrow_open(event)
        if mark.facts().is_ipc_enabled():
            raise TypeError("an IPC-enabled event should not be re-recorded: make a new one with "
                            "Stream.record(options=...)")
        with nogil:
            call(driver.cuEventRecord, mark.raw(), stream.raw())
        if captures_under_way():
            keep_in_capture(stream, share_event(<Event>event))
        return event

    def wait(self, event_or_stream):
        """Let later work of this stream wait for an event, or for what a stream was given so far.

        Stream-ordered.

        Parameters
        ----------
        event_or_stream : Event, Stream, or object with ``__cuda_stream__``
            It may belong to another device.

        Raises
        ------
        ValueError
            If the argument is none of these.
        RuntimeError
            If the stream or the argument is closed.

        See Also
        --------
        cuStreamWaitEvent : the driver function.
        """
        if not isinstance(event_or_stream, Event):
            wait_for_other(self, event_or_stream)
            return
        cdef borrowed_stream stream = self.native.borrow_open(self)
        cdef borrowed_event event = (<Event>event_or_stream).native.borrow_open(event_or_stream)
        call(driver.cuStreamWaitEvent, stream.raw(), event.raw(), 0)  # it returns at once
        if captures_under_way():
            keep_in_capture(stream, share_event(<Event>event_or_stream))

    def create_graph_builder(self):
        """A builder that makes a graph of what this stream is given.

        Host only. The stream stays the caller's.

        Returns
        -------
        GraphBuilder
            Which has not begun.
        """
        self.native.check_open(self)
        return graph_module()._create_graph_builder(self, False)

    def launch(self, config, kernel, *kernel_args):
        """Launch a kernel on this stream: ``cuda.core.launch(self, config, kernel, ...)``.

        Stream-ordered.

        Parameters
        ----------
        config : LaunchConfig
            The grid and how to run it.
        kernel : Kernel
            What to run.
        *kernel_args
            The arguments of the kernel.

        See Also
        --------
        cuLaunchKernelEx : the driver function.
        """
        global launch_function
        if launch_function is None:
            launch_function = public_object("launch")
        launch_function(self, config, kernel, *kernel_args)

    def write_value(self, target, value, bits=32):
        """Write one number to memory, once all earlier work of the stream is finished.

        Stream-ordered. Who sees the number sees all earlier writes of the stream as well.

        Parameters
        ----------
        target : Buffer or int
            Where, an address of page-locked or device memory, but for memory of pools and managed
            memory; a multiple of the width.
        value : int
            Negative numbers are written as two's complement.
        bits : int
            32 or 64.

        Raises
        ------
        OverflowError
            If `value` does not fit.
        CUDAError
            If the address is not the device's to write.

        See Also
        --------
        cuStreamBatchMemOp : the driver function.
        """
        submit_values(self, [("write", target, value, bits)])

    def wait_value(self, target, value, condition=">=", bits=32):
        """Let later work of the stream wait until a number in memory meets a condition.

        Stream-ordered. The number may be written by another stream, a kernel, or the host.

        Parameters
        ----------
        target : Buffer or int
            Where, an address of page-locked or device memory, but for memory of pools and managed
            memory; a multiple of the width.
        value : int
            What the number is compared with.
        condition : str
            ``">="`` (the difference, which may have wrapped around, is not negative), ``"=="``,
            ``"&"`` (they have a bit in common) or ``"nor"`` (a bit is set in neither).
        bits : int
            32 or 64.

        Raises
        ------
        ValueError
            If there is no such condition or width.
        CUDAError
            If the address is not the device's to read.

        See Also
        --------
        cuStreamBatchMemOp : the driver function.
        """
        submit_values(self, [("wait", target, value, condition, bits)])

    def reduce_value(self, operation, target, value, bits=32):
        """Change one number in memory atomically, once all earlier work is finished.

        Stream-ordered. Needs a driver of CUDA 13.1, and a device that has it.

        Parameters
        ----------
        operation : str
            ``"add"``, ``"and"`` or ``"or"``.
        target : Buffer or int
            Where, an address of page-locked or device memory, but for memory of pools and managed
            memory; a multiple of the width.
        value : int
            The other operand.
        bits : int
            32 or 64.

        See Also
        --------
        cuStreamBatchMemOp : the driver function.
        """
        submit_values(self, [("reduce", operation, target, value, bits)])

    def memory_barrier(self, scope="system"):
        """Order the writes of earlier work before those of later work.

        Stream-ordered.

        Parameters
        ----------
        scope : str
            For whom: ``"system"`` or ``"device"``.

        See Also
        --------
        cuStreamBatchMemOp : the driver function.
        """
        submit_values(self, [("barrier", scope)])

    def value_operations(self, operations):
        """Several of `write_value`, `wait_value`, `reduce_value`, `memory_barrier` in one call.

        Stream-ordered. They are done one after the other.

        Parameters
        ----------
        operations : sequence of tuple
            Each ``("write", target, value, ...)``, ``("wait", target, value, ...)``,
            ``("reduce", operation, target, value, ...)`` or ``("barrier", ...)``, with what the
            method of that name takes.

        See Also
        --------
        cuStreamBatchMemOp : the driver function.
        """
        submit_values(self, list(operations))

    @property
    def attributes(self):
        """The attributes of the stream: ``{"mem_sync_domain": "default", ...}``. Host only.

        Kernels that are launched on it take them, but for what their `LaunchConfig` asks for.

        See Also
        --------
        cuStreamGetAttribute : the driver function.
        """
        cdef borrowed_stream stream = self.native.borrow_open(self)
        return read_attributes(OF_STREAMS, stream.raw(), True)

    def set_attributes(self, **attributes):
        """Change attributes of the stream, for what is submitted from now on.

        Host only.

        Parameters
        ----------
        **attributes
            Some of ``access_policy_window``, ``synchronization_policy``, ``priority``,
            ``mem_sync_domain_map``, ``mem_sync_domain``, ``nvlink_util_centric_scheduling``, with
            values as for `LaunchConfig`; the policy is ``"auto"``, ``"spin"``, ``"yield"`` or
            ``"blocking_sync"``.

        Raises
        ------
        TypeError
            If streams have no such attribute.
        ValueError
            If it has no such value.
        RuntimeError
            If the stream is closed, or the driver is older than the attribute.

        See Also
        --------
        cuStreamSetAttribute : the driver function.
        """
        set_attributes_of_stream(self, attributes)

    def launch_host(self, fn, *, user_data=None):
        """Call a host function once all earlier work of the stream is finished.

        Stream-ordered. Later work of the stream waits for it. The function must not call CUDA.

        Parameters
        ----------
        fn : callable or ctypes function
            Called without arguments; what it returns is ignored, and an exception is reported as
            unraisable. Or a pointer made with ``ctypes.CFUNCTYPE(None, ctypes.c_void_p)``, which is
            called without the interpreter.
        user_data : int or bytes-like, optional
            For a ctypes function only: the pointer to pass, or bytes, of which a copy is passed.

        See Also
        --------
        cuLaunchHostFunc : the driver function.
        """
        submit_host_call(self, fn, user_data)

    def __enter__(self):
        self.native.check_open(self)
        return self

    def __exit__(self, *exc_info):
        self.close()

    def __eq__(self, other):
        if not isinstance(other, Stream):
            return NotImplemented
        if self is other:
            return True
        cdef Stream stream = <Stream>other
        return (self.identity == stream.identity and self.native.is_open(self)
                and stream.native.is_open(stream))

    def __hash__(self):
        return hash(self.identity)

    def __repr__(self):
        handle = self.identity if self.native.is_open(self) else 0
        return f"<Stream handle=0x{handle:x} context=0x{<uintptr_t>known_context(self):x}>"


cdef object graph_module():
    return import_module("cuda.core._graph")


cdef object texture_module():
    return import_module("cuda.core._texture")


cdef inline bint is_token(uintptr_t identity) noexcept:
    return identity == <uintptr_t>CU_STREAM_LEGACY or identity == <uintptr_t>CU_STREAM_PER_THREAD


cdef str qualified_name(object given):
    cls = type(given)
    return cls.__qualname__ if cls.__module__ == "builtins" else \
        f"{cls.__module__}.{cls.__qualname__}"


cdef int fill_stream(Stream self, const context_ref& context, object options) except -1:
    """Create the driver stream of a fresh object."""
    global stream_options
    cdef unsigned flags = CU_STREAM_NON_BLOCKING
    cdef priority_range allowed = stream_priorities(context)
    cdef int priority = allowed.least
    if options is not None:
        if stream_options is None:
            stream_options = public_object("StreamOptions")
        options = as_options(options, stream_options, "stream options")
        if not options.nonblocking:
            if context.facts().is_green():
                raise ValueError("a stream of a green context must be non-blocking: leave "
                                 "nonblocking=True")
            flags = CU_STREAM_DEFAULT
        if options.priority is not None:
            priority = options.priority
            if not allowed.greatest <= priority <= allowed.least:
                raise ValueError(f"stream priority {priority} is out of range "
                                 f"[{allowed.greatest}, {allowed.least}]")
    cdef stream_handle made
    with nogil:
        made = create_stream(context, flags, priority)
    self.identity = <uintptr_t>made.raw()
    self.native.hold(self, made.take())
    return 0


cdef inline Stream empty_stream(object cls):
    if cls is Stream:
        return Stream.__new__(Stream)
    return cls.__new__(cls)


cdef Stream create_stream_in(object cls, const context_ref& context, object options):
    cdef Stream stream = empty_stream(cls)
    fill_stream(stream, context, options)
    return stream


cdef Stream wrap_raw_stream(object cls, CUstream raw, object owner):
    """A wrapper that keeps the owner of the stream alive; None for one that has no owner."""
    cdef Stream stream = empty_stream(cls)
    stream.identity = <uintptr_t>raw
    cdef stream_handle made = stream_owned_by(raw, owner)
    stream.native.hold(stream, made.take())
    return stream


cdef context_handle context_of_current_thread():
    cdef context_handle context = current_context()
    if not context.is_open():
        raise RuntimeError("No current CUDA context on this thread: call Device().set_current() "
                           "first")
    return context


cdef int raise_no_context_of_default_stream() except -1:
    raise RuntimeError("No current CUDA context on this thread, which a default stream stands "
                       "for: call Device().set_current() first")


cdef context_handle context_of_open_stream(Stream self):
    cdef borrowed_stream stream = self.native.borrow_open(self)
    cdef context_handle context = context_of_stream(stream)
    if not context.is_open():
        raise_no_context_of_default_stream()
    return context


cdef CUcontext known_context(Stream self):
    """For repr: never asks about a foreign handle, which may be stale."""
    cdef CUcontext raw = NULL
    cdef borrowed_stream stream = self.native.borrow(self)
    if stream.is_open() and stream.parent().is_open():
        return stream.parent().raw()
    if stream.is_open() and is_default_stream(stream.raw()) and loader.backend() is not NULL:
        if try_call(driver.cuCtxGetCurrent, &raw) != CUDA_SUCCESS:
            return NULL
    return raw


cdef Event record_new_event(Stream self, unsigned flags):
    cdef event_handle made
    cdef borrowed_stream stream = self.native.borrow_open(self)
    with nogil:
        made = record_event(stream, flags)
    if not made.is_open():
        raise_no_context_of_default_stream()
    return wrap_event(Event, made)


cdef int wait_for_other(Stream self, object other) except -1:
    if not isinstance(other, Stream):
        if not offers_stream(other):
            raise ValueError(
                "only an Event, Stream, or object supporting __cuda_stream__ can be waited for, "
                f"got {qualified_name(other)}")
        other = wrap_foreign_stream(Stream, other)
    return order_streams(self, <Stream>other)


cdef int order_streams(Stream later, Stream earlier) except -1:
    """Let the one wait for what the other was given so far."""
    cdef borrowed_stream waiting = later.native.borrow_open(later)
    cdef borrowed_stream given = earlier.native.borrow_open(earlier)
    wait_for_stream(waiting, given)
    return 0


cdef int register_stream() except -1:
    cdef Stream sample = Stream.__new__(Stream)
    return register_stream_class(sample, &sample.native)


register_stream()
