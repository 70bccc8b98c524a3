# SPDX-License-Identifier: Apache-2.0
# The stream that a consumer names, and the order of a producer's work before it.

from cuda.core._core cimport address_from, order_streams


cdef object ambiguous_stream():
    return BufferError("stream=None is ambiguous with view(): pass the stream that will use the "
                       "memory, or -1 for no order")


cdef object stream_number(object given):
    """The address of a stream as an int; None and -1 stay what they are."""
    if given is None or type(given) is int:
        return given
    if isinstance(given, Stream):
        return int(accept_stream(given).handle)  # refuses a closed one
    if isinstance(given, str):
        raise TypeError(f"stream_ptr must be a Stream or an int, got {given!r}")
    if PyIndex_Check(given):
        return PyNumber_Index(given)
    return <object>address_from(given)


cdef Stream stream_of(object given, object number):
    """The stream of an argument whose number is known."""
    return <Stream>given if isinstance(given, Stream) else Stream.from_handle(number)


cdef int order_after(object given, object consumer, object producer) except -1:
    """Let later work of the consumer wait for what the producer was given; -1 for no order."""
    if producer is None or consumer == -1:
        return 0
    earlier = PyNumber_Index(producer)
    if earlier == 0:
        raise BufferError("the array interface names stream 0, which is ambiguous: 1 is the legacy "
                          "default stream, 2 the per-thread one")
    # 0 and 1 are both names of the legacy default stream.
    if earlier == (consumer or 1):
        return 0
    order_streams(stream_of(given, consumer), Stream.from_handle(earlier))
    return 0
