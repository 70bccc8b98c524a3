# SPDX-License-Identifier: Apache-2.0
# Prefetches and discards of many buffers in one driver call.


cdef struct batch_call:
    CUdeviceptr* pointers
    size_t* sizes
    size_t count
    CUmemLocation* locations
    size_t* first  # index of the first range of each location
    size_t location_count


cdef buffer_fields managed_memory_of(Buffer buffer, str call) except *:
    """Return the memory of an open Buffer of managed memory, after all user code."""
    check_open(buffer.fields.is_open, "Buffer")
    if not is_managed(buffer):
        raise ValueError(f"{call} requires a managed-memory allocation")
    return open_memory_of(buffer)


cdef CUresult submit_prefetches(CUstream stream, void* arguments) \
        except? CUDA_ERROR_NOT_FOUND nogil:
    cdef batch_call* batch = <batch_call*>arguments
    return cydriver.cuMemPrefetchBatchAsync(
        batch.pointers, batch.sizes, batch.count, batch.locations, batch.first,
        batch.location_count, 0, stream)


cdef CUresult submit_discards(CUstream stream, void* arguments) \
        except? CUDA_ERROR_NOT_FOUND nogil:
    cdef batch_call* batch = <batch_call*>arguments
    return cydriver.cuMemDiscardBatchAsync(batch.pointers, batch.sizes, batch.count, 0, stream)


cdef CUresult submit_discards_and_prefetches(CUstream stream, void* arguments) \
        except? CUDA_ERROR_NOT_FOUND nogil:
    cdef batch_call* batch = <batch_call*>arguments
    return cydriver.cuMemDiscardAndPrefetchBatchAsync(
        batch.pointers, batch.sizes, batch.count, batch.locations, batch.first,
        batch.location_count, 0, stream)


cdef list buffers_of(object value, str call):
    """Return the buffers of a batch as a list. Raises unless all are open and managed."""
    if isinstance(value, Buffer):
        raise TypeError(f"{call}: pass a sequence of Buffers; for a single buffer use the "
                        "ManagedBuffer instance method")
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise TypeError(f"{call}: expected a sequence of Buffers, got {type(value).__name__}")
    buffers = list(value)
    if not buffers:
        raise ValueError(f"{call}: empty buffers sequence")
    for each in buffers:
        if not isinstance(each, Buffer):
            raise TypeError(f"{call}: expected Buffer, got {type(each).__name__}")
    for each in buffers:
        managed_memory_of(each, call)
    return buffers


cdef list location_args_of(object value, size_t count, str call):
    """Return one location argument for each buffer of a batch."""
    if isinstance(value, (list, tuple)):
        if len(value) != count:
            raise ValueError(f"{call}: location length {len(value)} does not match targets "
                             f"length {count}")
        locations = list(value)
    else:
        locations = [value] * count
    for each in locations:
        required_location(each, call)
    return locations


cdef int run_batch(Stream stream, list buffers, list location_args, stream_work work,
                   const char* function) except -1:
    cdef vector[CUdeviceptr] pointers
    cdef vector[size_t] sizes, first
    cdef vector[CUmemLocation] locations
    cdef batch_call batch
    cdef CUmemLocation location
    cdef size_t i
    for i, location_arg in enumerate(location_args):
        location = location_of(location_arg)
        if (i == 0 or location.type != locations.back().type
                or location.id != locations.back().id):
            locations.push_back(location)
            first.push_back(i)
    for buffer in buffers:  # runs no user code
        check_open((<Buffer>buffer).fields.is_open, "Buffer")
        pointers.push_back((<Buffer>buffer).fields.pointer)
        sizes.push_back((<Buffer>buffer).fields.size)
    batch = batch_call(pointers.data(), sizes.data(), pointers.size(), locations.data(),
                       first.data(), locations.size())
    return run_on_stream(stream, work, &batch, function)


cdef int discard_ranges(Stream stream, list buffers, str call) except -1:
    require_driver(13000, call)
    return run_batch(stream, buffers, [], submit_discards, "cuMemDiscardBatchAsync")


cdef int discard_and_prefetch_ranges(Stream stream, list buffers, list location_args,
                                     str call) except -1:
    require_driver(13000, call)
    return run_batch(stream, buffers, location_args, submit_discards_and_prefetches,
                     "cuMemDiscardAndPrefetchBatchAsync")


def prefetch_batch(stream, buffers, locations):
    """Prefetch the managed memory of many buffers to locations.

    Stream-ordered as a whole; the buffers are not ordered with each other.

    Parameters
    ----------
    stream : Stream
        Not the legacy default stream.
    buffers : sequence
        Managed buffers.
    locations : Device, Host or sequence
        One location for all buffers, or one for each.

    Raises
    ------
    ValueError
        If a buffer is not managed, the sequence is empty, or the lengths differ.

    See Also
    --------
    cuMemPrefetchBatchAsync : the driver function.
    """
    cdef Stream order = accept_stream(stream)
    cdef list managed = buffers_of(buffers, "prefetch_batch")
    cdef list location_args = location_args_of(locations, len(managed), "prefetch_batch")
    if driver_version() >= 13000:
        run_batch(order, managed, location_args, submit_prefetches, "cuMemPrefetchBatchAsync")
        return
    for buffer, location_arg in zip(managed, location_args):
        ManagedBuffer.prefetch(buffer, location_arg, stream=order)


def discard_batch(stream, buffers):
    """Discard the contents of many managed buffers: they become undefined.

    Stream-ordered as a whole. Needs a driver of CUDA 13.0.

    Parameters
    ----------
    stream : Stream
        Not the legacy default stream.
    buffers : sequence
        Managed buffers.

    Raises
    ------
    ValueError
        If a buffer is not managed, or the sequence is empty.

    See Also
    --------
    cuMemDiscardBatchAsync : the driver function.
    """
    cdef Stream order = accept_stream(stream)
    discard_ranges(order, buffers_of(buffers, "discard_batch"), "discard_batch")


def discard_prefetch_batch(stream, buffers, locations):
    """Discard the contents of many managed buffers and prefetch their memory.

    Stream-ordered as a whole. Needs a driver of CUDA 13.0.

    Parameters
    ----------
    stream : Stream
        Not the legacy default stream.
    buffers : sequence
        Managed buffers.
    locations : Device, Host or sequence
        One location for all buffers, or one for each.

    Raises
    ------
    ValueError
        If a buffer is not managed, the sequence is empty, or the lengths differ.

    See Also
    --------
    cuMemDiscardAndPrefetchBatchAsync : the driver function.
    """
    cdef Stream order = accept_stream(stream)
    cdef list managed = buffers_of(buffers, "discard_prefetch_batch")
    cdef list location_args = location_args_of(locations, len(managed), "discard_prefetch_batch")
    discard_and_prefetch_ranges(order, managed, location_args, "discard_prefetch_batch")
