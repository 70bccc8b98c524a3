# SPDX-License-Identifier: Apache-2.0
# Stream: a queue of device work.

from cpython.pythread cimport PyThread_get_thread_ident


cdef object launch_function = None  # cuda.core.launch, looked up by the first Stream.launch


@cython.freelist(64)
cdef class Stream:
    """A queue of work that the device executes in order: launches, copies, allocations, events.

    `Device.create_stream` and ``Stream()`` create streams, the latter on the current device.
    Without a current context, ``Stream()`` makes the primary context of device 0 current.
    `Stream.from_handle` wraps a stream of another library. A created stream keeps its context alive
    and is destroyed with its last wrapper; a foreign stream is never destroyed.
    """

    def __init__(self, *args, **kwargs):
        if args or kwargs:
            raise RuntimeError(
                "Stream objects cannot be instantiated directly. Please use Device APIs "
                "(create_stream) or other Stream APIs (from_handle). It comes from "
                "Device.create_stream(), or Stream.from_handle() for the stream of another library")
        if self.native.is_open(self):
            raise RuntimeError("Stream is initialized already")
        cdef Device device = current_device()
        if raw_current_context() is NULL:
            device.set_current()
        init_stream(self, device.context_to_use(), None)

    @classmethod
    def _init(cls, obj=None, options=None, device_id=None, ctx=None):
        """Create a stream of this class, as `Device.create_stream` does. Host only."""
        if obj is not None:
            if options is not None:
                raise ValueError("obj and options cannot be passed together: an existing stream "
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
        """Wrap the legacy default stream. Host only."""
        return wrap_raw_stream(cls, CU_STREAM_LEGACY, None)

    @classmethod
    def _per_thread_default(cls):
        """Wrap the default stream of the calling thread. Host only."""
        return wrap_raw_stream(cls, CU_STREAM_PER_THREAD, None)

    @staticmethod
    def from_handle(handle):
        """Wrap an existing stream without managing its lifetime.

        Host only. The stream must outlive the wrapper. A stream created by `cuda.core` is shared by
        both wrappers instead.

        Parameters
        ----------
        handle : int
            Address of a ``CUstream`` or ``cudaStream_t``, or an object that converts to it; 0 is
            the default stream.

        Returns
        -------
        Stream
            A wrapper that is equal to every other wrapper of that address.

        Raises
        ------
        TypeError
            If `handle` is not an integer.
        """
        return wrap_raw_stream(Stream, <CUstream>address_from(handle), None)

    def close(self):
        """Destroy the stream, unless another wrapper or object uses it.

        Host only. Submitted work still completes. Closing twice is harmless. Closing one of the two
        default-stream tokens does nothing.

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
        """Implement the CUDA stream protocol: return ``(0, address)``. Host only."""
        self.native.check_open(self)
        return 0, self.identity

    @property
    def is_nonblocking(self):
        """Whether the stream does not synchronize with the legacy default stream. Host only.

        See Also
        --------
        cuStreamGetFlags : the driver function, called once.
        """
        return is_nonblocking(self.native.borrow_open(self))

    @property
    def priority(self):
        """Priority of the stream; lower numbers are more urgent. Host only.

        See Also
        --------
        cuStreamGetPriority : the driver function, called once.
        """
        return priority_of(self.native.borrow_open(self))

    @property
    def context(self):
        """The `Context` of the stream; for a default stream, the current context. Host only.

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
        """Device resources available to the stream, as `DeviceResources`. Host only.

        The resources of the stream's context; for a default stream, of the current context.
        """
        return import_module("cuda.core._resources").resources_of_context(
            wrap_context(context_of_open_stream(self)))

    @property
    def device(self):
        """The `Device` of the stream; for a default stream, the current device. Host only."""
        return device_of_ordinal(context_of_open_stream(self).facts().device)

    @property
    def is_done(self):
        """Whether all submitted work has completed.

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
        # A caller polls this property while host functions may need the GIL.
        cdef CUresult code = submit_call(driver.cuStreamQuery, stream.raw())
        if code == CUDA_ERROR_NOT_READY:
            return False
        check(code, "cuStreamQuery")
        return True

    def sync(self):
        """Wait until all submitted work has completed.

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
        check(submit_call(driver.cuStreamSynchronize, stream.raw()), "cuStreamSynchronize")
        release_completed_work()

    def __await__(self):
        """Wait in asyncio until all work submitted so far has completed: ``await stream``.

        Host only. The loop continues; a thread of the package waits.

        Raises
        ------
        CUDAError
            If earlier work failed.
        RuntimeError
            If the stream is closed or being captured, or no asyncio loop is running.

        See Also
        --------
        cuEventSynchronize : the driver function.
        """
        return await_stream(self)

    def record(self, event=None, options=None):
        """Record an event on the stream.

        Stream-ordered.

        Parameters
        ----------
        event : Event, optional
            The event to record; None creates an event in the stream's context.
        options : EventOptions or dict, optional
            Options of a new event; ignored if `event` is passed.

        Returns
        -------
        Event
            `event`, or the new event.

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
            if options is None:  # the common case
                return record_new_event(self, CU_EVENT_DISABLE_TIMING)
            flags = event_flags(options, True)
            new_event = record_new_event(self, flags)
            if flags & CU_EVENT_INTERPROCESS:
                sharing_module().enable_event_transfer(new_event)
            return new_event
        if not isinstance(event, Event):
            raise TypeError(f"event must be an Event, got {qualified_name(event)}")
        cdef borrowed_stream stream = self.native.borrow_open(self)
        cdef borrowed_event mark = (<Event>event).native.borrow_open(event)
        if mark.facts().is_ipc_enabled():
            raise TypeError("an IPC-enabled event should not be re-recorded: create a new one with "
                            "Stream.record(options=...)")
        check(submit_call(driver.cuEventRecord, mark.raw(), stream.raw()), "cuEventRecord")
        if captures_under_way():
            retain_in_capture(stream, share_event(<Event>event))
        return event

    def wait(self, event_or_stream):
        """Make later work of this stream wait for an event, or for all work submitted to a stream.

        Stream-ordered.

        Parameters
        ----------
        event_or_stream : Event, Stream, or object with ``__cuda_stream__``
            The event or stream to wait for, possibly of another device.

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
            wait_for_stream_like(self, event_or_stream)
            return
        cdef borrowed_stream stream = self.native.borrow_open(self)
        cdef borrowed_event event = (<Event>event_or_stream).native.borrow_open(event_or_stream)
        call(driver.cuStreamWaitEvent, stream.raw(), event.raw(), 0)  # returns immediately
        if captures_under_way():
            retain_in_capture(stream, share_event(<Event>event_or_stream))

    def create_graph_builder(self):
        """Create a builder that captures work submitted to this stream into a graph.

        Host only. The caller still owns the stream.

        Returns
        -------
        GraphBuilder
            A builder whose capture has not begun.
        """
        self.native.check_open(self)
        return graph_module()._create_graph_builder(self, False)

    def launch(self, config, kernel, *kernel_args):
        """Launch a kernel on this stream: ``cuda.core.launch(self, config, kernel, ...)``.

        Stream-ordered.

        Parameters
        ----------
        config : LaunchConfig
            Grid, block and launch options.
        kernel : Kernel
            The kernel to launch.
        *kernel_args
            Arguments of the kernel.

        See Also
        --------
        cuLaunchKernelEx : the driver function.
        """
        global launch_function
        if launch_function is None:
            launch_function = public_object("launch")
        launch_function(self, config, kernel, *kernel_args)

    def write_value(self, target, value, bits=32):
        """Write a number to memory after all earlier work of the stream has completed.

        Stream-ordered. A reader that sees the number also sees all earlier writes of the stream.

        Parameters
        ----------
        target : Buffer or int
            Page-locked or device memory, not of a pool and not managed; its address must be a
            multiple of the width.
        value : int
            The number; negative numbers are written as two's complement.
        bits : int
            Width of the number: 32 or 64.

        Raises
        ------
        OverflowError
            If `value` does not fit the width.
        CUDAError
            If the device cannot write to the address.

        See Also
        --------
        cuStreamBatchMemOp : the driver function.
        """
        submit_values(self, [("write", target, value, bits)])

    def wait_value(self, target, value, condition=">=", bits=32):
        """Make later work of the stream wait until a number in memory meets a condition.

        Stream-ordered. Another stream, a kernel or the host may write the number.

        Parameters
        ----------
        target : Buffer or int
            Page-locked or device memory, not of a pool and not managed; its address must be a
            multiple of the width.
        value : int
            The number to compare with.
        condition : str
            ``">="`` (the difference, computed with wraparound, is not negative), ``"=="``,
            ``"&"`` (both have a common bit) or ``"nor"`` (some bit is set in neither).
        bits : int
            Width of the number: 32 or 64.

        Raises
        ------
        ValueError
            If `condition` or `bits` is none of these.
        CUDAError
            If the device cannot read the address.

        See Also
        --------
        cuStreamBatchMemOp : the driver function.
        """
        submit_values(self, [("wait", target, value, condition, bits)])

    def reduce_value(self, operation, target, value, bits=32):
        """Change a number in memory atomically after all earlier work has completed.

        Stream-ordered. Needs a CUDA 13.1 driver and a device that supports the operation.

        Parameters
        ----------
        operation : str
            ``"add"``, ``"and"`` or ``"or"``.
        target : Buffer or int
            Page-locked or device memory, not of a pool and not managed; its address must be a
            multiple of the width.
        value : int
            The second operand.
        bits : int
            Width of the number: 32 or 64.

        See Also
        --------
        cuStreamBatchMemOp : the driver function.
        """
        submit_values(self, [("reduce", operation, target, value, bits)])

    def memory_barrier(self, scope="system"):
        """Order the writes of earlier work before the writes of later work.

        Stream-ordered.

        Parameters
        ----------
        scope : str
            Observers of the order: ``"system"`` or ``"device"``.

        See Also
        --------
        cuStreamBatchMemOp : the driver function.
        """
        submit_values(self, [("barrier", scope)])

    def value_operations(self, operations):
        """Submit several value operations and memory barriers in one driver call.

        Stream-ordered. The operations execute in sequence.

        Parameters
        ----------
        operations : sequence of tuple
            Each ``("write", target, value, ...)``, ``("wait", target, value, ...)``,
            ``("reduce", operation, target, value, ...)`` or ``("barrier", ...)``, with the
            arguments of `write_value`, `wait_value`, `reduce_value` or `memory_barrier`.

        See Also
        --------
        cuStreamBatchMemOp : the driver function.
        """
        submit_values(self, list(operations))

    @property
    def attributes(self):
        """Attributes of the stream: ``{"mem_sync_domain": "default", ...}``. Host only.

        Kernels launched on the stream use them unless their `LaunchConfig` sets the attribute.

        See Also
        --------
        cuStreamGetAttribute : the driver function.
        """
        cdef borrowed_stream stream = self.native.borrow_open(self)
        return read_attributes(OF_STREAMS, stream.raw(), True)

    def set_attributes(self, **attributes):
        """Set attributes of the stream for work submitted later.

        Host only.

        Parameters
        ----------
        **attributes
            Any of ``access_policy_window``, ``synchronization_policy``, ``priority``,
            ``mem_sync_domain_map``, ``mem_sync_domain``, ``nvlink_util_centric_scheduling``, with
            values as for `LaunchConfig`; the policy is ``"auto"``, ``"spin"``, ``"yield"`` or
            ``"blocking_sync"``.

        Raises
        ------
        TypeError
            If streams have no such attribute.
        ValueError
            If the attribute does not accept the value.
        RuntimeError
            If the stream is closed, or the driver is older than the attribute.

        See Also
        --------
        cuStreamSetAttribute : the driver function.
        """
        set_attributes_of_stream(self, attributes)

    def launch_host(self, fn, *, user_data=None):
        """Call a host function after all earlier work of the stream has completed.

        Stream-ordered. Later work of the stream waits for the function, which must not call CUDA.

        Parameters
        ----------
        fn : callable or ctypes function
            A callable is called without arguments; its result is ignored and an exception is
            reported as unraisable. A function created by
            ``ctypes.CFUNCTYPE(None, ctypes.c_void_p)`` is called without the GIL.
        user_data : int or bytes-like, optional
            Argument of a ctypes function: a pointer, or bytes, which are copied.

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

    def _repr_html_(self):
        """Return the table that a notebook shows. Host only."""
        return import_module("cuda.core._utils.display").stream_html(self)

    def __repr__(self):
        handle = self.identity if self.native.is_open(self) else 0
        return f"<Stream handle=0x{handle:x} context=0x{<uintptr_t>cached_context(self):x}>"


cdef object graph_module():
    return import_module("cuda.core._graph")


cdef object texture_module():
    return import_module("cuda.core._texture")


cdef inline bint is_token(uintptr_t identity) noexcept:
    return identity == <uintptr_t>CU_STREAM_LEGACY or identity == <uintptr_t>CU_STREAM_PER_THREAD


cdef context_handle context_of_current_thread():
    cdef context_handle context = current_context()
    if not context.is_open():
        raise RuntimeError("No current CUDA context on this thread: call Device().set_current() "
                           "first")
    return context


cdef int raise_no_context_of_default_stream() except -1:
    raise RuntimeError("No current CUDA context on this thread, which a default stream "
                       "uses: call Device().set_current() first")


cdef context_handle context_of_open_stream(Stream self):
    cdef borrowed_stream stream = self.native.borrow_open(self)
    cdef context_handle context = context_of_stream(stream)
    if not context.is_open():
        raise_no_context_of_default_stream()
    return context


cdef CUcontext cached_context(Stream self):
    """Return the context for repr; never queries a foreign handle, which may be stale."""
    cdef CUcontext raw = NULL
    cdef borrowed_stream stream = self.native.borrow(self)
    if stream.is_open() and stream.parent().is_open():
        return stream.parent().raw()
    if stream.is_open() and is_default_stream(stream.raw()) and loader.backend() is not NULL:
        if try_call(driver.cuCtxGetCurrent, &raw) != CUDA_SUCCESS:
            return NULL
    return raw


cdef Event record_new_event(Stream self, unsigned flags):
    cdef borrowed_stream stream = self.native.borrow_open(self)
    cdef event_handle native = record_event(stream, flags)
    if not native.is_open():
        raise_no_context_of_default_stream()
    return wrap_event(Event, native)


cdef int wait_for_stream_like(Stream self, object other) except -1:
    if not isinstance(other, Stream):
        if not offers_stream(other):
            raise ValueError(
                "only an Event, Stream, or object supporting __cuda_stream__ can be waited for, "
                f"got {qualified_name(other)}")
        other = wrap_foreign_stream(Stream, other)
    return order_streams(self, <Stream>other)


cdef int order_streams(Stream later, Stream earlier) except -1:
    """Make one stream wait for all work submitted to another."""
    cdef borrowed_stream native_later = later.native.borrow_open(later)
    cdef borrowed_stream native_earlier = earlier.native.borrow_open(earlier)
    wait_for_stream(native_later, native_earlier)


cdef object key_of_stream(Stream self):
    """Return a key that is equal for waits which complete in the order of their events."""
    if not is_default_stream(<CUstream>self.identity):
        return self.identity
    return self.identity, current_context_address(), PyThread_get_thread_ident()


cdef int check_not_captured(Stream self) except -1:
    if is_being_captured(self.native.borrow_open(self)):
        raise RuntimeError("await of a stream that is being captured: its work becomes a graph and "
                           "does not run; end the capture, and await the stream of the graph's "
                           "launch")


cdef object await_stream(Stream self):
    """Return the iterator of `Stream.__await__`."""
    check_not_captured(self)
    # Without spinning: the thread that waits must leave the processor to the loop.
    event = record_new_event(self, CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC)
    return await_shared_event(event, key_of_stream(self))


cdef int register_stream() except -1:
    cdef Stream sample = Stream.__new__(Stream)
    return register_stream_class(sample, &sample.native)


register_stream()
