# SPDX-License-Identifier: Apache-2.0
# What names a buffer of a shared pool, or an event, in 64 bytes.

cdef enum:
    PAYLOAD = 64


cdef int require_bytes(object given) except -1:
    if not isinstance(given, bytes):
        raise TypeError(f"Argument 'reserved' has incorrect type (expected bytes, got "
                        f"{type(given).__name__})")
    return 0


@cython.final
cdef class IPCBufferDescriptor:
    """What another process imports a buffer by, together with the resource that it is from.

    It comes from `Buffer.ipc_descriptor`, and can be pickled.
    """

    cdef bytes payload
    cdef size_t bytes_described
    cdef object __weakref__

    def __init__(self, *args, **kwargs):
        raise RuntimeError("IPCBufferDescriptor objects cannot be instantiated directly. Please "
                           "use MemoryResource APIs.")

    @staticmethod
    def _init(reserved, size):
        """Make one of the driver's 64 bytes and the size of the buffer. Host only."""
        require_bytes(reserved)
        return describe_buffer(reserved, size_from(size, "IPCBufferDescriptor: size"))

    @property
    def size(self):
        """Of the buffer, in bytes. Host only."""
        return self.bytes_described

    def __reduce__(self):
        return _buffer_descriptor, (self.payload, self.bytes_described)

    def __eq__(self, other):
        if not isinstance(other, IPCBufferDescriptor):
            return NotImplemented
        cdef IPCBufferDescriptor that = <IPCBufferDescriptor>other
        return self.payload == that.payload and self.bytes_described == that.bytes_described

    def __hash__(self):
        return hash((self.payload, self.bytes_described))

    def __repr__(self):
        return f"<IPCBufferDescriptor size={self.bytes_described}>"


@cython.final
cdef class IPCEventDescriptor:
    """What another process waits for an event by. It comes from `Event.ipc_descriptor`."""

    cdef bytes payload
    cdef bint is_blocking
    cdef object __weakref__

    def __init__(self, *args, **kwargs):
        raise RuntimeError("IPCEventDescriptor objects cannot be instantiated directly. Please use "
                           "Event APIs.")

    @staticmethod
    def _init(reserved, is_blocking_sync):
        """Make one of the driver's 64 bytes and the event's flag. Host only."""
        require_bytes(reserved)
        return describe_event(reserved, is_blocking_sync)

    def __reduce__(self):
        return _event_descriptor, (self.payload, self.is_blocking)

    def __eq__(self, other):
        if not isinstance(other, IPCEventDescriptor):
            return NotImplemented
        return self.payload == (<IPCEventDescriptor>other).payload

    def __hash__(self):
        return hash(self.payload)

    def __repr__(self):
        return f"<IPCEventDescriptor blocking_sync={self.is_blocking}>"


def _buffer_descriptor(reserved, size):
    """What a pickled descriptor is made anew by. Host only."""
    return IPCBufferDescriptor._init(reserved, size)


def _event_descriptor(reserved, is_blocking_sync):
    """What a pickled descriptor is made anew by. Host only."""
    return IPCEventDescriptor._init(reserved, is_blocking_sync)


cdef object known_descriptors = WeakValueDictionary()  # (payload, size): the same one each time


cdef IPCBufferDescriptor describe_buffer(bytes payload, size_t size):
    cdef IPCBufferDescriptor made = IPCBufferDescriptor.__new__(IPCBufferDescriptor)
    made.payload, made.bytes_described = payload, size
    return known_descriptors.setdefault((payload, size), made)


cdef IPCEventDescriptor describe_event(bytes payload, bint is_blocking):
    cdef IPCEventDescriptor made = IPCEventDescriptor.__new__(IPCEventDescriptor)
    made.payload, made.is_blocking = payload, is_blocking
    return made


cdef int require_payload(bytes payload, str described) except -1:
    if len(payload) < PAYLOAD:
        raise ValueError(f"{described} is {len(payload)} bytes; expected at least {PAYLOAD}")
    return 0
