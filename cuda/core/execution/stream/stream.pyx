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
                "Stream objects cannot be instantiated directly; use Device.create_stream(), or "
                "Stream.from_handle() for the stream of another library")
        if self.fields.is_open:
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
            context = open_context(<Context?>ctx)
        else:
            context = context_of_current_thread()
        return create_stream_in(cls, context, options)

    @classmethod
    def _legacy_default(cls):
        """A wrapper of the legacy default stream. Host only."""
        return wrap_raw_stream(cls, CU_STREAM_LEGACY, keeper())

    @classmethod
    def _per_thread_default(cls):
        """A wrapper of the default stream of the calling thread. Host only."""
        return wrap_raw_stream(cls, CU_STREAM_PER_THREAD, keeper())

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
        return wrap_raw_stream(Stream, <CUstream>address_from(handle), keeper())

    def close(self):
        """Destroy the stream, unless another wrapper or object needs it.

        Host only. Work that was submitted is still done. Closing twice is harmless, and closing
        one of the two default-stream tokens does nothing.

        See Also
        --------
        cuStreamDestroy : the driver function.
        """
        if not is_token(self.fields.raw):
            self.fields.is_open = False
            give_up(self, self.native)

    @property
    def is_closed(self):
        """Whether `close` was called. Host only."""
        return not self.fields.is_open

    @property
    def handle(self):
        """The stream as `cuda.bindings.driver.CUstream`; 0 when closed. Host only."""
        return as_bindings("CUstream", self.fields.raw if self.fields.is_open else NULL)

    def __cuda_stream__(self):
        """The protocol that libraries share: ``(0, address)``. Host only."""
        check_open(self.fields.is_open, "Stream")
        return 0, <uintptr_t>self.fields.raw

    @property
    @cython.critical_section
    def is_nonblocking(self):
        """Whether the stream runs beside the legacy default stream. Host only.

        See Also
        --------
        cuStreamGetFlags : the driver function, asked once.
        """
        check_open(self.fields.is_open, "Stream")
        return is_nonblocking(self.native)

    @property
    @cython.critical_section
    def priority(self):
        """How urgent the stream's work is; lower is more urgent. Host only.

        See Also
        --------
        cuStreamGetPriority : the driver function, asked once.
        """
        check_open(self.fields.is_open, "Stream")
        return priority_of(self.native)

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
        check_open(self.fields.is_open, "Stream")
        return wrap_context(context_of_open_stream(self))

    @property
    def device(self):
        """The `Device` of the stream; of a default stream, the current one. Host only."""
        check_open(self.fields.is_open, "Stream")
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
        cdef stream_handle stream = share_open_stream(self)
        cdef CUstream raw = stream.raw()
        cdef CUresult code
        with nogil:  # it is polled: what it waits for may need the interpreter
            code = try_call(driver.cuStreamQuery, raw)
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
        cdef stream_handle stream = share_open_stream(self)
        cdef CUstream raw = stream.raw()
        with nogil:
            call(driver.cuStreamSynchronize, raw)

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
        check_open(self.fields.is_open, "Stream")
        if event is None:
            return record_new_event(self, event_flags(options, True))
        if not isinstance(event, Event):
            raise TypeError(f"event must be an Event, got {qualified_name(event)}")
        cdef event_handle native = share_open_event(<Event>event)
        if native.facts().is_ipc_enabled():
            raise TypeError("an IPC-enabled event should not be re-recorded: make a new one with "
                            "Stream.record(options=...)")
        cdef CUevent raw = native.raw()
        cdef CUstream stream = self.fields.raw
        with nogil:
            call(driver.cuEventRecord, raw, stream)
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
        check_open(self.fields.is_open, "Stream")
        if not isinstance(event_or_stream, Event):
            wait_for_other(self, event_or_stream)
            return
        cdef event_handle native = share_open_event(<Event>event_or_stream)
        cdef CUevent raw = native.raw()
        cdef CUstream stream = self.fields.raw
        with nogil:
            call(driver.cuStreamWaitEvent, stream, raw, 0)

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
        check_open(self.fields.is_open, "Stream")
        submit_host_call(self, fn, user_data)

    def __enter__(self):
        check_open(self.fields.is_open, "Stream")
        return self

    def __exit__(self, *exc_info):
        self.close()

    def __eq__(self, other):
        if not isinstance(other, Stream):
            return NotImplemented
        if self is other:
            return True
        cdef Stream stream = <Stream>other
        return (self.fields.is_open and stream.fields.is_open
                and self.fields.raw == stream.fields.raw)

    def __hash__(self):
        return hash(<uintptr_t>self.fields.raw)

    def __repr__(self):
        raw = <uintptr_t>self.fields.raw if self.fields.is_open else 0
        return (f"<Stream handle=0x{raw:x} "
                f"context=0x{<uintptr_t>known_context(self):x}>")


