# SPDX-License-Identifier: Apache-2.0
# Copies between views of any strides, on the host, on a device, and between them.


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


cdef int check_copy(StridedMemoryView to, StridedMemoryView source) except -1:
    check_memory(to)
    check_memory(source)
    if to.flags & VIEW_IS_READONLY:
        raise BufferError("cannot copy into a read-only view")
    if to.flags & VIEW_IS_COPY:
        raise BufferError("cannot copy into a view of a copy that its producer made: the elements "
                          "would be lost")
    if to.shape != source.shape:
        raise ValueError(f"views of different shapes cannot be copied: {source.shape} to "
                         f"{to.shape}; reshape or broadcast one of them")
    if to.native.itemsize() != source.native.itemsize():
        raise ValueError(f"views of elements of different sizes cannot be copied: "
                         f"{source.native.itemsize()} to {to.native.itemsize()} bytes")
    if not is_unique(to.native):
        raise ValueError("cannot copy into a view whose elements may share memory")
    return 0


cdef int copy_views(StridedMemoryView to, object given, object stream, object allocator,
                    object blocking) except -1:
    if not isinstance(given, StridedMemoryView):
        raise TypeError(f"a view is copied to or from a StridedMemoryView, got {type_name(given)}; "
                        "StridedMemoryView.from_any_interface() makes one")
    cdef StridedMemoryView source = <StridedMemoryView>given
    cdef Stream order = None if stream is None else accept_stream(stream)
    check_copy(to, source)
    cdef copy_plan plan = plan_copy(to.native, source.native)
    if is_host_only(to) and is_host_only(source):
        if order is not None:
            order.sync()
            check_copy(to, source)  # somebody may have closed a Buffer meanwhile
        copy_on_host(plan, to.fields.pointer, plan.to, source.fields.pointer, plan.from_)
        return 0
    if order is None:
        raise TypeError("stream is required where a device has part in the copy")
    if plan.size == 0:
        return 0
    if plan.is_block():
        copy_block(to.fields.pointer, source.fields.pointer, plan.size, order)
    elif is_host_only(to):
        copy_down(plan, to, source, order, allocator)
    elif is_host_only(source):
        copy_up(plan, to, source, order, allocator)
    else:
        copy_on_device(plan, to.fields.pointer, plan.to, source.fields.pointer, plan.from_, order)
    if blocking is None:
        blocking = (to.where == device_type.cuda) != (source.where == device_type.cuda)
    if blocking:
        order.sync()
    return 0


cdef bint is_host_only(StridedMemoryView view) except -1:
    """Whether no kernel can reach the memory; registered memory of the host can be reached."""
    return not view.fields.is_device_accessible


cdef int copy_on_host(const copy_plan& plan, uintptr_t to, const plan_numbers& to_strides,
                      uintptr_t source, const plan_numbers& source_strides) except -1:
    with nogil:
        copy_elements(plan, <void*>to, to_strides, <const void*>source, source_strides)
    return 0


cdef int copy_block(uintptr_t to, uintptr_t source, int64_t size, Stream order) except -1:
    target = Buffer.from_handle(to, size)
    target.copy_from(Buffer.from_handle(source, size), stream=order)
    return 0


cdef int copy_on_device(copy_plan plan, uintptr_t to, plan_numbers to_strides, uintptr_t source,
                        plan_numbers source_strides, Stream order) except -1:
    """By a kernel, which moves as many bytes at once as addresses and strides allow."""
    cdef int axis, size = 8
    cdef uint64_t divisors = to | source | <uint64_t>plan.itemsize
    for axis in range(plan.ndim):
        divisors |= <uint64_t>to_strides[axis] | <uint64_t>source_strides[axis]
    while divisors % <uint64_t>size:
        size //= 2
    axes = [(plan.extents[i], to_strides[i], source_strides[i]) for i in range(plan.ndim)]
    if plan.itemsize != size:
        axes.append((plan.itemsize // size, size, size))
    count = plan.size // size
    arguments = [to, source, count]
    for extent, to_stride, source_stride in axes:
        arguments += [extent, to_stride % 2**64, source_stride % 2**64]
    core = import_module("cuda.core")
    kernel = import_module("cuda.core.views.copy_kernel").kernel(len(axes), size)
    config = core.LaunchConfig(grid=min((count + 255) // 256, 65535), block=256)
    core.launch(order, config, kernel, *arguments)
    return 0


cdef object staging(Stream order, object allocator, int64_t size):
    """Memory of the stream's device for packed elements, which goes back in its order."""
    if allocator is None:
        allocator = order.device.memory_resource
    return allocator.allocate(size, stream=order)


cdef int copy_down(const copy_plan& plan, StridedMemoryView to, StridedMemoryView source,
                   Stream order, object allocator) except -1:
    """From a device to memory that only the host reaches: packed, copied, taken apart."""
    cdef plan_numbers packed = (<copy_plan*>&plan).packed()
    cdef bytearray block = bytearray(plan.size)
    cdef uintptr_t host = <uintptr_t><char*>block
    if packed == plan.from_:
        copy_block(host, source.fields.pointer, plan.size, order)
    else:
        with staging(order, allocator, plan.size) as memory:
            copy_on_device(plan, int(memory.handle), packed, source.fields.pointer, plan.from_,
                           order)
            copy_block(host, int(memory.handle), plan.size, order)
    order.sync()
    check_copy(to, source)
    return copy_on_host(plan, to.fields.pointer, plan.to, host, packed)


cdef int copy_up(const copy_plan& plan, StridedMemoryView to, StridedMemoryView source,
                 Stream order, object allocator) except -1:
    """From memory that only the host reaches to a device: packed, copied, taken apart."""
    cdef plan_numbers packed = (<copy_plan*>&plan).packed()
    cdef bytearray block = bytearray(plan.size)
    cdef uintptr_t host = <uintptr_t><char*>block
    copy_on_host(plan, host, packed, source.fields.pointer, plan.from_)
    if packed == plan.to:
        return copy_block(to.fields.pointer, host, plan.size, order)
    with staging(order, allocator, plan.size) as memory:
        copy_block(int(memory.handle), host, plan.size, order)
        copy_on_device(plan, to.fields.pointer, plan.to, int(memory.handle), packed, order)
    return 0
