# SPDX-License-Identifier: Apache-2.0
# Context: a wrapper of a reference-counted driver context.


@cython.final
cdef class Context:
    """The owner of a device's streams, events and memory, usually the device's primary context.

    `Device.context`, `Stream.context`, `Event.context` and `Device.set_current` return contexts.
    `Device.create_context` creates a green context, which uses only a part of the device. All
    wrappers of one driver context are equal. Closing a wrapper releases its reference. With the
    last reference, a primary context is released and a green context destroyed; a context of
    another library is never destroyed.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError(
            "Context objects cannot be instantiated directly. Please use Device or Stream APIs. "
            "It comes from Device.context, Stream.context "
            "or Event.context")

    @property
    def handle(self):
        """The context as `cuda.bindings.driver.CUcontext`; None when closed. Host only."""
        if not self.native.is_open(self):
            return None
        return as_bindings("CUcontext", <void*>self.identity)

    @property
    def _handle(self):
        return self.handle

    @property
    def is_green(self):
        """Whether the context is a green context, created from device resources. Host only.

        False after `close`.
        """
        cdef borrowed_context native_context = self.native.borrow(self)
        return native_context.is_open() and native_context.facts().is_green()

    @property
    def resources(self):
        """Device resources available to the context, as `DeviceResources`. Host only.

        A primary context has the whole device.
        """
        self.native.check_open(self)
        return import_module("cuda.core._resources").resources_of_context(
            wrap_context(self.native.borrow_open(self)))

    def create_stream(self, options=None):
        """Create a stream of this context, which must be a green context.

        Host only. The context need not be current.

        Parameters
        ----------
        options : StreamOptions or dict, optional
            Options of the stream, which must be non-blocking.

        Returns
        -------
        Stream
            A stream that keeps the context alive.

        Raises
        ------
        RuntimeError
            If the context is closed or not green; use `Device.create_stream` for other contexts.
        ValueError
            If the options request a blocking stream, or the priority is out of range.

        See Also
        --------
        cuGreenCtxStreamCreate : the driver function.
        """
        cdef context_handle native_context = self.native.share_open(self)
        if not native_context.facts().is_green():
            raise RuntimeError(
                "Context.create_stream() is only supported on green contexts; use "
                "Device.create_stream() for the context that is current")
        return create_stream_in(Stream, native_context, options)

    def close(self):
        """Release this wrapper's reference to the context.

        Host only. Closing twice is harmless.

        Raises
        ------
        RuntimeError
            If the context is current on this thread; the reference is not released then.

        See Also
        --------
        cuDevicePrimaryCtxRelease, cuGreenCtxDestroy : the driver functions, called with the last
            reference.
        """
        cdef borrowed_context native_context = self.native.borrow(self)
        if not native_context.is_open():
            return
        if native_context.is_of_this_process() and raw_current_context() == native_context.raw():
            raise RuntimeError(
                "Context cannot be closed while it is current on this thread; make another "
                "context current first, for instance with Device.set_current()")
        self.native.close(self)

    @property
    def is_closed(self):
        """Whether `close` was called. Host only."""
        return not self.native.is_open(self)

    def __enter__(self):
        self.native.check_open(self)
        return self

    def __exit__(self, *exc_info):
        self.close()

    def __eq__(self, other):
        if not isinstance(other, Context):
            return NotImplemented
        if self is other:
            return True
        cdef Context context = <Context>other
        return (self.identity == context.identity and self.native.is_open(self)
                and context.native.is_open(context))

    def __hash__(self):
        return hash(self.identity)

    def __repr__(self):
        handle = self.identity if self.native.is_open(self) else 0
        return f"<Context handle=0x{handle:x} device={self.device}>"


cdef Context make_green_context(int device, const CUdevResource* resources, unsigned count):
    cdef context_handle context = create_green_context(device, resources, count)
    return wrap_context(context)


cdef int get_context_resource(Context context, CUdevResource* resource, CUdevResourceType kind) \
        except -1:
    cdef borrowed_context native_context = context.native.borrow_open(context)
    get_resource(native_context, resource, kind)


cdef Context wrap_context(const context_ref& native):
    cdef Context context = Context.__new__(Context)
    context.native.hold(context, native.share())
    context.identity = <uintptr_t>native.raw()
    context.device = native.facts().device
    return context


cdef int current_ordinal() except -1:
    cdef CUdevice ordinal
    initialize_driver()
    call(driver.cuCtxGetDevice, &ordinal)
    return ordinal


cdef uintptr_t current_context_address() except? 0:
    initialize_driver()
    return <uintptr_t>raw_current_context()
