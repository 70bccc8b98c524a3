# SPDX-License-Identifier: Apache-2.0
# Copies with options, one or many in a driver call.

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
    size_t* first  # of the copies that each set of attributes is for
    size_t attribute_count


cdef CUresult submit_copy(CUstream stream, void* arguments) except? CUDA_ERROR_NOT_FOUND nogil:
    cdef copy_call* given = <copy_call*>arguments
    return cydriver.cuMemcpyWithAttributesAsync(given.targets[0], given.sources[0], given.sizes[0],
                                                given.attributes, stream)


cdef CUresult submit_copies(CUstream stream, void* arguments) except? CUDA_ERROR_NOT_FOUND nogil:
    cdef copy_call* given = <copy_call*>arguments
    return cydriver.cuMemcpyBatchAsync(given.targets, given.sources, given.sizes, given.count,
                                       given.attributes, given.first, given.attribute_count,
                                       stream)


cdef CUresult submit_plain_copy(CUstream stream, void* arguments) \
        except? CUDA_ERROR_NOT_FOUND nogil:
    cdef copy_call* given = <copy_call*>arguments
    return cydriver.cuMemcpyAsync(given.targets[0], given.sources[0], given.sizes[0], stream)


cdef CUresult ask_capture(CUstream stream, void* arguments) except? CUDA_ERROR_NOT_FOUND nogil:
    return cydriver.cuStreamIsCapturing(stream, <CUstreamCaptureStatus*>arguments)


cdef bint is_capturing_stream(Stream stream) except -1:
    cdef CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE
    run_on_stream(stream, ask_capture, &status, "cuStreamIsCapturing")
    return status != CU_STREAM_CAPTURE_STATUS_NONE


cdef CUmemcpyAttributes attributes_of(object options) except *:
    cdef CUmemcpyAttributes made
    memset(&made, 0, sizeof(made))
    made.srcAccessOrder = \
        <cydriver.CUmemcpySrcAccessOrder><int>ACCESS_ORDERS[options.src_access_order]
    if options.src_location_hint is not None:
        made.srcLocHint = location_of(options.src_location_hint)
    if options.dst_location_hint is not None:
        made.dstLocHint = location_of(options.dst_location_hint)
    if options.overlap_mode == MemcpyOverlapMode.PREFER_OVERLAP_WITH_COMPUTE:
        made.flags = CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE
    return made


cdef int require_copy_stream(Stream stream, str call) except -1:
    """Copies with attributes go to a stream of their own order, and into no graph."""
    if Stream_is_legacy_default_token(stream):
        raise TypeError(f"{call}: the legacy default stream takes no copies with options; use "
                        "another stream")
    if is_capturing_stream(stream):
        raise TypeError(f"{call}: a capturing stream takes no copies with options")
    return 0


cdef int require_kept_order(object options, str call) except -1:
    """Where the driver takes no attributes, all but one of them may be left out."""
    if options.src_access_order == MemcpySrcAccessOrder.DURING_API_CALL:
        raise RuntimeError(f"{call}: src_access_order='during_api_call' needs a newer driver, "
                           f"this is CUDA {driver_version() // 1000}."
                           f"{driver_version() % 1000 // 10}")
    return 0


def _check_copy_options(options, Stream stream, str call):
    """Refuse what a copy of one buffer cannot be made with. Host only."""
    if not isinstance(options, CopyOptions):
        raise TypeError(f"{call}: options must be CopyOptions, got {type(options).__name__}")
    attributes_of(options)
    require_copy_stream(stream, call)


def _copy(CUdeviceptr target, CUdeviceptr source, size_t size, Stream stream, options):
    """Copy bytes as the options say, which were checked. Stream-ordered."""
    cdef CUmemcpyAttributes attributes = attributes_of(options)
    cdef size_t first = 0
    cdef copy_call given = copy_call(&target, &source, &size, 1, &attributes, &first, 1)
    if driver_version() >= 13020:
        run_on_stream(stream, submit_copy, &given, "cuMemcpyWithAttributesAsync")
    elif driver_version() >= 13000:
        run_on_stream(stream, submit_copies, &given, "cuMemcpyBatchAsync")
    else:
        require_kept_order(options, "copy")
        run_on_stream(stream, submit_plain_copy, &given, "cuMemcpyAsync")


