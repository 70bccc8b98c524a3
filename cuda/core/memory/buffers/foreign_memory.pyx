# SPDX-License-Identifier: Apache-2.0
# Memory of objects of other libraries: buffer protocol, DLPack, CUDA Array Interface.

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDES, PyBuffer_Release, PyObject_GetBuffer


@cython.final
@cython.no_gc_clear  # the view must be released before the exporter is destroyed
cdef class _ForeignMemory:
    """The contiguous bytes of an object, which this keeps alive."""

    cdef buffer_fields fields
    cdef bint is_readonly
    cdef bint is_copy  # the object does not see writes to these bytes
    cdef bint has_view
    cdef Py_buffer view
    cdef object exporter  # the object itself, or its DLPack capsule

    def __dealloc__(self):
        if self.has_view:
            PyBuffer_Release(&self.view)


cdef _ForeignMemory foreign_memory(object source, bint is_written, Stream stream):
    """Return the bytes of an object, with `stream` ordered after the producer's work."""
    cdef _ForeignMemory memory = _ForeignMemory.__new__(_ForeignMemory)
    memory.exporter = source
    # The buffer protocol of CuPy arrays raises for device memory.
    is_on_device = hasattr(source, "__cuda_array_interface__")
    if PyObject_CheckBuffer(source) and not is_on_device:
        read_buffer_protocol(memory, source, is_written)
    elif has_dlpack(source):
        import_dlpack(memory, source, stream, is_written)
    elif is_on_device:
        import_cuda_array(memory, source, stream, is_written)
    else:
        raise TypeError(f"expected a Buffer, or an array with the buffer protocol, DLPack or "
                        f"__cuda_array_interface__, got {qualified_name(source)}")
    if is_written and memory.is_copy:
        raise BufferError(f"cannot copy into {qualified_name(source)}: its DLPack export is a "
                          "copy, so the bytes would be lost")
    if is_written and memory.is_readonly:
        raise BufferError(f"cannot copy into {qualified_name(source)}: its memory is read-only")
    return memory


cdef int reject_strided(object source, bint is_written) except -1:
    if is_written:
        raise ValueError(f"cannot copy into {qualified_name(source)}: its memory is not "
                         "contiguous; copy into a contiguous array, and assign it to the slice "
                         "after the copy has completed")
    raise ValueError(f"cannot copy {qualified_name(source)}: its memory is not contiguous; make a "
                     "contiguous copy first")


cdef int read_buffer_protocol(_ForeignMemory memory, object source, bint is_written) except -1:
    acquire_view(memory, source)
    if format_has_references(memory.view.format):
        raise_references(source)
    # Bytes between the fields of a record may hold references of the array below it.
    if is_written and <void*>memory.view.obj is not NULL:
        reject_base_references(memory.view.obj, "copy into", False)
    if not PyBuffer_IsContiguous(&memory.view, b"A"):
        reject_strided(source, is_written)
    memory.fields = buffer_fields(<uintptr_t>memory.view.buf, memory.view.len, True)
    memory.is_readonly = memory.view.readonly


cdef int acquire_view(_ForeignMemory memory, object source) except -1:
    """Acquire the view of an exporter, with its format if it has one."""
    try:
        PyObject_GetBuffer(source, &memory.view, PyBUF_STRIDES | PyBUF_FORMAT)
        memory.has_view = True
        return 0
    except (BufferError, TypeError, ValueError):
        # NumPy has no format for the types of ml_dtypes and for datetimes: their dtype is checked.
        PyObject_GetBuffer(source, &memory.view, PyBUF_STRIDES)
        memory.has_view = True
        memory.view.format = NULL  # not requested
        if <void*>memory.view.obj is NULL or not hasattr(memory.view.obj, "dtype"):
            raise
        reject_references(memory.view.obj, "copy", False)


cdef bint format_has_references(const char* text) noexcept:
    """Return whether a format of the buffer protocol has the type `O`, outside field names."""
    cdef bint is_name = False
    if text is NULL:
        return False
    while text[0]:
        if text[0] == b":":
            is_name = not is_name
        elif text[0] == b"O" and not is_name:
            return True
        text += 1
    return False


cdef int raise_references(object source, str call="copy") except -1:
    raise TypeError(f"cannot {call} {qualified_name(source)}: its elements are references to "
                    "Python objects, which bytes would corrupt; convert it to a numeric dtype")


cdef int reject_references(object owner, str call, bint is_field) except -1:
    """Reject an array of references to Python objects, and a view of such an array."""
    if dtype_has_references(owner, False):
        raise_references(owner, call)
    return reject_base_references(owner, call, is_field)


