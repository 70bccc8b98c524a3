# SPDX-License-Identifier: Apache-2.0
# Event: a point in the work of a stream, for waiting and for timing.


cdef object event_options = None  # the class EventOptions, imported on first use


cdef unsigned event_flags(object options, bint bound) except? 0xFFFFFFFF:
    global event_options
    if options is None:
        return CU_EVENT_DISABLE_TIMING
    if event_options is None:
        event_options = public_object("EventOptions")
    options = as_options(options, event_options, "event options")
    for value in (options.timing_enabled, options.blocking_sync, options.ipc_enabled):
        if value is not None and type(value) is not bool:
            option_checks().check_bools(options)
    if options.ipc_enabled:
        if not bound:
            raise TypeError("IPC-enabled events must be bound; use Stream.record for creation.")
        if options.timing_enabled:
            raise TypeError("IPC-enabled events cannot use timing. Leave timing_enabled=False.")
    cdef unsigned flags = CU_EVENT_INTERPROCESS if options.ipc_enabled else CU_EVENT_DEFAULT
    if not options.timing_enabled:
        flags |= CU_EVENT_DISABLE_TIMING
    if options.blocking_sync:
        flags |= CU_EVENT_BLOCKING_SYNC
    return flags


@cython.freelist(64)
cdef class Event:
    """A point in the work of a stream: it completes when all earlier work has completed.

    `Stream.record` and `Device.create_event` create events. An event keeps its context alive and
    owns the driver event: closing the last wrapper destroys it. ``later - earlier`` is the time
    between two events in milliseconds.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError(
            "Event objects cannot be instantiated directly. Please use Stream APIs (record). "
            "It comes from Stream.record() or "
            "Device.create_event()")

    def close(self):
        """Destroy the event, unless another wrapper shares it.

        Host only. Submitted work still waits for the event. Closing twice is harmless.

        See Also
        --------
        cuEventDestroy : the driver function.
        """
        self.native.close(self)

    @property
    def is_closed(self):
        """Whether `close` was called. Host only."""
        return not self.native.is_open(self)

    @property
    def handle(self):
        """The event as `cuda.bindings.driver.CUevent`; 0 when closed. Host only."""
        return as_bindings("CUevent", <void*>self.identity if self.native.is_open(self) else NULL)

    @property
    def is_timing_enabled(self):
        """Whether the event records the time. Host only."""
        return self.native.borrow_open(self).facts().is_timing_enabled()

    @property
    def is_blocking_sync(self):
        """Whether `sync` blocks the thread instead of spinning. Host only."""
        return self.native.borrow_open(self).facts().is_blocking_sync()

    @property
    def is_ipc_enabled(self):
        """Whether another process may wait for the event. Host only."""
        return self.native.borrow_open(self).facts().is_ipc_enabled()

    @property
    def is_done(self):
        """Whether all work before the event has completed; True if it was never recorded.

        Host only.

        Raises
        ------
        CUDAError
            If earlier work failed.

        See Also
        --------
        cuEventQuery : the driver function.
        """
        cdef borrowed_event event = self.native.borrow_open(self)
        # A caller polls this property while host functions may need the GIL.
        cdef CUresult code = submit_call(driver.cuEventQuery, event.raw())
        if code == CUDA_ERROR_NOT_READY:
            return False
        check(code, "cuEventQuery")
        return True

    def sync(self):
        """Wait until all work before the event has completed.

        Blocks the host.

        Raises
        ------
        CUDAError
            If earlier work failed.

        See Also
        --------
        cuEventSynchronize : the driver function.
        """
        cdef borrowed_event event = self.native.borrow_open(self)
        check(submit_call(driver.cuEventSynchronize, event.raw()), "cuEventSynchronize")
        release_completed_work()

    def __await__(self):
        """Wait in asyncio until all work before the event has completed: ``await event``.

        Host only. The loop continues; a thread of the package waits. The thread spins unless
        the event was created with ``blocking_sync=True``.

        Raises
        ------
        CUDAError
            If earlier work failed.
        RuntimeError
            If the event is closed, or no asyncio loop is running.

        See Also
        --------
        cuEventSynchronize : the driver function.
        """
        return await_event(self)

    @property
    def context(self):
        """The `Context` of the event; None for an event of another process. Host only."""
        cdef borrowed_event event = self.native.borrow_open(self)
        if event.facts().is_imported or not event.parent().is_open():
            return None
        return wrap_context(event.parent().context())

    @property
    def device(self):
        """The `Device` of the event; None for an event of another process. Host only."""
        cdef borrowed_event event = self.native.borrow_open(self)
        if event.facts().is_imported or not event.parent().is_open():
            return None
        return device_of_ordinal(event.parent().context().facts().device)

    @property
    def ipc_descriptor(self):
        """Descriptor that another process opens to wait for the event. Host only.

        The type is `IPCEventDescriptor`.

        Raises
        ------
        RuntimeError
            If the event was not created with ``ipc_enabled=True``.

        See Also
        --------
        cuIpcGetEventHandle : the driver function.
        """
        return sharing_module().event_descriptor_of(self)

    @classmethod
    def from_ipc_descriptor(cls, ipc_descriptor):
        """Open an event of another process.

        Host only.

        Parameters
        ----------
        ipc_descriptor : IPCEventDescriptor
            Value of the event's `ipc_descriptor`.

        Returns
        -------
        Event
            An event to wait for, without a device or context. In the process that created the
            event, another wrapper of it.

        Raises
        ------
        ValueError
            If the descriptor is too short.
        RuntimeError
            If the driver does not find the event, or the process that created it has ended.

        See Also
        --------
        cuIpcOpenEventHandle : the driver function.
        """
        return sharing_module().import_event_of(cls, ipc_descriptor)

    def __reduce__(self):
        self.native.check_open(self)
        raise TypeError("an Event cannot be pickled: create it with ipc_enabled=True and pass it "
                        "as an argument of multiprocessing.Process, or through queues and pipes")

    @property
    def is_timing_disabled(self):
        """Deprecated: the inverse of `is_timing_enabled`. Host only."""
        warn_deprecated("Event.is_timing_disabled", "Event.is_timing_enabled")
        return not self.is_timing_enabled

    @property
    def is_sync_busy_waited(self):
        """Deprecated spelling of `is_blocking_sync`. Host only."""
        warn_deprecated("Event.is_sync_busy_waited", "Event.is_blocking_sync")
        return self.is_blocking_sync

    def get_ipc_descriptor(self):
        """Deprecated spelling of `ipc_descriptor`. Host only."""
        warn_deprecated("Event.get_ipc_descriptor()", "Event.ipc_descriptor")
        return self.ipc_descriptor

    def __enter__(self):
        self.native.check_open(self)
        return self

    def __exit__(self, *exc_info):
        self.close()

    def __sub__(self, other):
        if not isinstance(other, Event):
            return NotImplemented
        return elapsed_milliseconds(<Event>other, self)

    def __rsub__(self, other):
        return NotImplemented

    def __isub__(self, other):
        return NotImplemented

    def __eq__(self, other):
        if not isinstance(other, Event):
            return NotImplemented
        if self is other:
            return True
        cdef Event event = <Event>other
        return (self.identity == event.identity and self.native.is_open(self)
                and event.native.is_open(event))

    def __hash__(self):
        return hash(self.identity)

    def __repr__(self):
        return f"<Event handle=0x{self.identity if self.native.is_open(self) else 0:x}>"


cdef object elapsed_milliseconds(Event first, Event second):
    cdef float milliseconds
    cdef CUresult code
    cdef borrowed_event start = first.native.borrow_open(first)
    cdef borrowed_event end = second.native.borrow_open(second)
    if not (start.facts().is_timing_enabled() and end.facts().is_timing_enabled()):
        raise RuntimeError(
            "Both Events must be created with timing enabled in order to subtract them: use "
            "EventOptions(timing_enabled=True)")
    code = try_call(driver.cuEventElapsedTime, &milliseconds, start.raw(), end.raw())
    if code == CUDA_ERROR_INVALID_HANDLE:
        raise RuntimeError("Both Events must be recorded before they can be subtracted: use "
                           "Stream.record()")
    if code == CUDA_ERROR_NOT_READY:
        raise RuntimeError("One or both events have not completed. Wait with Event.sync() or "
                           "Stream.sync() before you subtract them")
    check(code, "cuEventElapsedTime")
    return milliseconds


cdef Event wrap_event(object cls, event_handle& native):
    cdef Event event
    if cls is Event:
        event = Event.__new__(Event)
    else:
        event = new_instance(cls, Event)
        if event.native.is_open(event) or event.identity:
            raise_used_instance(cls)
    event.identity = <uintptr_t>native.raw()
    event.native.hold(event, native.take())
    return event


cdef Event share_event(Event event):
    cdef event_handle native = event.native.share(event)
    return wrap_event(Event, native) if native.is_open() else event


cdef object await_event(Event self):
    """Return the iterator of `Event.__await__`, for which closing the event has no effect."""
    return await_shared_event(share_event(self), ("event", self.identity))


cdef object await_shared_event(Event event, object key):
    if event.is_done:
        return iter(())
    threads = import_module("cuda.core.execution.stream.waiter_threads")
    return threads.wait(key, event.sync).__await__()
