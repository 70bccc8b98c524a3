# SPDX-License-Identifier: Apache-2.0
# Fast import of arrays without a protocol call: NumPy arrays, Buffers, views, PyTorch tensors.

import sys

from cuda.core._core cimport dlpack_device, dlpack_device_of, order_consumer


cdef extern from "Python.h":
    PyObject* type_of "(PyObject*)Py_TYPE"(object) noexcept


cdef extern from "views/arrays/ndarray.hpp" namespace "halfwarp::views":
    cppclass ndarray_fields "halfwarp::views::ndarray":
        char* data
        int ndim
        PyObject* dtype
        int flags
    const int ndarray_writeable "halfwarp::views::ndarray::writeable"
    const ndarray_fields& as_ndarray(object) noexcept
    bint layout_of_ndarray "halfwarp::views::layout_of"(const ndarray_fields&, int itemsize,
                                                        strided_layout&) except +


# The class numpy.ndarray, set once an array had the expected field layout; and the dtypes that
# DLPack supports. The objects are immortal.
cdef PyObject* ndarray_class = NULL
cdef bint is_numpy_checked = False
cdef enum:
    MAX_DTYPES = 16
cdef struct dtype_entry:
    PyObject* dtype
    unsigned char code
    unsigned char bits
cdef dtype_entry[MAX_DTYPES] dtypes
cdef int dtype_count = 0
cdef list immortal_objects = []
cdef dict loaded_modules = sys.modules


cdef inline bint is_ndarray(object obj) except -1:
    """Return whether an object is exactly a numpy.ndarray with the expected field layout."""
    if type_of(obj) is ndarray_class:
        return True
    return False if is_numpy_checked else check_ndarray_class(obj)


cdef bint check_ndarray_class(object obj) except -1:
    """Find NumPy among the imported modules and check the field layout of an array."""
    global ndarray_class, is_numpy_checked
    numpy = loaded_modules.get("numpy")
    cls = getattr(numpy, "ndarray", None) if numpy is not None else None
    if cls is None or type(obj) is not cls:
        return False
    is_numpy_checked = True
    # The second array has an offset and more axes.
    if has_expected_fields(obj) and has_expected_fields(numpy.zeros((2, 3), "f4")[::-1]):
        cache_dtypes(numpy)
        immortal_objects.append(cls)
        ndarray_class = <PyObject*>cls
    return ndarray_class is not NULL


cdef bint has_expected_fields(object array) except -1:
    cdef const ndarray_fields* fields = &as_ndarray(array)
    actual = (fields.ndim, <uintptr_t>fields.dtype, <uintptr_t>fields.data,
              bool(fields.flags & ndarray_writeable))
    return actual == (array.ndim, id(array.dtype), array.__array_interface__["data"][0],
                      array.flags.writeable)


cdef int cache_dtypes(object numpy) except -1:
    global dtype_count
    for (code, bits), name in NUMPY_TYPES.items():
        dtype = numpy.dtype(name)
        immortal_objects.append(dtype)
        dtypes[dtype_count] = dtype_entry(<PyObject*>dtype, code, bits)
        dtype_count += 1


cdef bint import_ndarray(StridedMemoryView view, object array) except -1:
    """Import an array by its fields; False if the protocol of NumPy must handle it."""
    cdef const ndarray_fields* fields = &as_ndarray(array)
    cdef int index, itemsize
    for index in range(dtype_count):
        if dtypes[index].dtype is fields.dtype:
            view.element.code, view.element.bits = dtypes[index].code, dtypes[index].bits
            view.element.lanes = 1
            itemsize = view.element.bits >> 3
            break
    else:
        dtype = array.dtype
        element_of_dtype(dtype, &view.element)
        if view.element.bits == 0:
            return False
        view.type_object = dtype
        itemsize = dtype.itemsize
    if not layout_of_ndarray(fields[0], itemsize, view.native):
        return False
    view.fields.pointer = <uintptr_t>fields.data
    view.fields.device = -1
    view.device_kind = device_type.cpu
    view.flags = VIEW_IS_SET
    if not fields.flags & ndarray_writeable:
        view.flags |= VIEW_IS_READONLY
    view.source = array
    return True


cdef int set_buffer_device(StridedMemoryView view, Buffer buffer) except -1:
    """Set the device of a Buffer's memory, and the check that the Buffer is open."""
    cdef dlpack_device device = dlpack_device_of(buffer)
    set_device(view, <int>device.type, device.id)
    view.source = buffer
    view.fields.source = &buffer.fields


cdef int import_buffer(StridedMemoryView view, Buffer buffer, object stream_ptr) except -1:
    consumer = stream_number(stream_ptr)
    check_open(buffer.fields.is_open, "Buffer")
    set_buffer_device(view, buffer)
    check_order(<int>view.device_kind, consumer)
    if consumer is not None:
        order_consumer(buffer, consumer)
    cdef buffer_fields memory
    with cython.critical_section(buffer):
        memory = buffer.fields
    check_open(memory.is_open, "Buffer")
    if memory.size > <size_t>0x7fffffffffffffff:
        raise BufferError(f"the buffer has {memory.size} bytes, but a view supports at most "
                          "2**63 - 1")
    view.native = strided_layout(1, 1, True)
    view.native.extents()[0], view.native.strides()[0] = memory.size, 1
    view.element.code, view.element.bits, view.element.lanes = 0, 8, 1
    view.fields.pointer = memory.pointer
    view.flags |= VIEW_IS_SET


