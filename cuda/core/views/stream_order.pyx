# SPDX-License-Identifier: Apache-2.0
# Ordering of the consumer's stream after the work of the producer.

from cuda.core._core cimport address_from, order_streams


cdef object ambiguous_stream_error():
    return BufferError("stream=None is ambiguous with view(): pass the stream that will use the "
                       "memory as stream_ptr, or -1 for no ordering")


cdef object stream_number(object stream_arg):
    """Return the address of a stream as an int; None and -1 remain unchanged."""
    if stream_arg is None or type(stream_arg) is int:
        return stream_arg
    if isinstance(stream_arg, Stream):
        return int(accept_stream(stream_arg).handle)  # rejects a closed stream
    if isinstance(stream_arg, str):
        raise TypeError(f"stream_ptr must be a Stream or an int, got {shown(stream_arg)}")
    if PyIndex_Check(stream_arg):
        return as_int("stream_ptr", stream_arg)
    return <object>address_from(stream_arg)


cdef Stream stream_of(object stream_arg, object number):
    """Return the Stream of an argument with a known address."""
    return <Stream>stream_arg if isinstance(stream_arg, Stream) else Stream.from_handle(number)


cdef int order_after_producer(object stream_arg, object consumer, object producer) except -1:
    """Make the consumer wait for the submitted work of the producer; -1: no ordering."""
    # Both 0 and 1 denote the legacy default stream.
    if producer is not None and consumer != -1 and producer != (consumer or 1):
        order_streams(stream_of(stream_arg, consumer), Stream.from_handle(producer))
