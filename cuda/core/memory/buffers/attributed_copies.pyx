# SPDX-License-Identifier: Apache-2.0
# Copies with CopyOptions: one copy, or many in one driver call.

from cuda.core.memory.buffers.copy_options import (
    CopyOptions, MemcpyOverlapMode, MemcpySrcAccessOrder)


cdef dict ACCESS_ORDERS = {
    MemcpySrcAccessOrder.STREAM: <int>CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
    MemcpySrcAccessOrder.DURING_API_CALL: <int>CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL,
    MemcpySrcAccessOrder.ANY: <int>CU_MEMCPY_SRC_ACCESS_ORDER_ANY,
}


cdef struct copy_call:
    CUdeviceptr* targets
    CUdeviceptr* sources
    size_t* sizes
    size_t count
    CUmemcpyAttributes* attributes
    size_t* first  # index of the first copy of each set of attributes
    size_t attribute_count


cdef CUresult submit_copy(CUstream stream, void* arguments) except? CUDA_ERROR_NOT_FOUND nogil:
    cdef copy_call* copy = <copy_call*>arguments
    return cydriver.cuMemcpyWithAttributesAsync(copy.targets[0], copy.sources[0], copy.sizes[0],
                                                copy.attributes, stream)


cdef CUresult submit_copies(CUstream stream, void* arguments) except? CUDA_ERROR_NOT_FOUND nogil:
    cdef copy_call* copy = <copy_call*>arguments
    return cydriver.cuMemcpyBatchAsync(copy.targets, copy.sources, copy.sizes, copy.count,
                                       copy.attributes, copy.first, copy.attribute_count,
                                       stream)


cdef CUresult submit_plain_copy(CUstream stream, void* arguments) \
        except? CUDA_ERROR_NOT_FOUND nogil:
    cdef copy_call* copy = <copy_call*>arguments
    return cydriver.cuMemcpyAsync(copy.targets[0], copy.sources[0], copy.sizes[0], stream)


cdef CUmemcpyAttributes attributes_of(object options) except *:
    cdef CUmemcpyAttributes attributes
    memset(&attributes, 0, sizeof(attributes))
    attributes.srcAccessOrder = \
        <cydriver.CUmemcpySrcAccessOrder><int>ACCESS_ORDERS[options.src_access_order]
    if options.src_location_hint is not None:
        attributes.srcLocHint = location_of(options.src_location_hint)
    if options.dst_location_hint is not None:
        attributes.dstLocHint = location_of(options.dst_location_hint)
    if options.overlap_mode == MemcpyOverlapMode.PREFER_OVERLAP_WITH_COMPUTE:
        attributes.flags = CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE
    return attributes


cdef int require_copy_stream(Stream stream, str call) except -1:
    """Reject the legacy default stream and capturing streams."""
    if Stream_is_legacy_default_token(stream):
        raise TypeError(f"{call}: the legacy default stream does not support copies with options; "
                        "use another stream")
    if is_capturing_stream(stream):
        raise TypeError(f"{call}: a capturing stream does not support copies with options")


cdef int require_stream_order(const CUmemcpyAttributes& attributes, str call) except -1:
    """Reject the one option that an older driver, which has no attributes, must not ignore."""
    if attributes.srcAccessOrder == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL:
        raise RuntimeError(f"{call}: src_access_order='during_api_call' needs a newer driver, "
                           f"this is CUDA {driver_version() // 1000}."
                           f"{driver_version() % 1000 // 10}")


@cython.final
cdef class _DriverCopyAttributes(_CopyAttributes):
    """The options of a copy in the form of the driver, which has no user code."""

    cdef CUmemcpyAttributes attributes
    cdef int version  # of the driver

    cdef int copy(self, CUdeviceptr target, CUdeviceptr source, size_t size,
                  Stream stream) except -1:
        cdef size_t first = 0
        cdef copy_call copy = copy_call(&target, &source, &size, 1, &self.attributes, &first, 1)
        if self.version >= 13020:
            return run_on_stream(stream, submit_copy, &copy, "cuMemcpyWithAttributesAsync")
        if self.version >= 13000:
            return run_on_stream(stream, submit_copies, &copy, "cuMemcpyBatchAsync")
        require_stream_order(self.attributes, "copy")
        return run_on_stream(stream, submit_plain_copy, &copy, "cuMemcpyAsync")


cdef _DriverCopyAttributes converted_options(object options):
    cdef _DriverCopyAttributes converted = _DriverCopyAttributes.__new__(_DriverCopyAttributes)
    converted.attributes = attributes_of(options)
    converted.version = driver_version()
    return converted


def _convert_copy_options(options, Stream stream, str call):
    """Convert the options of a copy of one buffer, and check the stream. Host only."""
    if not isinstance(options, CopyOptions):
        raise TypeError(f"{call}: options must be CopyOptions, got {type(options).__name__}")
    converted = converted_options(options)
    require_copy_stream(stream, call)
    return converted


