# SPDX-License-Identifier: Apache-2.0
# Streams of other libraries: the protocol `__cuda_stream__`, and known types without it.

# Stream classes without the protocol: module, class, attribute with the address.
cdef tuple STREAM_CLASSES = (
    ("torch", "Stream", "cuda_stream"),
    ("torch.cuda", "Stream", "cuda_stream"),
    ("cupy.cuda", "Stream", "ptr"),
    ("cupy.cuda", "ExternalStream", "ptr"),
)


cdef object known_stream_address(object foreign):
    """Return the address attribute of a stream of a known library, else None.

    Only the class that a loaded library defines is known, not a class with the same name.
    """
    for module, name, attribute in STREAM_CLASSES:
        cls = loaded_class(module, name)
        if cls is not None and isinstance(foreign, cls):
            return getattr(foreign, attribute, None)
    return None


cdef bint offers_stream(object foreign):
    return hasattr(foreign, "__cuda_stream__") or known_stream_address(foreign) is not None


cdef uintptr_t foreign_stream_address(object foreign) except? 0:
    protocol = getattr(foreign, "__cuda_stream__", None)
    if protocol is None:
        address = known_stream_address(foreign)
        if address is None:
            raise TypeError(f"{qualified_name(foreign)} object does not have a '__cuda_stream__' "
                            f"attribute{stream_advice(foreign)}")
        return address_from(address)
    if callable(protocol):
        result = protocol()
    else:
        warn_deprecated("__cuda_stream__ as an attribute (it must be implemented as a method)",
                        "a method that returns (0, address)")
        result = protocol
    if not hasattr(result, "__len__") or len(result) != 2:
        raise RuntimeError(f"__cuda_stream__ of {qualified_name(foreign)} must return a sequence "
                           f"with 2 elements, got {shown(result)}")
    version, address = result
    if version != 0:
        raise RuntimeError(f"__cuda_stream__ of {qualified_name(foreign)} must return 0 as the "
                           f"first element, got {shown(version)}")
    return address_from(address)


cdef str stream_advice(object value):
    """Return the next step for a value that is no stream, for an error message."""
    if isinstance(value, Device):
        return ": pass device.default_stream, or a stream of device.create_stream()"
    if PyIndex_Check(value):
        return ": use Stream.from_handle() for the handle of a stream"
    if isinstance(value, str):
        return ": device.default_stream is the default stream"
    return ""


cdef Stream wrap_foreign_stream(object cls, object foreign):
    return wrap_raw_stream(cls, <CUstream>foreign_stream_address(foreign), foreign)


# The class GraphBuilder and the functions that return its stream, once cuda.core.graph is loaded.
cdef object graph_builder = None
cdef stream_of_builder_function stream_of_builder = NULL
cdef stream_of_builder_function stream_of_capturing_builder = NULL


cdef int register_graph_builder(object cls, stream_of_builder_function open,
                                stream_of_builder_function capturing) except -1:
    global graph_builder, stream_of_builder, stream_of_capturing_builder
    graph_builder, stream_of_builder, stream_of_capturing_builder = cls, open, capturing


cdef inline bint is_graph_builder(object stream_arg):
    return graph_builder is not None and isinstance(stream_arg, graph_builder)


cdef Stream accept_stream(object stream_arg):
    cdef Stream stream
    if isinstance(stream_arg, Stream):
        stream = <Stream>stream_arg
    elif is_graph_builder(stream_arg):
        stream = stream_of_builder(stream_arg)
    elif stream_arg is None:
        raise TypeError("stream is required and must not be None; pass device.default_stream for "
                        "the default stream")
    elif offers_stream(stream_arg):
        stream = wrap_foreign_stream(Stream, stream_arg)
    else:
        raise TypeError(f"Stream or GraphBuilder expected, got {qualified_name(stream_arg)}"
                        f"{stream_advice(stream_arg)}")
    stream.native.check_open(stream)
    return stream


cdef int run_on_stream(Stream stream, stream_work work, void* arguments,
                       const char* function) except -1:
    cdef borrowed_stream native_stream = stream.native.borrow_open(stream)
    cdef CUresult code
    with nogil:
        code = run_in_order(native_stream, work, arguments)
    return check(code, function)


cdef bint is_being_captured(const borrowed_stream& stream) except -1:
    cdef CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE
    call(driver.cuStreamIsCapturing, stream.raw(), &status)
    return status != CU_STREAM_CAPTURE_STATUS_NONE


cdef bint is_capturing_stream(Stream stream) except -1:
    cdef borrowed_stream native_stream = stream.native.borrow_open(stream)
    return is_being_captured(native_stream)


cdef Stream accept_launch_stream(object stream_arg):
    if is_graph_builder(stream_arg):
        return stream_of_capturing_builder(stream_arg)
    if (not isinstance(stream_arg, Stream) and stream_arg is not None
            and offers_stream(stream_arg)):
        PyErr_WarnEx(DeprecationWarning,
                     b"Passing foreign stream objects to this function via the stream protocol is "
                     b"deprecated. Convert the object explicitly using Stream(obj) instead. "
                     b"Device.create_stream(obj) does that.", 1)
    return accept_stream(stream_arg)


def Stream_accept(arg, allow_stream_protocol=False):
    """Convert an argument to an open `Stream`. Host only."""
    return accept_stream(arg)