cdef list copied_buffers(object given):
    if isinstance(given, Buffer):
        raise TypeError("copy_batch: pass a sequence of Buffers; for a single buffer use "
                        "Buffer.copy_to / Buffer.copy_from")
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise TypeError(f"copy_batch: expected a sequence of Buffers, got {type(given).__name__}")
    buffers = list(given)
    for each in buffers:
        if not isinstance(each, Buffer):
            raise TypeError(f"copy_batch: expected Buffer, got {type(each).__name__}")
    for each in buffers:
        check_open((<Buffer>each).fields.is_open, "Buffer")
    return buffers


cdef list options_of(object given, size_t count):
    if given is None:
        given = CopyOptions()
    if isinstance(given, CopyOptions):
        return [given] * count
    if isinstance(given, (list, tuple)):
        if len(given) != count:
            raise ValueError(f"copy_batch: {count} copies but {len(given)} options")
        if all(isinstance(each, CopyOptions) for each in given):
            return list(given)
        given = next(each for each in given if not isinstance(each, CopyOptions))
    raise TypeError("copy_batch: options must be CopyOptions or a sequence of CopyOptions, got "
                    f"{type(given).__name__}")


def copy_batch(stream, srcs, dsts, *, options=None):
    """Copy many buffers in one driver call.

    Stream-ordered as a whole; the items are in no order among themselves, and must not overlap.
    Everything is checked before the first copy.

    Parameters
    ----------
    stream : Stream
        Not the legacy default stream, and not one that is capturing.
    srcs : sequence
        Of buffers.
    dsts : sequence
        Of as many buffers, each of the size of its source.
    options : CopyOptions or sequence, optional
        One for all, or one for each.

    Raises
    ------
    ValueError
        If the numbers or the sizes differ, or there is nothing to copy.

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
        raise ValueError(f"copy_batch: {len(sources)} sources but {len(targets)} destinations")
    if not sources:
        raise ValueError("copy_batch: empty buffers sequence")
    cdef list how = options_of(options, len(sources))
    require_copy_stream(order, "copy_batch")
    copy_all(order, sources, targets, how)


cdef int copy_all(Stream stream, list sources, list targets, list how) except -1:
    cdef vector[CUdeviceptr] to, origin
    cdef vector[size_t] sizes, first
    cdef vector[CUmemcpyAttributes] attributes
    cdef copy_call given
    cdef size_t i
    cdef Buffer source, target
    previous = None
    for i, options in enumerate(how):
        made = options  # each is converted, so that a wrong hint is an error anywhere
        source, target = sources[i], targets[i]
        check_open(source.fields.is_open and target.fields.is_open, "Buffer")
        if source.fields.size != target.fields.size:
            raise ValueError(f"copy_batch: buffer size mismatch at index {i} "
                             f"(src={source.fields.size}, dst={target.fields.size})")
        if source.fields.size == 0:
            continue
        if previous is None or previous != made:
            attributes.push_back(attributes_of(made))
            first.push_back(sizes.size())
            previous = made
        to.push_back(target.fields.pointer)
        origin.push_back(source.fields.pointer)
        sizes.push_back(source.fields.size)
    if sizes.size() == 0:
        return 0
    given = copy_call(to.data(), origin.data(), sizes.data(), sizes.size(), attributes.data(),
                      first.data(), attributes.size())
    if driver_version() >= 13000:
        return run_on_stream(stream, submit_copies, &given, "cuMemcpyBatchAsync")
    for options in how:
        require_kept_order(options, "copy_batch")
    for i in range(to.size()):
        given.targets, given.sources, given.sizes = &to[i], &origin[i], &sizes[i]
        run_on_stream(stream, submit_plain_copy, &given, "cuMemcpyAsync")
    return 0
