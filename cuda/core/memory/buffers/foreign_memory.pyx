# SPDX-License-Identifier: Apache-2.0
# Memory of objects of other libraries: buffer protocol, DLPack, CUDA Array Interface.

from cpython.buffer cimport PyBUF_STRIDES, PyBuffer_Release, PyObject_GetBuffer
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid


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
        read_buffer_protocol(memory, source)
    elif hasattr(source, "__dlpack__") and hasattr(source, "__dlpack_device__"):
        import_dlpack(memory, source, stream)
    elif is_on_device:
        import_cuda_array(memory, source, stream)
    else:
        raise TypeError(f"expected a Buffer, or an array with the buffer protocol, DLPack or "
                        f"__cuda_array_interface__, got {qualified_name(source)}")
    if is_written and memory.is_copy:
        raise BufferError(f"cannot copy into {qualified_name(source)}: its DLPack export is a "
                          "copy, so the bytes would be lost")
    if is_written and memory.is_readonly:
        raise BufferError(f"cannot copy into {qualified_name(source)}: its memory is read-only")
    return memory


cdef int reject_strided(object source) except -1:
    raise ValueError(f"cannot copy {qualified_name(source)}: its memory is not contiguous; make a "
                     "contiguous copy first")


cdef int read_buffer_protocol(_ForeignMemory memory, object source) except -1:
    # Without the format, which NumPy cannot return for the types of ml_dtypes.
    PyObject_GetBuffer(source, &memory.view, PyBUF_STRIDES)
    memory.has_view = True
    if not PyBuffer_IsContiguous(&memory.view, b"A"):
        reject_strided(source)
    memory.fields = buffer_fields(<uintptr_t>memory.view.buf, memory.view.len, True)
    memory.is_readonly = memory.view.readonly
    return 0


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


cdef int import_dlpack(_ForeignMemory memory, object source, Stream stream) except -1:
    cdef const dlpack_tensor* tensor
    # Keeps the stream valid if the exporter closes it.
    cdef borrowed_stream ordered = stream.native.borrow_open(stream)
    kind = source.__dlpack_device__()[0]
    # Host arrays take no stream; a device library makes this stream wait for its work.
    order = {"stream": <uintptr_t>ordered.raw() or 1} if kind == 2 else {}
    try:
        capsule = source.__dlpack__(max_version=(1, 2), **order)
    except TypeError:  # an exporter without versioned capsules
        capsule = source.__dlpack__(**order)
    memory.exporter = capsule
    if PyCapsule_IsValid(capsule, versioned_capsule_name):
        versioned = <versioned_tensor*>PyCapsule_GetPointer(capsule, versioned_capsule_name)
        tensor = &versioned.content
        memory.is_readonly = versioned.flags & read_only
        memory.is_copy = versioned.flags & is_copied
    else:
        tensor = &(<managed_tensor*>PyCapsule_GetPointer(capsule, capsule_name)).content
    shape = tuple([tensor.shape[i] for i in range(tensor.ndim)])
    if tensor.strides is not NULL:
        if not is_dense(shape, tuple([tensor.strides[i] for i in range(tensor.ndim)])):
            reject_strided(source)
    count = 1
    for extent in shape:
        count *= extent
    bits = count * tensor.dtype.bits * tensor.dtype.lanes
    memory.fields = buffer_fields(<uintptr_t>tensor.data + tensor.byte_offset, (bits + 7) // 8,
                                  True)
    return 0


cdef int import_cuda_array(_ForeignMemory memory, object source, Stream stream) except -1:
    interface = source.__cuda_array_interface__
    itemsize = int(interface["typestr"][2:])
    shape = tuple(interface["shape"])
    strides = interface.get("strides")
    if strides is not None:
        if not is_dense(shape, tuple([s // itemsize for s in strides])):
            reject_strided(source)
    size = itemsize
    for extent in shape:
        size *= extent
    address, memory.is_readonly = interface["data"]
    memory.fields = buffer_fields(address or 0, size, True)
    producer = interface.get("stream")
    if producer is not None:
        order_streams(stream, Stream.from_handle(producer))
    return 0