cdef bint dtype_has_references(object array, bint is_field) except -1:
    """Return whether elements contain references. False for records if `is_field` is set."""
    dtype = getattr(array, "dtype", None)
    if dtype is None or not getattr(dtype, "hasobject", False):
        return False
    return not is_field or getattr(dtype, "names", None) is None


cdef int reject_base_references(object owner, str call, bint is_field) except -1:
    """Reject an array whose base is an array of references.

    `is_field`: the array may be a field of records that have references in other fields.
    """
    cdef int _depth
    base = owner
    for _depth in range(64):  # NumPy shortens the chains of its views
        if type(base) is memoryview:
            base = (<object>base).obj
        else:
            base = getattr(base, "base", None)
        if base is None:
            return 0
        if type(base) is not memoryview:
            has_references = dtype_has_references(base, is_field)
        else:
            text = (<str>base.format).encode()
            has_references = format_has_references(text) and not (is_field and b"{" in text)
        if has_references:
            raise_references(owner, call)


cdef bint is_dense(tuple shape, tuple strides):
    """Return whether the elements are contiguous in C order or Fortran order."""
    axes = tuple(zip(shape, strides))
    for inner_first in (axes[::-1], axes):
        expected, fits = 1, True
        for extent, stride in inner_first:
            if extent != 1:
                fits = fits and stride == expected
                expected *= extent
        if fits or expected == 0:
            return True
    return False


cdef int import_dlpack(_ForeignMemory memory, object source, Stream stream,
                       bint is_written) except -1:
    cdef managed_tensor* plain = NULL
    cdef versioned_tensor* versioned = NULL
    cdef const dlpack_tensor* tensor
    cdef uint64_t flags = 0
    # Keeps the stream valid if the exporter closes it.
    cdef borrowed_stream ordered = stream.native.borrow_open(stream)
    cdef dlpack_device device = tensor_device(source)
    # Host arrays take no stream; a device library makes this stream wait for its work.
    # Some libraries reject a stream for page-locked arrays.
    is_ordered = device.type == device_type.cuda or device.type == device_type.cuda_managed
    consumer = <uintptr_t>ordered.raw() or 1 if is_ordered else None
    capsule = tensor_capsule(source, consumer)
    memory.exporter = capsule
    find_tensor(capsule, source, &plain, &versioned)
    tensor = checked_tensor(plain, versioned, source)
    if versioned is not NULL:
        flags = versioned.flags
    memory.is_readonly = (flags & read_only) != 0
    memory.is_copy = (flags & is_copied) != 0
    if tensor.ndim > 0 and tensor.strides is not NULL:
        if not is_dense(tuple([tensor.shape[i] for i in range(tensor.ndim)]),
                        tuple([tensor.strides[i] for i in range(tensor.ndim)])):
            reject_strided(source, is_written)
    size = tensor_size(tensor, (flags & is_subbyte_padded) != 0, source)
    memory.fields = buffer_fields(<uintptr_t>tensor.data + tensor.byte_offset, size, True)


cdef int import_cuda_array(_ForeignMemory memory, object source, Stream stream,
                           bint is_written) except -1:
    cdef data_type element
    cdef bint is_readonly = False
    cdef uintptr_t address
    name = "__cuda_array_interface__"
    interface = checked_interface(source.__cuda_array_interface__, source, name,
                                  "CUDA Array Interface")
    typestr = interface_entry(interface, "typestr", name)
    size = itemsize = read_typestr(typestr, &element)
    if "O" in typestr:
        raise_references(source)
    shape = interface_numbers(interface_shape(interface, name), "each entry of the shape")
    strides = interface_strides(interface, name)
    if strides is not None:
        strides = interface_numbers(strides, "each entry of the strides")
        if len(strides) != len(shape):
            raise ValueError(f"the strides of {name} must have {len(shape)} entries, got "
                             f"{len(strides)}")
        if not is_dense(shape, tuple([stride // itemsize if stride % itemsize == 0 else None
                                      for stride in strides])):
            reject_strided(source, is_written)
    for extent in shape:
        if extent < 0:
            raise ValueError(f"Extents must be non-negative: the shape of {name} is {shape}")
        size *= extent
    address = interface_address(interface, name, &is_readonly)
    if address + size > 2**64:
        raise OverflowError(f"the array of {name} ends beyond 64 bits: {address:#x} + {size} bytes")
    if size:
        interface_memory(address)
    memory.is_readonly = is_readonly
    memory.fields = buffer_fields(address, size, True)
    producer = interface_stream(interface)
    if producer is not None:
        order_streams(stream, Stream.from_handle(producer))
