# SPDX-License-Identifier: Apache-2.0
# Copies between views of any strides, on host and devices.

from cuda.core._core cimport reject_references


cdef extern from "views/copies/copy_plan.hpp" namespace "halfwarp::views":
    cppclass plan_numbers "halfwarp::views::copy_plan::numbers":
        int64_t& operator[](size_t) noexcept nogil
        bint operator==(const plan_numbers&) noexcept
    cppclass copy_plan:
        int ndim
        int itemsize
        int64_t size
        plan_numbers extents
        plan_numbers to
        plan_numbers from_ "from"
        bint is_block() noexcept
        plan_numbers packed() noexcept nogil
    copy_plan plan_copy(const strided_layout& to, const strided_layout& source) except +
    void copy_elements(const copy_plan&, void* to, const plan_numbers&, const void* source,
                       const plan_numbers&) noexcept nogil


cdef int reject_object_dtype(object dtype, str call) except -1:
    if dtype.hasobject:
        raise TypeError(f"{call}: the elements of {dtype} are references to Python objects, which "
                        "bytes would corrupt; use a numeric dtype")


cdef int reject_object_elements(StridedMemoryView view) except -1:
    """Reject elements that are references to Python objects, or records with such fields."""
    cdef bint is_field = False
    if view.type_object is not None:
        reject_object_dtype(view.type_object, "cannot copy a view")
    if view.type_text is not None and "O" in <str>view.type_text:
        reject_object_dtype(numpy_module().dtype("O"), "cannot copy a view")
    if view.fields.is_device_accessible:
        return 0
    # The source may have another type than the view. A field of records has gaps, which remain.
    if view.element.bits:
        is_field = not is_contiguous_any(view.native) or volume(view.native) <= 1
    return reject_references(view.source, "copy a view of", is_field)


cdef int check_copy(StridedMemoryView target, StridedMemoryView source) except -1:
    check_memory(target)
    check_memory(source)
    if target.flags & VIEW_IS_READONLY:
        raise BufferError("cannot copy into a read-only view")
    if target.flags & VIEW_IS_COPY:
        raise BufferError("cannot copy into a view of a copy that its producer made: the elements "
                          "would be lost")
    if target.shape != source.shape:
        raise ValueError(f"views of different shapes cannot be copied: {source.shape} to "
                         f"{target.shape}; reshape or broadcast one of them")
    if target.native.itemsize() != source.native.itemsize():
        raise ValueError(f"views of elements of different sizes cannot be copied: "
                         f"{source.native.itemsize()} to {target.native.itemsize()} bytes")
    reject_object_elements(target)
    reject_object_elements(source)
    if not is_unique(target.native):
        raise ValueError("cannot copy into a view whose elements may share memory")


cdef void copy_views(StridedMemoryView target, object source_arg, object stream, object allocator,
                     object blocking) except *:
    if not isinstance(source_arg, StridedMemoryView):
        raise TypeError("a view is copied to or from a StridedMemoryView, got "
                        f"{qualified_name(source_arg)}; use StridedMemoryView.from_any_interface()")
    cdef StridedMemoryView source = <StridedMemoryView>source_arg
    cdef Stream order = None if stream is None else accept_stream(stream)
    check_copy(target, source)
    cdef copy_plan plan = plan_copy(target.native, source.native)
    if is_host_only(target) and is_host_only(source):
        if order is not None:
            order.sync()
            check_copy(target, source)
        copy_on_host(plan, host_address(target), plan.to, host_address(source), plan.from_)
        return
    if order is None:
        raise TypeError("stream is required to copy from or to device memory")
    if plan.size == 0:
        return
    if plan.is_block():
        copy_block(memory_of_view(target, plan), memory_of_view(source, plan), order)
        retain_captured_copy(order, target, source)
    elif is_host_only(target):
        copy_to_host(plan, target, source, order, allocator)
    elif is_host_only(source):
        copy_from_host(plan, target, source, order, allocator)
    else:
        copy_on_device(plan, target, plan.to, source, plan.from_, order)
    if blocking is None:
        blocking = ((target.device_kind == device_type.cuda)
                    != (source.device_kind == device_type.cuda))
    if blocking:
        order.sync()


cdef bint is_host_only(StridedMemoryView view) except -1:
    """Return whether no kernel can access the memory. Registered host memory is accessible."""
    return not view.fields.is_device_accessible


cdef int copy_on_host(const copy_plan& plan, uintptr_t target, const plan_numbers& target_strides,
                      uintptr_t source, const plan_numbers& source_strides) except -1:
    with nogil:
        copy_elements(plan, <void*>target, target_strides, <const void*>source, source_strides)


# An address is read by a C call alone, after all Python code: the functions below get views and
# Buffers, and `launch` reads the addresses of its arguments itself.

cdef uintptr_t host_address(StridedMemoryView view) except? 0:
    check_memory(view)
    return view.fields.pointer