cdef int import_buffer_layout(StridedMemoryView view, object value, tuple shape, object strides,
                              object itemsize, object dtype) except -1:
    if not isinstance(value, Buffer):
        raise TypeError(f"buffer must be a Buffer, got {qualified_name(value)}; use from_dlpack() "
                        "or from_any_interface() for other objects")
    cdef Buffer buffer = <Buffer>value
    cdef int64_t size
    if itemsize is None and dtype is None:
        raise ValueError("Either itemsize or dtype must be specified")
    if dtype is not None:
        dtype = numpy_module().dtype(dtype)
        reject_object_dtype(dtype, "StridedMemoryView.from_buffer()")
        size = dtype.itemsize
        if itemsize is not None and as_int("itemsize", itemsize) != size:
            raise ValueError(f"itemsize ({itemsize}) does not match dtype.itemsize ({size})")
        view.type_object = dtype
        element_of_dtype(dtype, &view.element)
    else:
        size = as_int("itemsize", itemsize)
    view.native = layout_from(shape, strides, size, False)
    check_open(buffer.fields.is_open, "Buffer")
    check_within(buffer, view.native)
    set_buffer_device(view, buffer)
    view.fields.pointer = buffer.fields.pointer
    check_open(buffer.fields.is_open, "Buffer")
    view.flags |= VIEW_IS_SET


cdef void check_within(Buffer buffer, const strided_layout& layout) except *:
    """Reject a layout larger than a buffer of a resource; other sizes are unreliable."""
    if buffer.memory_resource is None:
        return
    cdef int64_t needed = size_for(layout)
    if <size_t>needed > buffer.fields.size:
        raise ValueError(f"Buffer size is too small for the layout. Expected at least {needed} "
                         f"bytes, got {buffer.fields.size} bytes.")


cdef int import_view(StridedMemoryView view, StridedMemoryView other, object stream_ptr) except -1:
    """Import a view, which has no stream of its own."""
    check_memory(other)
    check_order(<int>other.device_kind, stream_number(stream_ptr))
    view.native = other.native
    view.element = other.element
    view.type_object, view.type_text = other.type_object, other.type_text
    if view.element.bits == 0:
        element_or_raise(other)  # raises, as __dlpack__ would
    view.fields = other.fields
    view.flags, view.device_kind, view.ordinal = other.flags, other.device_kind, other.ordinal
    view.source = view.memory_owner = other


# PyTorch: its DLPack protocol rejects tensors that require a gradient or are conjugated, and its
# array interface has no stream.

cdef dict TORCH_TYPES = {
    "torch.bool": (6, 8), "torch.uint8": (1, 8), "torch.uint16": (1, 16), "torch.uint32": (1, 32),
    "torch.uint64": (1, 64), "torch.int8": (0, 8), "torch.int16": (0, 16), "torch.int32": (0, 32),
    "torch.int64": (0, 64), "torch.float16": (2, 16), "torch.float32": (2, 32),
    "torch.float64": (2, 64), "torch.complex64": (5, 64), "torch.complex128": (5, 128),
    "torch.bfloat16": (4, 16), "torch.float8_e4m3fn": (10, 8), "torch.float8_e4m3fnuz": (11, 8),
    "torch.float8_e5m2": (12, 8), "torch.float8_e5m2fnuz": (13, 8), "torch.float8_e8m0fnu": (14, 8),
}


cdef bint is_torch_tensor(object obj) except -1:
    cdef PyObject* torch = PyDict_GetItemWithError(loaded_modules, "torch")
    if torch is NULL:
        return False
    cls = getattr(<object>torch, "Tensor", None)
    return isinstance(cls, type) and isinstance(obj, cls)


cdef int import_torch_fast(StridedMemoryView view, object tensor, object stream_ptr) except -1:
    """Import a tensor by the exchange table of newer versions, or else by its attributes."""
    try:
        if import_by_exchange_table(view, tensor, stream_ptr):
            return 0
    except (RuntimeError, TypeError):  # for example, the tensor requires a gradient
        release_tensor(view)
    return import_torch(view, tensor, stream_ptr)


cdef int import_torch(StridedMemoryView view, object tensor, object stream_ptr) except -1:
    cdef int itemsize = tensor.element_size()
    device = tensor.device
    kind = device.type
    if kind not in ("cpu", "cuda"):
        raise BufferError(f"device not supported: torch's {device}")
    view.native = layout_from(tuple(tensor.shape), tuple(tensor.stride()), itemsize, False)
    code_and_bits = TORCH_TYPES.get(str(tensor.dtype))
    view.element.code, view.element.bits = code_and_bits or (3, 8 * itemsize)
    view.element.lanes = 1
    view.source = tensor
    set_device(view, DEVICE_CPU if kind == "cpu" else DEVICE_CUDA, device.index or 0)
    view.fields.pointer = tensor.data_ptr()
    view.flags |= VIEW_IS_SET
    if kind == "cpu":
        return 0
    consumer = stream_number(stream_ptr)
    if consumer is None:
        raise ambiguous_stream_error()
    if consumer == -1:
        return 0
    current = loaded_modules["torch"].cuda.current_stream(device).cuda_stream
    return order_after_producer(stream_ptr, consumer, current or 1)
