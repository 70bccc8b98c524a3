# SPDX-License-Identifier: Apache-2.0
# What is recorded into a graph keeps what it uses: memory, kernels, events, arrays.

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


cdef object breaking_call = None  # what is said of the last call that broke a capture
cdef object graph_memory_class = None


cdef int set_graph_memory_class(object cls) except -1:
    global graph_memory_class
    graph_memory_class = cls
    return 0


cdef Event share_event(Event event):
    cdef event_handle native = event.native.share(event)
    return wrap_event(Event, native) if native.is_open() else event


cdef object share_operand(object operand):
    if isinstance(operand, Buffer):
        return memory_to_keep(<Buffer>operand)
    if isinstance(operand, Event):
        return share_event(<Event>operand)
    return operand


cdef inline bint is_of_python(object value) noexcept:
    """Whether its class was made in Python, as those of adaptors are."""
    return PyType_HasFeature(Py_TYPE(value), Py_TPFLAGS_HEAPTYPE)


cdef object memory_to_keep(Buffer buffer):
    """What keeps the memory of a Buffer; None where the memory is a part of a graph itself."""
    resource = resource_of(buffer)
    while is_of_python(resource) and getattr(type(resource), "_is_adaptor", False):
        resource = resource.upstream  # of an adaptor
    if graph_memory_class is not None and PyType_IsSubtype(
            Py_TYPE(resource), <PyTypeObject*>graph_memory_class):
        return None
    if type(resource) is PoolMemoryResource and (<PoolMemoryResource>resource).parent is not None:
        return resource  # the capture may use the memory again, and nobody else does
    return memory_of(buffer)


cdef inline bint is_plain(object value) noexcept:
    """Whether it keeps nothing alive, as most arguments of kernels."""
    return (PyLong_CheckExact(value) or PyFloat_CheckExact(value) or PyBool_Check(value)
            or value is None or PyComplex_CheckExact(value))


cdef int add_operands(list kept, object operands) except -1:
    for each in operands:
        if not is_plain(each):
            shared = share_operand(each)
            if shared is not None:
                kept.append(shared)
    return 0


cdef CUuserObject keep_in_graph(CUgraph graph, object kept) except NULL:
    return retain_in_graph(NULL, graph, make_host_call(kept), release_host_call)


@cython.final
cdef class _CaptureKeeper:
    """The list of what a capture keeps: one for all that is recorded, which the graph holds."""

    cdef unsigned long long id
    cdef CUgraph graph
    cdef list objects   # None: of no capture

    cdef list find(self, const capture_info& capture):
        cdef list objects
        if captures_under_way() == 0:  # nobody would say when the capture has ended
            objects = []
            keep_in_graph(capture.graph, objects)
            return objects
        with cython.critical_section(self):
            objects = self.objects
            if objects is None or self.id != capture.id or self.graph != capture.graph:
                objects = []
                keep_in_graph(capture.graph, objects)
                self.id, self.graph, self.objects = capture.id, capture.graph, objects
        return objects


# Of the last capture that anything was kept in, until a builder ends.
cdef _CaptureKeeper capture_keeper = _CaptureKeeper.__new__(_CaptureKeeper)


cdef int count_builder_captures(int change) except -1:
    count_capture(change)
    if change < 0:
        with cython.critical_section(capture_keeper):
            capture_keeper.objects = None
    return 0


cdef list list_in_capture(const stream_ref& stream):
    cdef capture_info found
    check(find_capture(stream, found), "cuStreamGetCaptureInfo")
    if found.status != CU_STREAM_CAPTURE_STATUS_ACTIVE:
        return None
    return capture_keeper.find(found)


cdef int keep_in_capture(const stream_ref& stream, object kept) except -1:
    cdef list objects = list_in_capture(stream)
    if objects is None:
        return 0
    objects.append(kept)
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
    return keep_operands_in_capture(order, operands)


cdef int keep_operands_in_capture(const stream_ref& stream, tuple operands) except -1:
    cdef list objects = list_in_capture(stream)
    return 0 if objects is None else add_operands(objects, operands)


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
