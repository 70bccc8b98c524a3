# SPDX-License-Identifier: Apache-2.0
# Copies and fills of buffers and of arrays of other libraries.

from cpython.long cimport PyLong_AsLongAndOverflow
from cpython.number cimport PyNumber_Index
from libc.string cimport memcpy

cdef class _CopyAttributes:

    cdef int copy(self, CUdeviceptr target, CUdeviceptr source, size_t size,
                  Stream stream) except -1:
        raise NotImplementedError("_CopyAttributes.copy")


cdef inline _CopyAttributes copy_attributes(object options, Stream stream, str call):
    """Convert the options of a copy; None for none. Runs user code."""
    if options is None:
        return None
    return import_module("cuda.core._located_memory")._convert_copy_options(options, stream, call)


cdef int copy_bytes(const buffer_fields* target, const buffer_fields* source, Stream stream,
                    _CopyAttributes attributes) except -1:
    """Check and copy. Both ranges are read here, after the conversions of all arguments."""
    check_open(target.is_open and source.is_open, "Buffer")
    if target.size != source.size:
        raise ValueError(f"buffer sizes mismatch between src and dst (sizes are: "
                         f"src={source.size}, dst={target.size})")
    if source.size == 0:
        return 0
    cdef CUdeviceptr target_address = target.pointer, source_address = source.pointer
    cdef size_t size = source.size
    if attributes is not None:
        try:
            attributes.copy(target_address, source_address, size, stream)
        except CUDAError as error:
            note_access_of_devices(error, target_address, source_address, stream)
            raise
        return 0
    cdef borrowed_stream order = stream.native.borrow_open(stream)
    cdef CUresult code = copy_in_order(order, target_address, source_address, size)
    if code != CUDA_SUCCESS:
        raise_copy_error(code, b"cuMemcpyAsync", target_address, source_address, stream)


cdef int copy_memory(const buffer_fields* target, const buffer_fields* source,
                     Stream stream) except -1:
    return copy_bytes(target, source, stream, None)


cdef int raise_copy_error(CUresult code, const char* function, CUdeviceptr first,
                          CUdeviceptr second, Stream stream) except -1:
    """Raise the driver's error, with a note about memory that the device cannot access."""
    try:
        raise_driver_error(code, function)
    except CUDAError as error:
        note_access_of_devices(error, first, second, stream)
        raise


cdef void note_access_of_devices(object error, CUdeviceptr first, CUdeviceptr second,
                                 Stream stream) except *:
    """Add a note to `error`; failures of the queries must not replace it."""
    cdef pointer_facts facts
    if error.code != CUDA_ERROR_INVALID_VALUE:
        return
    try:
        own = stream.device.device_id
        for pointer in {first, second}:
            facts = classify_pointer(pointer)
            if facts.is_device_accessible and not facts.is_host_accessible and facts.device != own:
                error.add_note(
                    f"the memory at {pointer:#x} belongs to device {facts.device}, the stream to "
                    f"device {own}: if a pool owns it, grant device {own} access with "
                    f"peer_accessible_by.add({own}) of its resource")
    except CUDAError:
        return


cdef int copy_buffer(Buffer target, Buffer source, Stream stream,
                     _CopyAttributes attributes) except -1:
    copy_bytes(&target.fields, &source.fields, stream, attributes)
    return retain_captured_copy(stream, target, source)


cdef int copy_to_object(object value, Buffer source, Stream stream,
                        _CopyAttributes attributes) except -1:
    cdef _ForeignMemory memory = foreign_memory(value, True, stream)
    copy_bytes(&memory.fields, &source.fields, stream, attributes)
    if captures_under_way():
        retain_captured_operands(stream, (source,))
    return retain_for_copy(memory, stream)


cdef int copy_from_object(Buffer target, object source, Stream stream,
                          _CopyAttributes attributes) except -1:
    cdef _ForeignMemory memory = foreign_memory(source, False, stream)
    cdef buffer_fields start = target.fields
    start.size = min(start.size, memory.fields.size)
    copy_bytes(&start, &memory.fields, stream, attributes)
    if captures_under_way():
        retain_captured_operands(stream, (target,))
    return retain_for_copy(memory, stream)


cdef int retain_for_copy(_ForeignMemory memory, Stream stream) except -1:
    """Retain an array for a copy that was submitted or captured."""
    cdef borrowed_stream order = stream.native.borrow_open(stream)
    # Each launch of the graph reads or writes the array, pageable memory too.
    if not retain_in_capture(order, memory):
        retain_until_copied(memory, stream)


