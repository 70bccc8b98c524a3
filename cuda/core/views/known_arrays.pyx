# SPDX-License-Identifier: Apache-2.0
# Arrays that are read without a protocol: NumPy's, our own, PyTorch's.

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


# The class, once an array was seen whose fields lie where they are expected; and the dtypes of its
# arrays that DLPack has numbers for. The objects live as long as NumPy.
cdef PyObject* ndarray_class = NULL
cdef bint is_ndarray_known = False
cdef enum:
    MOST_DTYPES = 16
cdef struct known_dtype:
    PyObject* dtype
    unsigned char code
    unsigned char bits
cdef known_dtype[MOST_DTYPES] dtypes
cdef int dtype_count = 0
cdef list kept_for_ever = []
cdef dict imported = sys.modules


cdef inline bint is_ndarray(object obj) except -1:
    """Whether it is an array of NumPy's own class, which can be read by its fields."""
    if type_of(obj) is ndarray_class:
        return True
    return False if is_ndarray_known else learn_ndarray(obj)


cdef bint learn_ndarray(object obj) except -1:
    """Look for NumPy among what is imported, and compare what an array says with its fields."""
    global ndarray_class, is_ndarray_known
    numpy = imported.get("numpy")
    cls = getattr(numpy, "ndarray", None) if numpy is not None else None
    if cls is None or type(obj) is not cls:
        return False
    is_ndarray_known = True
    if not has_expected_fields(numpy, obj):
        return False
    learn_dtypes(numpy)
    kept_for_ever.append(cls)
    ndarray_class = <PyObject*>cls
    return True


cdef bint has_expected_fields(object numpy, object given) except -1:
    for obj in (given, numpy.zeros((2, 3, 4), "f4")[::-1, :, 1:]):
        dtype = obj.dtype
        if as_ndarray(obj).ndim != obj.ndim or as_ndarray(obj).dtype is not <PyObject*>dtype:
            return False
        if <uintptr_t>as_ndarray(obj).data != obj.__array_interface__["data"][0]:
            return False
        if bool(as_ndarray(obj).flags & ndarray_writeable) != obj.flags.writeable:
            return False
    return True


cdef int learn_dtypes(object numpy) except -1:
    global dtype_count
    for (code, bits), name in NUMPY_TYPES.items():
        dtype = numpy.dtype(name)
        kept_for_ever.append(dtype)
        dtypes[dtype_count] = known_dtype(<PyObject*>dtype, code, bits)
        dtype_count += 1
    return 0


cdef bint take_ndarray(StridedMemoryView view, object array) except -1:
    """Whether the array can be shown as it is; else NumPy says what is wrong with it."""
    cdef const ndarray_fields* fields = &as_ndarray(array)
    cdef int place
    view.element.bits = 0
    for place in range(dtype_count):
        if dtypes[place].dtype is fields.dtype:
            view.element.code, view.element.bits = dtypes[place].code, dtypes[place].bits
            break
    else:
        dtype = array.dtype
        element_of_dtype(dtype, &view.element)
        if view.element.bits == 0:
            return False
        view.type_object = dtype
        view.element.lanes = 1
        if not layout_of_ndarray(as_ndarray(array), dtype.itemsize, view.native):
            return False
        return set_ndarray(view, array)
    view.element.lanes = 1
    if not layout_of_ndarray(fields[0], view.element.bits >> 3, view.native):
        return False
    return set_ndarray(view, array)


cdef inline bint set_ndarray(StridedMemoryView view, object array) except -1:
    view.fields.pointer = <uintptr_t>as_ndarray(array).data
    view.fields.device = -1
    view.where = device_type.cpu
    view.flags = VIEW_IS_SET
    if not as_ndarray(array).flags & ndarray_writeable:
        view.flags |= VIEW_IS_READONLY
    view.source = array
    return True


cdef int place_buffer(StridedMemoryView view, Buffer buffer) except -1:
    """Where the memory of a Buffer is, and that it must stay open."""
    cdef dlpack_device where = dlpack_device_of(buffer)
    place_tensor(view, <int>where.type, where.id)
    view.source = buffer
    view.fields.source = &buffer.fields
    return 0


cdef int take_buffer(StridedMemoryView view, Buffer buffer, object stream_ptr) except -1:
    consumer = stream_number(stream_ptr)
    check_open(buffer.fields.is_open, "Buffer")
    place_buffer(view, buffer)
    check_order(<int>view.where, consumer)
    if consumer is not None:
        order_consumer(buffer, consumer)
    cdef buffer_fields memory
    with cython.critical_section(buffer):
        memory = buffer.fields
    check_open(memory.is_open, "Buffer")
    if memory.size > <size_t>0x7fffffffffffffff:
        raise BufferError(f"the buffer has {memory.size} bytes, and views count them with a sign")
    view.native = strided_layout(1, 1, True)
    view.native.extents()[0], view.native.strides()[0] = memory.size, 1
    view.element.code, view.element.bits, view.element.lanes = 0, 8, 1
    view.fields.pointer = memory.pointer
    view.flags |= VIEW_IS_SET
    return 0


