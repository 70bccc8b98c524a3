# SPDX-License-Identifier: Apache-2.0
# IPCAllocationHandle: a file descriptor of a shared memory pool.


@cython.final
cdef class IPCAllocationHandle:
    """A file descriptor by which another process imports a memory pool or a physical allocation.

    The `allocation_handle` of `DeviceMemoryResource` and `PinnedMemoryResource` returns it. The
    `ipc_descriptor` of a buffer of `VirtualMemoryResource` has one for each physical allocation. It
    owns the descriptor. `multiprocessing` can send it as an argument of a Process and through
    queues and pipes. ``int(handle)`` is the descriptor, for sending it over a socket.
    """

    cdef int descriptor  # -1 once closed
    cdef object identity
    cdef object __weakref__

    def __cinit__(self):
        self.descriptor = -1

    def __init__(self, *args, **kwargs):
        raise RuntimeError("IPCAllocationHandle objects cannot be instantiated directly. Please "
                           "use MemoryResource APIs.")

    def __dealloc__(self):
        if self.descriptor >= 0:
            close_descriptor(self.descriptor)

    @staticmethod
    def _init(handle, uuid):
        """Take ownership of a descriptor. Host only."""
        if not isinstance(handle, int):
            raise TypeError(f"Argument 'handle' has incorrect type (expected int, got "
                            f"{type(handle).__name__})")
        if uuid is not None:
            require_uuid(uuid)
        if handle < 0:
            raise ValueError(f"Invalid allocation handle (fd) {handle}: must be non-negative")
        return own_descriptor(handle, uuid)

    def close(self):
        """Close the descriptor. Host only.

        Imported pools remain valid. Closing twice has no effect.
        """
        cdef int descriptor
        with cython.critical_section(self):
            descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            close_descriptor(descriptor)

    @property
    def handle(self):
        """The descriptor as an int; -1 if closed. Host only."""
        return self.descriptor

    @property
    def uuid(self):
        """UUID of the pool; None if the sender did not include it. Host only."""
        return self.identity

    @property
    def is_closed(self):
        """Whether `close` was called. Host only."""
        return self.descriptor < 0

    def __int__(self):
        if self.descriptor < 0:
            raise ValueError(f"Cannot convert IPCAllocationHandle to int: the handle "
                             f"(id={id(self)}) is closed.")
        return self.descriptor

    def __reduce__(self):
        check_open(self.descriptor >= 0, "IPCAllocationHandle")
        raise TypeError("a file descriptor cannot be pickled: send an IPCAllocationHandle as an "
                        "argument of multiprocessing.Process, or through its queues and pipes")

    def __repr__(self):
        state = "closed" if self.descriptor < 0 else f"fd={self.descriptor}"
        return f"<IPCAllocationHandle {state} uuid={self.identity}>"


cdef extern from "unistd.h" nogil:
    int close_descriptor "close"(int) noexcept


cdef extern from "fcntl.h" nogil:
    int duplicate_descriptor "fcntl"(int, int, int) noexcept
    int F_DUPFD_CLOEXEC


cdef IPCAllocationHandle own_descriptor(int descriptor, object identity):
    cdef IPCAllocationHandle handle = IPCAllocationHandle.__new__(IPCAllocationHandle)
    handle.descriptor = descriptor
    handle.identity = identity
    return handle


cdef IPCAllocationHandle own_duplicate(int descriptor, object identity):
    cdef int copy = duplicate_descriptor(descriptor, F_DUPFD_CLOEXEC, 0)
    if copy < 0:
        raise OSError(errno, f"{os.strerror(errno)}: an allocation handle must be an open file "
                      f"descriptor, got {descriptor}")
    return own_descriptor(copy, identity)


cdef IPCAllocationHandle duplicate(IPCAllocationHandle handle):
    """Duplicate the descriptor under the lock of the handle, so that no thread closes it."""
    cdef int copy = -1
    with cython.critical_section(handle):
        check_open(handle.descriptor >= 0, "IPCAllocationHandle")
        copy = duplicate_descriptor(handle.descriptor, F_DUPFD_CLOEXEC, 0)
    if copy < 0:
        PyErr_SetFromErrno(OSError)
    return own_descriptor(copy, handle.identity)


def duplicate_handle(IPCAllocationHandle handle not None):
    """Return a handle of an own duplicate of the descriptor. Host only."""
    return duplicate(handle)


cdef int require_uuid(object value) except -1:
    if not isinstance(value, UUID):
        raise TypeError(f"uuid must be a uuid.UUID, got {type(value).__name__}")
