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
        """Whether the context was made from resources of a device. Host only."""
        return self.native.borrow_open(self).facts().is_green()

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
        self.native.check_open(self)
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
        cdef borrowed_context own = self.native.borrow(self)
        if not own.is_open():
            return
        if own.is_of_this_process() and raw_current_context() == own.raw():
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


cdef Context wrap_context(const context_ref& native):
    cdef Context context = Context.__new__(Context)
    context.native.hold(context, native.share())
    context.identity = <uintptr_t>native.raw()
    context.device = native.facts().device
    return context
