# SPDX-License-Identifier: Apache-2.0
# Copies and fills: between buffers, and between a buffer and the arrays of other libraries.

from collections import deque

from cpython.long cimport PyLong_AsLongAndOverflow
from cpython.number cimport PyNumber_Index
from libc.string cimport memcpy

# Page-locked arrays whose copy may still be running: (event, array), oldest first.
cdef object arrays_in_use = deque()


cdef object attributed_copies():
    return import_module("cuda.core._located_memory")


cdef int check_copy_options(object options, Stream stream, str call) except -1:
    attributed_copies()._check_copy_options(options, stream, call)
    return 0


cdef int copy_bytes(const buffer_fields* to, const buffer_fields* source, Stream stream,
                    object options) except -1:
    # What made an argument of the call into memory may have closed the other one.
    check_open(to.is_open and source.is_open, "Buffer")
    if to.size != source.size:
        raise ValueError(f"buffer sizes mismatch between src and dst (sizes are: "
                         f"src={source.size}, dst={to.size})")
    if source.size == 0:
        return 0
    cdef CUdeviceptr destination = to.pointer, origin = source.pointer
    cdef size_t size = source.size
    cdef CUresult code
    if options is not None:
        try:
            attributed_copies()._copy(destination, origin, size, stream, options)
        except CUDAError as error:
            note_other_devices(error, destination, origin, stream)
            raise
        return 0
    cdef borrowed_stream order = stream.native.borrow_open(stream)
    with nogil:
        code = copy_in_order(order, destination, origin, size)
    if code != CUDA_SUCCESS:
        refuse_use(code, b"cuMemcpyAsync", destination, origin, stream)
    return 0


cdef int refuse_use(CUresult code, const char* function, CUdeviceptr first, CUdeviceptr second,
                    Stream stream) except -1:
    """The driver's error, with a word about memory that the device of the stream may not use."""
    try:
        raise_driver_error(code, function)
    except CUDAError as error:
        note_other_devices(error, first, second, stream)
        raise


cdef int note_other_devices(object error, CUdeviceptr first, CUdeviceptr second,
                            Stream stream) except -1:
    """Nothing that this asks may take the place of the error."""
    cdef pointer_facts facts
    if error.code != CUDA_ERROR_INVALID_VALUE:
        return 0
    try:
        own = stream.device.device_id
        for pointer in {first, second}:
            facts = classify_pointer(pointer)
            if facts.is_device_accessible and not facts.is_host_accessible and facts.device != own:
                error.add_note(
                    f"the memory at {pointer:#x} is of device {facts.device}, the stream of "
                    f"device {own}: if it is of a pool, let device {own} use it with "
                    f"peer_accessible_by.add({own}) of its resource")
    except CUDAError:
        return 0
    return 0


cdef int copy_buffer(Buffer to, Buffer source, Stream stream, object options) except -1:
    copy_bytes(&to.fields, &source.fields, stream, options)
    return keep_operands(stream, (to, source)) if captures_under_way() else 0


cdef int copy_to_object(object to, Buffer source, Stream stream, object options) except -1:
    cdef _ForeignMemory memory = foreign_memory(to, True, stream)
    copy_bytes(&memory.fields, &source.fields, stream, options)
    if captures_under_way():
        keep_operands(stream, (source,))
    return keep_for_copy(memory, stream)


cdef int copy_from_object(Buffer to, object source, Stream stream, object options) except -1:
    cdef _ForeignMemory memory = foreign_memory(source, False, stream)
    copy_bytes(&to.fields, &memory.fields, stream, options)
    if captures_under_way():
        keep_operands(stream, (to,))
    return keep_for_copy(memory, stream)


cdef int keep_for_copy(_ForeignMemory memory, Stream stream) except -1:
    """Hold an array for a copy that was submitted, or recorded into a graph."""
    cdef borrowed_stream order = stream.native.borrow_open(stream)
    # Each launch of the graph reads or writes the array, pageable memory too.
    if keep_in_capture(order, memory):
        return 0
    return keep_until_copied(memory, stream)


cdef object memory_for_copy(object given, bint is_written, Stream stream, buffer_fields* into):
    cdef Buffer buffer
    cdef _ForeignMemory memory
    if isinstance(given, Buffer):
        buffer = <Buffer>given
        check_open(buffer.fields.is_open, "Buffer")
        into[0] = buffer.fields
        return buffer
    if not PyObject_CheckBuffer(given):
        raise TypeError(f"a Buffer or a bytes-like object is required, not "
                        f"{qualified_name(given)!r}")
    memory = foreign_memory(given, is_written, stream)
    if memory.has_view and not PyBuffer_IsContiguous(&memory.view, b"C"):
        refuse_strided(given)
    into[0] = memory.fields
    return memory