cdef list copied_buffers(object value):
    if isinstance(value, Buffer):
        raise TypeError("copy_batch: pass a sequence of Buffers; for a single buffer use "
                        "Buffer.copy_to / Buffer.copy_from")
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise TypeError(f"copy_batch: expected a sequence of Buffers, got {type(value).__name__}")
    buffers = list(value)
    for each in buffers:
        if not isinstance(each, Buffer):
            raise TypeError(f"copy_batch: expected Buffer, got {type(each).__name__}")
    for each in buffers:
        check_open((<Buffer>each).fields.is_open, "Buffer")
    return buffers


cdef list options_of(object value, size_t count):
    """Return the converted options of each copy; equal neighbors may be one object."""
    if value is None:
        value = CopyOptions()
    if isinstance(value, CopyOptions):
        return [converted_options(value)] * count
    if isinstance(value, (list, tuple)):
        if len(value) != count:
            raise ValueError(f"copy_batch: options length {len(value)} does not match buffers "
                             f"length {count}")
        if all(isinstance(each, CopyOptions) for each in value):
            return [converted_options(each) for each in value]
        value = next(each for each in value if not isinstance(each, CopyOptions))
    raise TypeError("copy_batch: options must be CopyOptions or a sequence of CopyOptions, got "
                    f"{type(value).__name__}")


def copy_batch(stream, srcs, dsts, *, options=None):
    """Copy many buffers in one driver call.

    Stream-ordered as a whole; the copies are not ordered with each other and must not overlap.
    All arguments are checked before the first copy.

    Parameters
    ----------
    stream : Stream
        Neither the legacy default stream nor a capturing stream.
    srcs : sequence
        Source buffers.
    dsts : sequence
        As many destination buffers, each of the size of its source.
    options : CopyOptions or sequence, optional
        Options for all copies, or for each.

    Raises
    ------
    ValueError
        If the lengths or the sizes differ, or the sequences are empty.

    See Also
    --------
    cuMemcpyBatchAsync : the driver function.
    """
    if not isinstance(stream, Stream):
        raise TypeError("copy_batch: Argument 'stream' has incorrect type (expected Stream, got "
                        f"{type(stream).__name__})")
    cdef Stream order = accept_stream(stream)
    cdef list sources = copied_buffers(srcs), targets = copied_buffers(dsts)
    if len(sources) != len(targets):
        raise ValueError(f"copy_batch: srcs length {len(sources)} does not match dsts length "
                         f"{len(targets)}")
    if not sources:
        raise ValueError("copy_batch: empty buffers sequence")
    cdef list copy_options = options_of(options, len(sources))
    require_copy_stream(order, "copy_batch")
    submit_copy_batch(order, sources, targets, copy_options)


cdef bint is_same(const CUmemcpyAttributes& first, const CUmemcpyAttributes& second) noexcept:
    return memcmp(&first, &second, sizeof(first)) == 0


cdef int submit_copy_batch(Stream stream, list sources, list targets,
                           list options_list) except -1:
    """Submit copies of Buffers with converted options; runs no user code."""
    cdef vector[CUdeviceptr] target_addresses, source_addresses
    cdef vector[size_t] sizes, first
    cdef vector[CUmemcpyAttributes] attributes
    cdef copy_call copies
    cdef size_t i
    cdef Buffer source, target
    cdef _DriverCopyAttributes options
    for i in range(<size_t>len(options_list)):
        source, target, options = sources[i], targets[i], options_list[i]
        check_open(source.fields.is_open and target.fields.is_open, "Buffer")
        if source.fields.size != target.fields.size:
            raise ValueError(f"copy_batch: buffer size mismatch at index {i} "
                             f"(src={source.fields.size}, dst={target.fields.size})")
        if source.fields.size == 0:
            continue
        if attributes.empty() or not is_same(attributes.back(), options.attributes):
            attributes.push_back(options.attributes)
            first.push_back(sizes.size())
        target_addresses.push_back(target.fields.pointer)
        source_addresses.push_back(source.fields.pointer)
        sizes.push_back(source.fields.size)
    if sizes.size() == 0:
        return 0
    copies = copy_call(target_addresses.data(), source_addresses.data(), sizes.data(), sizes.size(),
                       attributes.data(), first.data(), attributes.size())
    if driver_version() >= 13000:
        return run_on_stream(stream, submit_copies, &copies, "cuMemcpyBatchAsync")
    for i in range(attributes.size()):
        require_stream_order(attributes[i], "copy_batch")
    for i in range(target_addresses.size()):
        copies.targets, copies.sources = &target_addresses[i], &source_addresses[i]
        copies.sizes = &sizes[i]
        run_on_stream(stream, submit_plain_copy, &copies, "cuMemcpyAsync")
