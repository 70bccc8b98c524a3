# SPDX-License-Identifier: Apache-2.0
# What is recorded into a graph keeps what it uses: memory, kernels, events, arrays.

from cuda.bindings.cydriver cimport (
    CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
)


cdef object breaking_call = None  # what is said of the last call that broke a capture

# What keeps nothing alive, and most arguments of kernels are.
cdef tuple PLAIN = (int, float, bool, complex, type(None))


cdef Event share_event(Event event):
    cdef event_handle native = event.native.share(event)
    return wrap_event(Event, native) if native.is_open() else event


cdef object share_operand(object operand):
    if isinstance(operand, Buffer):
        return memory_to_keep(<Buffer>operand)
    if isinstance(operand, Event):
        return share_event(<Event>operand)
    return operand


cdef object memory_to_keep(Buffer buffer):
    """What keeps the memory of a Buffer; None where the memory is a part of a graph itself."""
    resource = resource_of(buffer)
    while getattr(type(resource), "_hands_memory_on", False):  # an adaptor of another resource
        resource = resource.upstream
    if resource is not None and getattr(type(resource), "_is_of_graphs", False):
        return None
    if type(resource) is PoolMemoryResource and (<PoolMemoryResource>resource).whole is not None:
        return resource  # the capture may use the memory again, and nobody else does
    return memory_of(buffer)


cdef tuple operands_of(object operands):
    return tuple([share_operand(each) for each in operands if type(each) not in PLAIN])


cdef CUuserObject keep_in_graph(CUgraph graph, object kept) except NULL:
    return retain_in_graph(graph, make_host_call(kept), give_up_host_call)


cdef int keep_in_capture(const stream_ref& stream, object kept) except -1:
    cdef capture_info found
    check(find_capture(stream, found), "cuStreamGetCaptureInfo")
    if found.status != CU_STREAM_CAPTURE_STATUS_ACTIVE:
        return 0
    keep_in_graph(found.graph, kept)
    return 1


cdef bint is_captured(object given) except -1:
    """Whether an argument stands for a stream of which a builder makes a graph."""
    cdef capture_info found
    cdef borrowed_stream order
    if captures_under_way() == 0 or given is None:
        return False
    cdef Stream stream = accept_stream(given)
    order = stream.native.borrow_open(stream)
    check(find_capture(order, found), "cuStreamGetCaptureInfo")
    return found.status == CU_STREAM_CAPTURE_STATUS_ACTIVE


cdef int keep_operands(Stream stream, tuple operands) except -1:
    cdef borrowed_stream order = stream.native.borrow_open(stream)
    keep_in_capture(order, operands_of(operands))
    return 0


cdef int note_capture_error(object error, CUresult code) except -1:
    """Remember a call that no capture survives: the end of the capture says which one it was."""
    global breaking_call
    if not CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED <= code <= CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
        return 0
    if captures_under_way() and breaking_call is None:
        frame = sys._getframe()
        breaking_call = (f"{error.where or 'a driver call'} at {frame.f_code.co_filename}:"
                         f"{frame.f_lineno} failed with {error.name}")
    return 0


cdef int forget_capture_error() except -1:
    global breaking_call
    breaking_call = None
    return 0


cdef str what_broke_the_capture():
    return breaking_call or ""
