# SPDX-License-Identifier: Apache-2.0
# The DLPack exchange table: C functions that exchange tensors without Python calls.

from cuda.core._core cimport make_managed_tensor


cdef extern from "views/arrays/exchange_table.hpp" namespace "halfwarp::views":
    PyObject* class_attribute "halfwarp::views::table_attribute"(object) noexcept
    void* new_reference "Py_NewRef"(object)

cdef exchange_table exchange_functions


cdef const exchange_table* table_of(object obj) except? NULL:
    """Return the supported version of the table of the object's class; NULL without one."""
    cdef PyObject* capsule = class_attribute(obj)
    if capsule is NULL or not PyCapsule_IsValid(<object>capsule, TABLE_CAPSULE):
        return NULL
    cdef const exchange_header* header = <const exchange_header*>PyCapsule_GetPointer(
        <object>capsule, TABLE_CAPSULE)
    while header is not NULL and header.major != supported_version.major:
        header = header.previous
    return <const exchange_table*>header


cdef bint import_by_exchange_table(StridedMemoryView view, object obj, object stream_ptr) except -1:
    """Import an object by the table of its class; False without a table."""
    cdef const exchange_table* table = table_of(obj)
    cdef void* current = NULL
    cdef int kind
    if table is NULL or table.export_tensor is NULL:
        return False
    consumer = stream_number(stream_ptr)
    view.source = obj
    table.export_tensor(<void*>obj, &view.versioned)
    if view.versioned is NULL:
        raise BufferError(f"the exchange table of {qualified_name(obj)} returned no tensor")
    kind = <int>view.versioned.content.location.type
    if kind != DEVICE_CPU:
        check_order(kind, consumer)
    read_managed(view)
    set_device(view, kind, view.versioned.content.location.id)
    if kind != DEVICE_CUDA or consumer == -1 or table.current_stream is NULL:
        return True
    table.current_stream(device_type.cuda, view.ordinal, &current)
    order_after_producer(stream_ptr, consumer, <uintptr_t>current or 1)
    return True


# The exchange table of StridedMemoryView.

cdef int table_export(void* py_object, versioned_tensor** out) except? -1:
    cdef dlpack_tensor tensor
    cdef StridedMemoryView view
    if out is NULL:
        raise RuntimeError("out cannot be NULL")
    out[0] = NULL
    view = as_view(py_object)
    describe_tensor(view, &tensor)
    out[0] = make_managed_tensor(view, tensor, flags_of(view))
    return 0


cdef int table_import(versioned_tensor* tensor, void** out) except? -1:
    cdef StridedMemoryView view
    if out is NULL:
        raise RuntimeError("out_py_object cannot be NULL")
    out[0] = NULL
    if tensor is NULL:
        raise RuntimeError("tensor cannot be NULL")
    view = StridedMemoryView.__new__(StridedMemoryView)
    view.versioned = tensor
    try:
        check_order(<int>tensor.content.location.type, -1)
        read_managed(view)
    except BaseException:
        view.versioned = NULL  # on failure, the caller still owns the tensor
        raise
    set_device(view, <int>tensor.content.location.type, tensor.content.location.id)
    view.source = view.memory_owner = None
    out[0] = new_reference(view)
    return 0


cdef int table_borrow(void* py_object, dlpack_tensor* out) except? -1:
    if out is NULL:
        raise RuntimeError("out cannot be NULL")
    describe_tensor(as_view(py_object), out)
    return 0


cdef int table_current_stream(device_type kind, int32_t ordinal, void** out) except? -1:
    """Return no stream: a view has none."""
    if out is NULL:
        raise RuntimeError("out_current_stream cannot be NULL")
    out[0] = NULL
    return 0


cdef int table_allocate(dlpack_tensor* prototype, versioned_tensor** out, void* context,
                        set_error_function set_error) noexcept:
    if out is not NULL:
        out[0] = NULL
    if set_error is not NULL:
        set_error(context, b"NotImplementedError", b"StridedMemoryView allocates no memory")
    return -1


cdef StridedMemoryView as_view(void* py_object):
    if py_object is NULL:
        raise RuntimeError("py_object cannot be NULL")
    if not isinstance(<object>py_object, StridedMemoryView):
        raise TypeError("py_object must be a StridedMemoryView, got "
                        f"{qualified_name(<object>py_object)}")
    return <StridedMemoryView>py_object


exchange_functions.header.major = supported_version.major
exchange_functions.header.minor = supported_version.minor
exchange_functions.header.previous = NULL
exchange_functions.allocate = table_allocate
exchange_functions.export_tensor = table_export
exchange_functions.import_tensor = table_import
exchange_functions.borrow_tensor = table_borrow
exchange_functions.current_stream = table_current_stream
