# SPDX-License-Identifier: Apache-2.0
# Streams of other libraries: the protocol `__cuda_stream__`, and known types without it.

# Where streams of libraries without the protocol keep their address: package -> attribute.
cdef dict STREAM_ATTRIBUTES = {"cupy": "ptr", "cupy_backends": "ptr", "torch": "cuda_stream"}


cdef object known_address(object foreign):
    """The address that an object of a known library has as an attribute, else None."""
    for cls in type(foreign).__mro__:
        attribute = STREAM_ATTRIBUTES.get(cls.__module__.partition(".")[0])
        if attribute is not None and "Stream" in cls.__name__:
            return getattr(foreign, attribute, None)
    return None


cdef bint offers_stream(object foreign):
    return hasattr(foreign, "__cuda_stream__") or known_address(foreign) is not None


cdef uintptr_t foreign_stream_address(object foreign) except? 0:
    protocol = getattr(foreign, "__cuda_stream__", None)
    if protocol is None:
        address = known_address(foreign)
        if address is None:
            raise TypeError(f"{qualified_name(foreign)} object does not have a '__cuda_stream__' "
                            "attribute")
        return address_from(address)
    if callable(protocol):
        answer = protocol()
    else:
        warn_deprecated("__cuda_stream__ as an attribute (it must be implemented as a method)",
                        "a method that returns (0, address)")
        answer = protocol
    if not hasattr(answer, "__len__") or len(answer) != 2:
        raise RuntimeError(f"__cuda_stream__ of {qualified_name(foreign)} must return a sequence "
                           f"with 2 elements, got {answer!r}")
    version, address = answer
    if version != 0:
        raise RuntimeError(f"the first element of what __cuda_stream__ of "
                           f"{qualified_name(foreign)} returns must be 0, got {version!r}")
    return address_from(address)


cdef Stream wrap_foreign_stream(object cls, object foreign):
    return wrap_raw_stream(cls, <CUstream>foreign_stream_address(foreign), foreign)


# The class GraphBuilder and what gives its stream, once graphs are in use.
cdef object graph_builder = None
cdef stream_of_builder_function stream_of_builder = NULL


cdef int register_graph_builder(object cls, stream_of_builder_function function) except -1:
    global graph_builder, stream_of_builder
    graph_builder, stream_of_builder = cls, function
    return 0


cdef inline bint is_graph_builder(object given):
    return graph_builder is not None and isinstance(given, graph_builder)


cdef Stream accept_stream(object given):
    cdef Stream stream
    if isinstance(given, Stream):
        stream = <Stream>given
    elif is_graph_builder(given):
        stream = stream_of_builder(given)
    elif given is None:
        raise TypeError("stream is required and must not be None; pass device.default_stream for "
                        "the default stream")
    elif offers_stream(given):
        stream = wrap_foreign_stream(Stream, given)
    else:
        raise TypeError(f"Stream or GraphBuilder expected, got {qualified_name(given)}")
    stream.native.check_open(stream)
    return stream


cdef int run_on_stream(Stream stream, stream_work work, void* arguments,
                       const char* function) except -1:
    cdef borrowed_stream order = stream.native.borrow_open(stream)
    cdef CUresult code
    with nogil:
        code = run_in_order(order, work, arguments)
    return check(code, function)


cdef Stream accept_launch_stream(object given):
    if (not isinstance(given, Stream) and given is not None and not is_graph_builder(given)
            and offers_stream(given)):
        PyErr_WarnEx(DeprecationWarning,
                     b"Passing foreign stream objects to this function via the stream protocol is "
                     b"deprecated. Convert the object explicitly using Stream(obj) instead. "
                     b"Device.create_stream(obj) does that.", 1)
    return accept_stream(given)


def Stream_accept(arg, allow_stream_protocol=False):
    """The open `Stream` that an argument stands for. Host only."""
    return accept_stream(arg)
