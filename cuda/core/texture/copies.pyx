# SPDX-License-Identifier: Apache-2.0
# Copies between arrays and memory in densely packed rows.


cdef int require_size(OpaqueArray array, object size, bint is_buffer) except -1:
    extent = array.size_bytes
    if size >= extent:
        return 0
    if is_buffer:
        raise ValueError(f"Buffer size ({size} bytes) is smaller than the array extent ({extent} "
                         "bytes)")
    raise ValueError(f"Host buffer has {size} bytes, smaller than the array extent ({extent} "
                     "bytes)")


cdef int copy_array(OpaqueArray array, object other, Stream stream, bint is_filled) except -1:
    cdef bint is_buffer = isinstance(other, Buffer)
    array.native.check_open(array)
    owner = memory_for_copy(other, not is_filled, stream)
    require_size(array, range_for_copy(owner).size, is_buffer)
    # Converting the argument may have run user code that closed the array or the Buffer.
    cdef borrowed_array native = array.native.borrow_open(array)
    cdef buffer_fields memory = range_for_copy(owner)
    cdef CUDA_MEMCPY3D copy
    memset(&copy, 0, sizeof(copy))
    cdef size_t row = array.extents[0] * array.element_bytes
    copy.WidthInBytes = row
    copy.Height = array.extents[1] if len(array.extents) > 1 else 1
    copy.Depth = array.extents[2] if len(array.extents) > 2 else 1
    if is_filled:
        copy.srcMemoryType, copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_ARRAY
        copy.srcDevice, copy.dstArray = memory.pointer, native.raw()
        copy.srcPitch, copy.srcHeight = row, copy.Height
    else:
        copy.srcMemoryType, copy.dstMemoryType = CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_UNIFIED
        copy.srcArray, copy.dstDevice = native.raw(), memory.pointer
        copy.dstPitch, copy.dstHeight = row, copy.Height
    cdef borrowed_stream order = stream.native.borrow_open(stream)
    cdef CUresult code
    with nogil:
        code = copy_rows_in_order(order, copy)
    check(code, b"cuMemcpy3DAsync")
    if captures_under_way():
        retain_in_capture(order, share_array(array))
    return retain_after_copy(owner, stream)


cdef object share_array(OpaqueArray array):
    """Return an object that retains the CUDA array after `array` is closed."""
    cdef array_handle native = array.native.share(array)
    if not native.is_open():
        return array
    return wrap_array(native, array.extents, array.kind, array.channels, array.has_surfaces)
