# SPDX-License-Identifier: Apache-2.0
# DLPack's table of C functions, by which libraries exchange tensors without a call of Python.
from cuda.core._core cimport make_managed_tensor


cdef extern from "views/arrays/exchange_table.hpp" namespace "halfwarp::views":
    PyObject* class_attribute "halfwarp::views::table_attribute"(object) noexcept
    void* new_reference "Py_NewRef"(object)


cdef const exchange_table* table_of(object obj) except? NULL:
    """The table of the object's class in a version that is read here; NULL without one."""
    cdef PyObject* found = class_attribute(obj)
    if found is NULL or not PyCapsule_IsValid(<object>found, TABLE_CAPSULE):
        return NULL
    cdef const exchange_header* header = <const exchange_header*>PyCapsule_GetPointer(
        <object>found, TABLE_CAPSULE)
    while header is not NULL and header.major != supported_version.major:
        header = header.previous
    return <const exchange_table*>header


cdef bint take_by_exchange_table(StridedMemoryView view, object obj, object stream_ptr) except -1:
    """Whether the class of the object has a table; the view then is of the object."""
    cdef const exchange_table* table = table_of(obj)
    cdef void* current = NULL
    cdef int kind
    if table is NULL or table.export_tensor is NULL:
        return False
    consumer = stream_number(stream_ptr)
    view.source = obj
    table.export_tensor(<void*>obj, &view.versioned)
    if view.versioned is NULL:
        raise BufferError(f"the exchange table of {type_name(obj)} gave no tensor")
    kind = <int>view.versioned.content.location.type
    if kind != DEVICE_CPU:
        check_order(kind, consumer)
    read_managed(view)
    place_tensor(view, kind, view.versioned.content.location.id)
    if kind != DEVICE_CUDA or consumer == -1 or table.current_stream is NULL:
        return True
    table.current_stream(device_type.cuda, view.ordinal, &current)
    order_after(stream_ptr, consumer, <uintptr_t>current or 1)
    return True


# Our own table.

cdef int export_by_table(void* given, versioned_tensor** out) except? -1:
    cdef dlpack_tensor tensor
    cdef StridedMemoryView view
    if out is NULL:
        raise RuntimeError("out cannot be NULL")
    out[0] = NULL
    view = as_view(given)
    describe_tensor(view, &tensor)
    out[0] = make_managed_tensor(view, tensor, flags_of(view))
    return 0


cdef int import_by_table(versioned_tensor* tensor, void** out) except? -1:
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
        view.versioned = NULL  # it stays the caller's, who is told of the failure
        raise
    place_tensor(view, <int>tensor.content.location.type, tensor.content.location.id)
    view.source = view.kept = None
    out[0] = new_reference(view)
    return 0


cdef int borrow_by_table(void* given, dlpack_tensor* out) except? -1:
    if out is NULL:
        raise RuntimeError("out cannot be NULL")
    describe_tensor(as_view(given), out)
    return 0


cdef int current_stream_of_views(device_type kind, int32_t ordinal, void** out) except? -1:
    """Views know no stream of their own."""
    if out is NULL:
        raise RuntimeError("out_current_stream cannot be NULL")
    out[0] = NULL
    return 0


cdef int refuse_to_allocate(dlpack_tensor* prototype, versioned_tensor** out, void* context,
                            set_error_function set_error) noexcept:
    if out is not NULL:
        out[0] = NULL
    if set_error is not NULL:
        set_error(context, b"NotImplementedError", b"StridedMemoryView allocates no memory")
    return -1


cdef StridedMemoryView as_view(void* given):
    if given is NULL:
        raise RuntimeError("py_object cannot be NULL")
    if not isinstance(<object>given, StridedMemoryView):
        raise TypeError(f"py_object must be a StridedMemoryView, got {type_name(<object>given)}")
    return <StridedMemoryView>given


own_table.header.major, own_table.header.minor = supported_version.major, supported_version.minor
own_table.header.previous = NULL
own_table.allocate = refuse_to_allocate
own_table.export_tensor = export_by_table
own_table.import_tensor = import_by_table
own_table.borrow_tensor = borrow_by_table
own_table.current_stream = current_stream_of_views
