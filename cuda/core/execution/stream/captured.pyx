# SPDX-License-Identifier: Apache-2.0
# References that a graph holds to captured operands: memory, kernels, events, arrays.

from cpython.bool cimport PyBool_Check
from cpython.complex cimport PyComplex_CheckExact
from cpython.float cimport PyFloat_CheckExact
from cpython.long cimport PyLong_CheckExact
from cpython.object cimport Py_TYPE, PyTypeObject

from cuda.bindings.cydriver cimport (
    CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
)

cdef extern from "Python.h":
    bint PyType_IsSubtype(PyTypeObject*, PyTypeObject*) noexcept
    bint PyType_HasFeature(PyTypeObject*, unsigned long) noexcept
    const unsigned long Py_TPFLAGS_HEAPTYPE


cdef object invalidating_call = None  # text about the call that invalidated the last capture
cdef object graph_memory_class = None


cdef int set_graph_memory_class(object cls) except -1:
    global graph_memory_class
    graph_memory_class = cls
    return 0


cdef Event share_event(Event event):
    cdef event_handle native = event.native.share(event)
    return wrap_event(Event, native) if native.is_open() else event


cdef object share_operand(object operand):
    cdef PyObject* buffer = buffer_of_argument(operand)
    if buffer is not NULL:
        return owner_for_graph(<Buffer>buffer)
    if isinstance(operand, Event):
        return share_event(<Event>operand)
    return operand


cdef inline bint is_heap_type(object value) noexcept:
    """Return whether the class was created in Python, like the classes of adaptors."""
    return PyType_HasFeature(Py_TYPE(value), Py_TPFLAGS_HEAPTYPE)


cdef object owner_for_graph(Buffer buffer):
    resource = resource_of(buffer)
    while is_heap_type(resource) and getattr(type(resource), "_is_adaptor", False):
        resource = resource.upstream
    if graph_memory_class is not None and PyType_IsSubtype(
            Py_TYPE(resource), <PyTypeObject*>graph_memory_class):
        return None
    if type(resource) is PoolMemoryResource and (<PoolMemoryResource>resource).parent is not None:
        return resource  # a private pool, whose memory only this capture reuses
    return owner_of_argument(buffer)


cdef inline bint is_plain(object value) noexcept:
    """Return whether the value owns nothing, like most kernel arguments."""
    return (PyLong_CheckExact(value) or PyFloat_CheckExact(value) or PyBool_Check(value)
            or value is None or PyComplex_CheckExact(value))


cdef int add_operands(list refs, object operands) except -1:
    for each in operands:
        if not is_plain(each):
            shared = share_operand(each)
            if shared is not None:
                refs.append(shared)
    return 0


cdef CUuserObject retain_object_in_graph(CUgraph graph, object operand) except NULL:
    return retain_in_graph(NULL, graph, make_host_call(operand), release_host_call)


@cython.final
cdef class _CaptureReferences:
    """The list of objects that one capture retains, cached for its next operation."""

    cdef unsigned long long id
    cdef CUgraph graph
    cdef list objects   # None: no capture is cached

    cdef list find(self, const capture_info& capture):
        cdef list objects
        if captures_under_way() == 0:  # no builder would invalidate the cache at the end
            objects = []
            retain_object_in_graph(capture.graph, objects)
            return objects
        with cython.critical_section(self):
            objects = self.objects
            if objects is None or self.id != capture.id or self.graph != capture.graph:
                objects = []
                retain_object_in_graph(capture.graph, objects)
                self.id, self.graph, self.objects = capture.id, capture.graph, objects
        return objects


# References of the most recent capture, until a builder ends.
cdef _CaptureReferences last_capture = _CaptureReferences.__new__(_CaptureReferences)


cdef int count_builder_captures(int change) except -1:
    count_capture(change)
    if change < 0:
        with cython.critical_section(last_capture):
            last_capture.objects = None
    return 0


cdef list references_of_capture(const stream_ref& stream):
    cdef capture_info capture
    check(find_capture(stream, capture), "cuStreamGetCaptureInfo")
    if capture.status != CU_STREAM_CAPTURE_STATUS_ACTIVE:
        return None
    return last_capture.find(capture)


cdef int retain_in_capture(const stream_ref& stream, object operand) except -1:
    cdef list objects = references_of_capture(stream)
    if objects is None:
        return 0
    objects.append(operand)
    return 1


cdef bint is_captured(object stream_arg) except -1:
    """Return whether a builder captures the stream of an argument."""
    cdef capture_info capture
    cdef borrowed_stream native_stream
    if captures_under_way() == 0 or stream_arg is None:
        return False
    cdef Stream stream = accept_stream(stream_arg)
    native_stream = stream.native.borrow_open(stream)
    check(find_capture(native_stream, capture), "cuStreamGetCaptureInfo")
    return capture.status == CU_STREAM_CAPTURE_STATUS_ACTIVE


cdef int retain_captured_operands(Stream stream, tuple operands) except -1:
    cdef borrowed_stream native_stream = stream.native.borrow_open(stream)
    return retain_operands_in_capture(native_stream, operands)


cdef int retain_operands_in_capture(const stream_ref& stream, tuple operands) except -1:
    cdef list objects = references_of_capture(stream)
    return 0 if objects is None else add_operands(objects, operands)


cdef int record_capture_error(object error, CUresult code) except -1:
    """Record the first call that invalidated the capture, for the error at its end."""
    global invalidating_call
    if not CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED <= code <= CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
        return 0
    if captures_under_way() and invalidating_call is None:
        frame = sys._getframe()
        invalidating_call = (f"{error.where or 'a driver call'} at {frame.f_code.co_filename}:"
                             f"{frame.f_lineno} failed with {error.name}")
    return 0


cdef int clear_capture_error() except -1:
    global invalidating_call
    invalidating_call = None
    return 0


cdef str capture_error_text():
    return invalidating_call or ""
