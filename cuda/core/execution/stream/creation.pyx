# SPDX-License-Identifier: Apache-2.0
# Creation of Stream objects, for new driver streams and for existing ones.

cdef object stream_options = None  # the class StreamOptions, imported on first use


cdef int init_stream(Stream self, const context_ref& context, object options) except -1:
    """Create the driver stream of a new object."""
    global stream_options
    cdef unsigned flags = CU_STREAM_NON_BLOCKING
    cdef priority_range priorities = stream_priorities(context)
    cdef int priority = priorities.least
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
            priority = int_option("StreamOptions.priority", options.priority)
            if not priorities.greatest <= priority <= priorities.least:
                raise ValueError(f"stream priority {priority} is out of range "
                                 f"[{priorities.greatest}, {priorities.least}]")
    cdef stream_handle native
    with nogil:
        native = create_stream(context, flags, priority)
    self.identity = <uintptr_t>native.raw()
    self.native.hold(self, native.take())


cdef inline Stream empty_stream(object cls):
    if cls is Stream:
        return Stream.__new__(Stream)
    instance = new_instance(cls, Stream)
    if (<Stream>instance).native.is_open(instance) or (<Stream>instance).identity:
        raise_used_instance(cls)
    return <Stream>instance


cdef Stream create_stream_in(object cls, const context_ref& context, object options):
    cdef Stream stream = empty_stream(cls)
    init_stream(stream, context, options)
    return stream


cdef Stream wrap_raw_stream(object cls, CUstream raw, object owner):
    """Return a wrapper that retains the owner of the stream, if any."""
    cdef Stream stream = empty_stream(cls)
    stream.identity = <uintptr_t>raw
    cdef stream_handle native = stream_owned_by(raw, owner)
    stream.native.hold(stream, native.take())
    return stream