cdef object memory_for_copy(object value, bint is_written, Stream stream):
    cdef _ForeignMemory memory
    if isinstance(value, Buffer):
        check_open((<Buffer>value).fields.is_open, "Buffer")
        return value
    if not PyObject_CheckBuffer(value):
        raise TypeError(f"a Buffer or a bytes-like object is required, not "
                        f"{qualified_name(value)!r}")
    memory = foreign_memory(value, is_written, stream)
    if memory.has_view and not PyBuffer_IsContiguous(&memory.view, b"C"):
        reject_strided(value, is_written)
    return memory


cdef buffer_fields range_for_copy(object memory) except *:
    if isinstance(memory, Buffer):
        return open_memory_of(<Buffer>memory)
    return (<_ForeignMemory?>memory).fields


cdef int retain_after_copy(object memory, Stream stream) except -1:
    if isinstance(memory, Buffer):
        return retain_captured_operands(stream, (memory,)) if captures_under_way() else 0
    return retain_for_copy(memory, stream)


cdef int retain_until_copied(_ForeignMemory memory, Stream stream) except -1:
    """Retain an array that the device reads or writes after the call has returned.

    Only device-accessible memory needs this: the driver copies pageable memory before it returns.
    """
    release_copied_arrays()
    if memory.fields.size and classify_pointer(memory.fields.pointer).is_device_accessible:
        arrays_in_use.append((stream.record(), memory))


cdef int check_divisible(size_t size, size_t width) except -1:
    if size % width:
        raise ValueError(f"buffer size ({size}) must be divisible by {width}")


cdef void fill_bytes(const buffer_fields* memory, object value, Stream stream) except *:
    cdef unsigned pattern = 0
    cdef size_t width = 1
    if isinstance(value, int) or (not PyObject_CheckBuffer(value) and PyIndex_Check(value)):
        pattern = byte_of(value)
    else:
        width = pattern_of(value, &pattern)
    check_open(memory.is_open, "Buffer")  # converting the value may have closed it
    check_divisible(memory.size, width)
    if memory.size == 0:
        return
    cdef CUdeviceptr pointer = memory.pointer
    cdef size_t count = memory.size // width
    cdef borrowed_stream order = stream.native.borrow_open(stream)
    cdef CUresult code
    cdef const char* function
    if width == 1:
        function = b"cuMemsetD8Async"
        code = submit_call(driver.cuMemsetD8Async, pointer, pattern, count, order.raw())
    elif width == 2:
        function = b"cuMemsetD16Async"
        code = submit_call(driver.cuMemsetD16Async, pointer, pattern, count, order.raw())
    else:
        function = b"cuMemsetD32Async"
        code = submit_call(driver.cuMemsetD32Async, pointer, pattern, count, order.raw())
    if code != CUDA_SUCCESS:
        raise_copy_error(code, function, pointer, pointer, stream)


cdef unsigned byte_of(object value) except? 256:
    cdef int overflow
    cdef object exact = value if type(value) is int else PyNumber_Index(value)
    cdef long number = PyLong_AsLongAndOverflow(exact, &overflow)
    if overflow or not 0 <= number <= 255:
        text = "an int of more than 64 bits" if overflow else exact  # str() may raise
        raise OverflowError(f"value, the value of each byte, must be an int from 0 to 255, got "
                            f"{text}; pass 1, 2 or 4 bytes for another pattern, such as "
                            "np.uint32(1000)")
    return number


cdef size_t pattern_of(object value, unsigned* pattern) except 0:
    """Return the width in bytes of a bytes-like pattern, and the pattern in memory order."""
    if isinstance(value, str) or not PyObject_CheckBuffer(value):
        raise TypeError(f"value must be an int or 1, 2 or 4 bytes, got {qualified_name(value)}; "
                        "a NumPy scalar such as np.float32(1) passes its bytes")
    cdef bytes content = <bytes>value if type(value) is bytes else bytes(memoryview(value))
    cdef Py_ssize_t width = len(content)
    cdef const unsigned char* byte = content
    if width != 1 and width != 2 and width != 4:
        raise ValueError(f"value must be 1, 2, or 4 bytes, got {width}")
    pattern[0] = 0
    memcpy(pattern, byte, width)  # every machine with CUDA stores the low byte first
    return width
