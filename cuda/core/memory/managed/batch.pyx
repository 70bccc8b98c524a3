# SPDX-License-Identifier: Apache-2.0
# Prefetches and discards of many buffers in one driver call.


cdef struct batch_call:
    CUdeviceptr* pointers
    size_t* sizes
    size_t count
    CUmemLocation* places
    size_t* first  # of the ranges that each place is for
    size_t place_count


cdef CUresult submit_prefetches(CUstream stream, void* arguments) \
        except? CUDA_ERROR_NOT_FOUND nogil:
    cdef batch_call* given = <batch_call*>arguments
    return cydriver.cuMemPrefetchBatchAsync(given.pointers, given.sizes, given.count, given.places,
                                            given.first, given.place_count, 0, stream)


cdef CUresult submit_discards(CUstream stream, void* arguments) \
        except? CUDA_ERROR_NOT_FOUND nogil:
    cdef batch_call* given = <batch_call*>arguments
    return cydriver.cuMemDiscardBatchAsync(given.pointers, given.sizes, given.count, 0, stream)


cdef CUresult submit_discards_and_prefetches(CUstream stream, void* arguments) \
        except? CUDA_ERROR_NOT_FOUND nogil:
    cdef batch_call* given = <batch_call*>arguments
    return cydriver.cuMemDiscardAndPrefetchBatchAsync(
        given.pointers, given.sizes, given.count, given.places, given.first, given.place_count, 0,
        stream)


cdef list buffers_of(object given, str call):
    """The buffers of a batch, all of them open and managed."""
    if isinstance(given, Buffer):
        raise TypeError(f"{call}: pass a sequence of Buffers; for a single buffer use the "
                        "ManagedBuffer instance method")
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise TypeError(f"{call}: expected a sequence of Buffers, got {type(given).__name__}")
    buffers = list(given)
    if not buffers:
        raise ValueError(f"{call}: empty buffers sequence")
    for each in buffers:
        if not isinstance(each, Buffer):
            raise TypeError(f"{call}: expected Buffer, got {type(each).__name__}")
    for each in buffers:
        require_managed(each, call)
    return buffers


cdef list places_of(object given, size_t count, str call):
    """One location for each buffer of a batch."""
    if isinstance(given, (list, tuple)):
        if len(given) != count:
            raise ValueError(f"{call}: {count} buffers but {len(given)} locations")
        places = list(given)
    else:
        places = [given] * count
    for each in places:
        required_location(each, call)
    return places


cdef int run_batch(Stream stream, list buffers, list places, stream_work work,
                   const char* function) except -1:
    cdef vector[CUdeviceptr] pointers
    cdef vector[size_t] sizes, first
    cdef vector[CUmemLocation] where
    cdef batch_call given
    cdef size_t i
    for i, place in enumerate(places):
        if i == 0 or place != places[i - 1]:
            where.push_back(location_of(place))
            first.push_back(i)
    for buffer in buffers:
        check_open((<Buffer>buffer).fields.is_open, "Buffer")
        pointers.push_back((<Buffer>buffer).fields.pointer)
        sizes.push_back((<Buffer>buffer).fields.size)
    given = batch_call(pointers.data(), sizes.data(), pointers.size(), where.data(), first.data(),
                       where.size())
    return run_on_stream(stream, work, &given, function)


cdef int discard_ranges(Stream stream, list buffers, str call) except -1:
    require_driver(13000, call)
    return run_batch(stream, buffers, [], submit_discards, "cuMemDiscardBatchAsync")


cdef int discard_and_prefetch_ranges(Stream stream, list buffers, list places,
                                     str call) except -1:
    require_driver(13000, call)
    return run_batch(stream, buffers, places, submit_discards_and_prefetches,
                     "cuMemDiscardAndPrefetchBatchAsync")


def prefetch_batch(stream, buffers, locations):
    """Move managed memory of many buffers to places before it is used there.

    Stream-ordered as a whole; the items are in no order among themselves.

    Parameters
    ----------
    stream : Stream
        Not the legacy default stream.
    buffers : sequence
        Of managed buffers.
    locations : Device, Host or sequence
        One for all, or one for each.

    Raises
    ------
    ValueError
        If a buffer is not managed, there are none, or the numbers differ.

    See Also
    --------
    cuMemPrefetchBatchAsync : the driver function.
    """
    cdef Stream order = accept_stream(stream)
    cdef list given = buffers_of(buffers, "prefetch_batch")
    cdef list places = places_of(locations, len(given), "prefetch_batch")
    if driver_version() >= 13000:
        run_batch(order, given, places, submit_prefetches, "cuMemPrefetchBatchAsync")
        return
    for buffer, place in zip(given, places):
        ManagedBuffer.prefetch(buffer, place, stream=order)


def discard_batch(stream, buffers):
    """Let the contents of many managed buffers become undefined.

    Stream-ordered as a whole. Needs a driver of CUDA 13.0.

    Parameters
    ----------
    stream : Stream
        Not the legacy default stream.
    buffers : sequence
        Of managed buffers.

    Raises
    ------
    ValueError
        If a buffer is not managed, or there are none.

    See Also
    --------
    cuMemDiscardBatchAsync : the driver function.
    """
    cdef Stream order = accept_stream(stream)
    discard_ranges(order, buffers_of(buffers, "discard_batch"), "discard_batch")


def discard_prefetch_batch(stream, buffers, locations):
    """Let the contents of many managed buffers become undefined, and move their memory.

    Stream-ordered as a whole. Needs a driver of CUDA 13.0.

    Parameters
    ----------
    stream : Stream
        Not the legacy default stream.
    buffers : sequence
        Of managed buffers.
    locations : Device, Host or sequence
        One for all, or one for each.

    Raises
    ------
    ValueError
        If a buffer is not managed, there are none, or the numbers differ.

    See Also
    --------
    cuMemDiscardAndPrefetchBatchAsync : the driver function.
    """
    cdef Stream order = accept_stream(stream)
    cdef list given = buffers_of(buffers, "discard_prefetch_batch")
    cdef list places = places_of(locations, len(given), "discard_prefetch_batch")
    discard_and_prefetch_ranges(order, given, places, "discard_prefetch_batch")
