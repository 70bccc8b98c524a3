# SPDX-License-Identifier: Apache-2.0
# IPCBufferDescriptor and IPCEventDescriptor: the 64-byte export data of buffers and events.

cdef enum:
    PAYLOAD = 64


cdef int require_bytes(object value) except -1:
    if not isinstance(value, bytes):
        raise TypeError(f"Argument 'reserved' has incorrect type (expected bytes, got "
                        f"{type(value).__name__})")


@cython.final
cdef class IPCBufferDescriptor:
    """The data by which another process imports a buffer from an imported resource.

    `Buffer.ipc_descriptor` returns it. It can be pickled.
    """

    cdef bytes payload
    cdef size_t bytes_described
    cdef object __weakref__

    def __init__(self, *args, **kwargs):
        raise RuntimeError("IPCBufferDescriptor objects cannot be instantiated directly. Please "
                           "use MemoryResource APIs.")

    @staticmethod
    def _init(reserved, size):
        """Create a descriptor from the driver's 64 bytes and the size of the buffer. Host only."""
        require_bytes(reserved)
        return describe_buffer(reserved, size_from(size, "IPCBufferDescriptor: size"))

    @property
    def size(self):
        """Size of the buffer in bytes. Host only."""
        return self.bytes_described

    def __reduce__(self):
        return _buffer_descriptor, (self.payload, self.bytes_described)

    def __eq__(self, other):
        if not isinstance(other, IPCBufferDescriptor):
            return NotImplemented
        cdef IPCBufferDescriptor descriptor = <IPCBufferDescriptor>other
        return (self.payload == descriptor.payload
                and self.bytes_described == descriptor.bytes_described)

    def __hash__(self):
        return hash((self.payload, self.bytes_described))

    def __repr__(self):
        return f"<IPCBufferDescriptor size={self.bytes_described}>"


@cython.final
cdef class IPCEventDescriptor:
    """The data by which another process imports an event. `Event.ipc_descriptor` returns it."""

    cdef bytes payload
    cdef bint is_blocking
    cdef object __weakref__

    def __init__(self, *args, **kwargs):
        raise RuntimeError("IPCEventDescriptor objects cannot be instantiated directly. Please use "
                           "Event APIs.")

    @staticmethod
    def _init(reserved, is_blocking_sync):
        """Create a descriptor from the driver's 64 bytes and the event's flag. Host only."""
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
    """Unpickle a descriptor. Host only."""
    return IPCBufferDescriptor._init(reserved, size)


def _event_descriptor(reserved, is_blocking_sync):
    """Unpickle a descriptor. Host only."""
    return IPCEventDescriptor._init(reserved, is_blocking_sync)


cdef object known_descriptors = WeakValueDictionary()  # (payload, size) -> its only descriptor


cdef IPCBufferDescriptor describe_buffer(bytes payload, size_t size):
    cdef IPCBufferDescriptor descriptor = IPCBufferDescriptor.__new__(IPCBufferDescriptor)
    descriptor.payload, descriptor.bytes_described = payload, size
    return known_descriptors.setdefault((payload, size), descriptor)


cdef IPCEventDescriptor describe_event(bytes payload, bint is_blocking):
    cdef IPCEventDescriptor descriptor = IPCEventDescriptor.__new__(IPCEventDescriptor)
    descriptor.payload, descriptor.is_blocking = payload, is_blocking
    return descriptor


cdef int require_payload(bytes payload, str described) except -1:
    if len(payload) < PAYLOAD:
        raise ValueError(f"{described} is {len(payload)} bytes; expected at least {PAYLOAD}")
