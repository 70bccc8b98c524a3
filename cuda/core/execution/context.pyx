# SPDX-License-Identifier: Apache-2.0
# Context: a wrapper of a counted driver context.


@cython.final
cdef class Context:
    """What a device's work and memory belong to: mostly the primary context, one per device.

    It comes from `Device.context`, `Stream.context`, `Event.context` or `Device.set_current`. All
    wrappers of one driver context are equal. Closing a wrapper gives up that wrapper's share: a
    primary context is released when the last object that needs it goes, a context that another
    library made is never destroyed.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError(
            "Context objects cannot be instantiated directly; use Device.context, Stream.context "
            "or Event.context")

    @property
    @cython.critical_section
    def handle(self):
        """The context as `cuda.bindings.driver.CUcontext`; None when closed. Host only."""
        if self.native.raw() is NULL:
            return None
        return as_bindings("CUcontext", self.native.raw())

    @property
    def _handle(self):
        return self.handle

    @property
    @cython.critical_section
    def is_green(self):
        """Whether the context was made from resources of a device. Host only."""
        check_open(self.native.is_open(), "Context")
        return self.native.facts().is_green()

    def create_stream(self, options=None):
        """Create a stream of this context; only a green context can.

        Host only.

        Parameters
        ----------
        options : StreamOptions or dict, optional
            What to ask of the stream.

        Raises
        ------
        RuntimeError
            If the context is closed, or is not a green one: `Device.create_stream` serves those.

        See Also
        --------
        cuGreenCtxStreamCreate : the driver function.
        """
        check_open(self.native.is_open(), "Context")
        raise RuntimeError(
            "Context.create_stream() is only supported on green contexts; use "
            "Device.create_stream() for the context that is current")

    def close(self):
        """Give up this wrapper's share of the context.

        Host only. Closing twice is harmless.

        Raises
        ------
        RuntimeError
            If the context is current on this thread; nothing is released then.

        See Also
        --------
        cuDevicePrimaryCtxRelease : the driver function, called when the last share goes.
        """
        with cython.critical_section(self):
            if not self.native.is_open():
                return
            if self.native.is_of_this_process() and raw_current_context() == self.native.raw():
                raise RuntimeError(
                    "Context cannot be closed while it is current on this thread; make another "
                    "context current first, for instance with Device.set_current()")
            self.native.reset()

    @property
    def is_closed(self):
        """Whether `close` was called. Host only."""
        return not self.native.is_open()

    def __enter__(self):
        check_open(self.native.is_open(), "Context")
        return self

    def __exit__(self, *exc_info):
        self.close()

    def __eq__(self, other):
        if not isinstance(other, Context):
            return NotImplemented
        if self is other:
            return True
        cdef Context context = <Context>other
        with cython.critical_section(self, context):
            return (self.native.is_open() and context.native.is_open()
                    and self.native.raw() == context.native.raw())

    def __hash__(self):
        return hash(<uintptr_t>self.identity)

    @cython.critical_section
    def __repr__(self):
        return f"<Context handle=0x{<uintptr_t>self.native.raw():x} device={self.device}>"


cdef context_handle open_context(Context self) except *:
    cdef context_handle own = share(self, self.native)
    check_open(own.is_open(), "Context")
    return own.take()


cdef Context wrap_context(const context_handle& native):
    cdef Context context = Context.__new__(Context)
    context.native = native
    context.identity = context.native.raw()
    context.device = context.native.facts().device
    return context
