# SPDX-License-Identifier: Apache-2.0
# Owners that a graph retains for captured operands: memory, kernels, arrays.

from cpython.bool cimport PyBool_Check
from cpython.float cimport PyFloat_CheckExact
from cpython.long cimport PyLong_CheckExact
from cpython.object cimport Py_TYPE, PyTypeObject

cdef extern from "Python.h":
    bint PyType_IsSubtype(PyTypeObject*, PyTypeObject*) noexcept
    bint PyType_HasFeature(PyTypeObject*, unsigned long) noexcept
    const unsigned long Py_TPFLAGS_HEAPTYPE


cdef object graph_memory_class = None


cdef int set_graph_memory_class(object cls) except -1:
    global graph_memory_class
    graph_memory_class = cls


cdef object share_operand(object operand):
    cdef PyObject* buffer = buffer_of_argument(operand)
    if buffer is not NULL:
        return owner_for_graph(<Buffer>buffer)
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


cdef object owner_of_argument(object value):
    """Return the owner of the memory of a Buffer, or of a view of it; None for other values."""
    cdef PyObject* buffer = buffer_of_argument(value)
    if buffer is not NULL and (<Buffer>buffer).fields.is_open:
        return share_allocation(<Buffer>buffer)
    return None


cdef inline bint is_plain(object value) noexcept:
    """Return whether the value owns nothing, like most kernel arguments."""
    return (PyLong_CheckExact(value) or PyFloat_CheckExact(value) or PyBool_Check(value)
            or value is None)


cdef int add_operands(list refs, object operands, bint has_buffers) except -1:
    for each in operands:
        if not is_plain(each):
            shared = share_operand(each)
            if shared is not None:
                refs.append(shared)
            if has_buffers and isinstance(each, Buffer):
                refs.append(each)


cdef int retain_captured_operands(Stream stream, tuple operands) except -1:
    cdef borrowed_stream native_stream = stream.native.borrow_open(stream)
    return retain_operands_in_capture(native_stream, operands)


cdef int retain_captured_copy(Stream stream, object target, object source) except -1:
    return retain_captured_operands(stream, (target, source)) if captures_under_way() else 0


cdef int retain_operands_in_capture(const stream_ref& stream, tuple operands) except -1:
    cdef list objects = references_of_capture(stream)
    return 0 if objects is None else add_operands(objects, operands, False)