cdef int keep_after_copy(object memory, Stream stream) except -1:
    if isinstance(memory, Buffer):
        return keep_operands(stream, (memory,)) if captures_under_way() else 0
    return keep_for_copy(memory, stream)


cdef int keep_until_copied(_ForeignMemory memory, Stream stream) except -1:
    """Hold an array that the device reads or writes after the call has returned.

    The driver copies from and to pageable memory before it returns, so only memory that the device
    can reach needs that.
    """
    release_finished_arrays()
    if memory.fields.size and classify_pointer(memory.fields.pointer).is_device_accessible:
        arrays_in_use.append((stream.record(), memory))
    return 0


cdef int hold_until_reached(Event reached, object kept) except -1:
    release_finished_arrays()
    if not is_reached(reached):
        arrays_in_use.append((reached, kept))
    return 0


cdef bint is_reached(Event event) except -1:
    cdef borrowed_event native = event.native.borrow_open(event)
    with nogil:
        return has_completed(native)


cdef inline int tidy_after_waiting() except -1:
    """What a call that waited for work may have made possible."""
    if arrays_in_use:
        release_finished_arrays()
    free_deferred_if_any()
    return 0


cdef int release_finished_arrays() except -1:
    """Let go of the arrays whose copies are done, oldest first."""
    while arrays_in_use:
        try:
            entry = arrays_in_use.popleft()
        except IndexError:  # another thread took the last one
            return 0
        if not is_reached(<Event>entry[0]):
            arrays_in_use.appendleft(entry)
            return 0
    return 0


cdef int check_divisible(size_t size, size_t width) except -1:
    if size % width:
        raise ValueError(f"buffer size ({size}) must be divisible by {width}")
    return 0


cdef int fill_bytes(const buffer_fields* memory, object value, Stream stream) except -1:
    cdef unsigned pattern = 0
    cdef size_t width = 1
    if isinstance(value, int) or (not PyObject_CheckBuffer(value) and PyIndex_Check(value)):
        pattern = byte_of(value)
    else:
        width = pattern_of(value, &pattern)
    check_open(memory.is_open, "Buffer")  # converting the value may have closed it
    check_divisible(memory.size, width)
    if memory.size == 0:
        return 0
    cdef CUdeviceptr pointer = memory.pointer
    cdef size_t count = memory.size // width
    cdef borrowed_stream order = stream.native.borrow_open(stream)
    cdef CUresult code
    cdef const char* function
    with nogil:
        if width == 1:
            function = b"cuMemsetD8Async"
            code = try_call(driver.cuMemsetD8Async, pointer, pattern, count, order.raw())
        elif width == 2:
            function = b"cuMemsetD16Async"
            code = try_call(driver.cuMemsetD16Async, pointer, pattern, count, order.raw())
        else:
            function = b"cuMemsetD32Async"
            code = try_call(driver.cuMemsetD32Async, pointer, pattern, count, order.raw())
    if code != CUDA_SUCCESS:
        refuse_use(code, function, pointer, pointer, stream)
    return 0


cdef unsigned byte_of(object value) except? 256:
    cdef int overflow = 0
    cdef object exact = value if type(value) is int else PyNumber_Index(value)
    cdef long number = PyLong_AsLongAndOverflow(exact, &overflow)
    if overflow or not 0 <= number <= 255:
        given = "an int of more than 64 bits" if overflow else exact  # Python may refuse its digits
        raise OverflowError(f"Buffer.fill() sets every byte to an int from 0 to 255, got {given}; "
                            "pass 1, 2 or 4 bytes for another pattern")
    return number


cdef size_t pattern_of(object value, unsigned* pattern) except 0:
    """The width in bytes of a bytes-like pattern, and the pattern as it lies in memory."""
    if isinstance(value, str) or not PyObject_CheckBuffer(value):
        raise TypeError(f"value must be an int or 1, 2 or 4 bytes, got {qualified_name(value)}")
    cdef bytes content = <bytes>value if type(value) is bytes else bytes(memoryview(value))
    cdef Py_ssize_t width = len(content)
    cdef const unsigned char* byte = content
    if width != 1 and width != 2 and width != 4:
        raise ValueError(f"value must be 1, 2, or 4 bytes, got {width}")
    pattern[0] = 0
    memcpy(pattern, byte, width)  # every machine with CUDA stores the low byte first
    return width