cdef inline bint is_token(CUstream raw) noexcept:
    return raw == CU_STREAM_LEGACY or raw == CU_STREAM_PER_THREAD


cdef str qualified_name(object given):
    cls = type(given)
    return cls.__qualname__ if cls.__module__ == "builtins" else \
        f"{cls.__module__}.{cls.__qualname__}"


cdef stream_handle share_open_stream(Stream self) except *:
    cdef stream_handle stream = share(self, self.native)
    check_open(stream.is_open(), "Stream")
    return stream


cdef int fill_stream(Stream self, const context_handle& context, object options) except -1:
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
            flags = CU_STREAM_DEFAULT
        if options.priority is not None:
            priority = options.priority
            if not allowed.greatest <= priority <= allowed.least:
                raise ValueError(f"stream priority {priority} is out of range "
                                 f"[{allowed.greatest}, {allowed.least}]")
    with nogil:
        self.native = create_stream(context, flags, priority)
    self.fields.raw = self.native.raw()
    self.fields.device = self.native.parent().facts().device
    self.fields.is_default_token = False
    self.fields.is_open = True
    return 0


cdef inline Stream empty_stream(object cls):
    if cls is Stream:
        return Stream.__new__(Stream)
    return cls.__new__(cls)


cdef Stream create_stream_in(object cls, const context_handle& context, object options):
    cdef Stream stream = empty_stream(cls)
    fill_stream(stream, context, options)
    return stream


cdef Stream wrap_raw_stream(object cls, CUstream raw, keeper kept):
    cdef Stream stream = empty_stream(cls)
    stream.native = stream_of(raw, kept)
    stream.fields.raw = raw
    stream.fields.device = -1
    if stream.native.parent().is_open():
        stream.fields.device = stream.native.parent().facts().device
    stream.fields.is_default_token = is_default_stream(raw)
    stream.fields.is_open = True
    return stream


cdef context_handle context_of_current_thread():
    cdef context_handle context = current_context()
    if not context.is_open():
        raise RuntimeError("No current CUDA context on this thread: call Device().set_current() "
                           "first")
    return context


cdef context_handle context_of_open_stream(Stream self):
    cdef context_handle context
    with cython.critical_section(self):
        context = context_of_stream(self.native)
    if not context.is_open():
        raise RuntimeError("No current CUDA context on this thread, which a default stream stands "
                           "for: call Device().set_current() first")
    return context


cdef CUcontext known_context(Stream self):
    """For repr: never asks about a foreign handle, which may be stale."""
    cdef CUcontext raw = NULL
    with cython.critical_section(self):
        if self.native.is_open() and self.native.parent().is_open():
            return self.native.parent().raw()
    if self.fields.is_open and self.fields.is_default_token and loader.backend() is not NULL:
        if try_call(driver.cuCtxGetCurrent, &raw) != CUDA_SUCCESS:
            return NULL
    return raw


cdef Event record_new_event(Stream self, unsigned flags):
    cdef event_handle native
    cdef context_handle context = context_of_open_stream(self)
    cdef CUstream raw = self.fields.raw
    with nogil:
        native = record_event(raw, context.take(), flags)
    return wrap_event(Event, native)


cdef int wait_for_other(Stream self, object other) except -1:
    if not isinstance(other, Stream):
        if not offers_stream(other):
            raise ValueError(
                "only an Event, Stream, or object supporting __cuda_stream__ can be waited for, "
                f"got {qualified_name(other)}")
        other = wrap_foreign_stream(Stream, other)
    wait_for_stream(share_open_stream(self), share_open_stream(<Stream>other))
    return 0


cdef int register_stream() except -1:
    cdef Stream sample = Stream.__new__(Stream)
    return register_stream_class(sample, &sample.fields)


register_stream()