cdef buffer_fields memory_of_view(StridedMemoryView view, const copy_plan& plan) except *:
    """Return the bytes of a view whose plan is one block."""
    check_memory(view)
    return buffer_fields(view.fields.pointer, plan.size, True)


cdef buffer_fields memory_of_staging(Buffer staging, const copy_plan& plan) except *:
    """Return the first bytes of staging memory."""
    cdef buffer_fields memory = open_memory_of(staging)
    memory.size = plan.size
    return memory


cdef buffer_fields memory_of_block(bytearray block) noexcept:
    return buffer_fields(<uintptr_t><char*>block, len(block), True)


cdef int copy_block(buffer_fields target, buffer_fields source, Stream order) except -1:
    return copy_memory(&target, &source, order)


cdef uint64_t address_of(object operand) except *:
    """Return an address for its alignment: of a view, or of staging memory."""
    if isinstance(operand, StridedMemoryView):
        return (<StridedMemoryView>operand).fields.pointer
    return (<Buffer?>operand).fields.pointer


cdef int copy_on_device(const copy_plan& plan, object target, plan_numbers target_strides,
                        object source, plan_numbers source_strides, Stream order) except -1:
    """Copy with a kernel, in the largest unit that addresses and strides allow.

    Each of `target` and `source` is a view, or the Buffer of staging memory.
    """
    cdef int axis, size = 8
    cdef uint64_t divisors = (address_of(target) | address_of(source)
                              | <uint64_t>plan.itemsize)
    for axis in range(plan.ndim):
        divisors |= <uint64_t>target_strides[axis] | <uint64_t>source_strides[axis]
    while divisors % <uint64_t>size:
        size //= 2
    axes = [((<copy_plan*>&plan).extents[i], target_strides[i], source_strides[i])
            for i in range(plan.ndim)]
    if plan.itemsize != size:
        axes.append((plan.itemsize // size, size, size))
    count = plan.size // size
    arguments = [target, source, count]
    for extent, target_stride, source_stride in axes:
        arguments += [extent, target_stride % 2**64, source_stride % 2**64]
    core = import_module("cuda.core")
    kernel = import_module("cuda.core.views.copy_kernel").kernel(len(axes), size)
    config = core.LaunchConfig(grid=min((count + 255) // 256, 65535), block=256)
    core.launch(order, config, kernel, *arguments)


cdef Buffer allocate_staging(Stream order, object allocator, int64_t size):
    """Allocate stream-ordered staging memory for packed elements."""
    cdef Device device = order.device
    if device is None:
        raise TypeError(f"Stream.device of {qualified_name(order)} must return a Device, got None")
    if allocator is None:
        allocator = device.memory_resource
    cdef Buffer staging = allocate_from(allocator, size, order, device.ordinal)
    if not staging.is_device_accessible:
        raise ValueError(f"{qualified_name(allocator)}.allocate() must return device-accessible "
                         "memory for a copy of strided views")
    return staging


cdef int reject_capture(Stream order) except -1:
    """Reject a capture, whose launches would copy a packed block and not the elements."""
    if is_capturing_stream(order):
        raise TypeError("a capturing stream does not support copies from or to strided host "
                        "memory; copy a contiguous view, or memory that the device can access")


cdef int copy_to_host(const copy_plan& plan, StridedMemoryView target, StridedMemoryView source,
                      Stream order, object allocator) except -1:
    """Copy from a device to host-only memory: pack, copy, unpack."""
    reject_capture(order)
    cdef plan_numbers packed = (<copy_plan*>&plan).packed()
    cdef bytearray block = bytearray(plan.size)
    if packed == plan.from_:
        copy_block(memory_of_block(block), memory_of_view(source, plan), order)
    else:
        with allocate_staging(order, allocator, plan.size) as staging:
            copy_on_device(plan, staging, packed, source, plan.from_, order)
            copy_block(memory_of_block(block), memory_of_staging(staging, plan), order)
    order.sync()
    check_copy(target, source)
    return copy_on_host(plan, host_address(target), plan.to, memory_of_block(block).pointer, packed)


cdef int copy_from_host(const copy_plan& plan, StridedMemoryView target, StridedMemoryView source,
                        Stream order, object allocator) except -1:
    """Copy from host-only memory to a device: pack, copy, unpack."""
    reject_capture(order)
    cdef plan_numbers packed = (<copy_plan*>&plan).packed()
    cdef bytearray block = bytearray(plan.size)
    copy_on_host(plan, memory_of_block(block).pointer, packed, host_address(source), plan.from_)
    if packed == plan.to:
        return copy_block(memory_of_view(target, plan), memory_of_block(block), order)
    with allocate_staging(order, allocator, plan.size) as staging:
        copy_block(memory_of_staging(staging, plan), memory_of_block(block), order)
        copy_on_device(plan, target, plan.to, staging, packed, order)