cdef int take_layout_of_buffer(StridedMemoryView view, object given, tuple shape, object strides,
                               object itemsize, object dtype) except -1:
    if not isinstance(given, Buffer):
        raise TypeError(f"buffer must be a Buffer, got {type_name(given)}; use from_dlpack() or "
                        "from_any_interface() for other objects")
    cdef Buffer buffer = <Buffer>given
    cdef int64_t size
    if itemsize is None and dtype is None:
        raise ValueError("Either itemsize or dtype must be specified")
    if dtype is not None:
        dtype = numpy_module().dtype(dtype)
        size = dtype.itemsize
        if itemsize is not None and PyNumber_Index(itemsize) != size:
            raise ValueError(f"itemsize ({itemsize}) does not match dtype.itemsize ({size})")
        view.type_object = dtype
        element_of_dtype(dtype, &view.element)
    else:
        size = PyNumber_Index(itemsize)
    view.native = layout_from(shape, strides, size, False)
    check_open(buffer.fields.is_open, "Buffer")
    check_within(buffer, view.native)
    place_buffer(view, buffer)
    view.fields.pointer = buffer.fields.pointer
    check_open(buffer.fields.is_open, "Buffer")
    view.flags |= VIEW_IS_SET
    return 0


cdef int check_within(Buffer buffer, const strided_layout& layout) except -1:
    """Refuse a layout that the memory of a resource does not hold; other sizes are not known."""
    if buffer.memory_resource is None:
        return 0
    cdef int64_t needed = size_for(layout)
    if <size_t>needed > buffer.fields.size:
        raise ValueError(f"Buffer size is too small for the layout. Expected at least {needed} "
                         f"bytes, got {buffer.fields.size} bytes.")
    return 0


cdef int take_view(StridedMemoryView view, StridedMemoryView other, object stream_ptr) except -1:
    """A view of a view, which knows no stream of its own."""
    check_memory(other)
    check_order(<int>other.where, stream_number(stream_ptr))
    view.native = other.native
    view.element = other.element
    view.type_object, view.type_text = other.type_object, other.type_text
    if view.element.bits == 0:
        element_or_refuse(other)  # as __dlpack__ would
    view.fields = other.fields
    view.flags, view.where, view.ordinal = other.flags, other.where, other.ordinal
    view.source = view.kept = other
    return 0


# PyTorch: its own protocol refuses tensors that need a gradient or are conjugated, and knows no
# stream in the array interface.

cdef dict TORCH_TYPES = {
    "torch.bool": (6, 8), "torch.uint8": (1, 8), "torch.uint16": (1, 16), "torch.uint32": (1, 32),
    "torch.uint64": (1, 64), "torch.int8": (0, 8), "torch.int16": (0, 16), "torch.int32": (0, 32),
    "torch.int64": (0, 64), "torch.float16": (2, 16), "torch.float32": (2, 32),
    "torch.float64": (2, 64), "torch.complex64": (5, 64), "torch.complex128": (5, 128),
    "torch.bfloat16": (4, 16), "torch.float8_e4m3fn": (10, 8), "torch.float8_e4m3fnuz": (11, 8),
    "torch.float8_e5m2": (12, 8), "torch.float8_e5m2fnuz": (13, 8), "torch.float8_e8m0fnu": (14, 8),
}


cdef bint is_torch_tensor(object obj) except -1:
    cdef PyObject* torch = PyDict_GetItemWithError(imported, "torch")
    if torch is NULL:
        return False
    cls = getattr(<object>torch, "Tensor", None)
    return isinstance(cls, type) and isinstance(obj, cls)


cdef int take_torch_quickly(StridedMemoryView view, object tensor, object stream_ptr) except -1:
    """By the exchange table of newer versions, where it takes the tensor."""
    try:
        if take_by_exchange_table(view, tensor, stream_ptr):
            return 0
    except (RuntimeError, TypeError):  # those that need a gradient, for instance
        give_tensor_back(view)
    return take_torch(view, tensor, stream_ptr)


cdef int take_torch(StridedMemoryView view, object tensor, object stream_ptr) except -1:
    cdef int itemsize = tensor.element_size()
    device = tensor.device
    kind = device.type
    if kind not in ("cpu", "cuda"):
        raise BufferError(f"device not supported: torch's {device}")
    view.native = layout_from(tuple(tensor.shape), tuple(tensor.stride()), itemsize, False)
    key = TORCH_TYPES.get(str(tensor.dtype))
    view.element.code, view.element.bits = key or (3, 8 * itemsize)
    view.element.lanes = 1
    view.source = tensor
    place_tensor(view, DEVICE_CPU if kind == "cpu" else DEVICE_CUDA, device.index or 0)
    view.fields.pointer = tensor.data_ptr()
    view.flags |= VIEW_IS_SET
    if kind == "cpu":
        return 0
    consumer = stream_number(stream_ptr)
    if consumer is None:
        raise ambiguous_stream()
    if consumer == -1:
        return 0
    current = imported["torch"].cuda.current_stream(device).cuda_stream
    return order_after(stream_ptr, consumer, current or 1)
