# SPDX-License-Identifier: Apache-2.0
# IPCAllocationHandle: a file descriptor that names a pool.


@cython.final
cdef class IPCAllocationHandle:
    """A file descriptor by which another process finds a memory pool.

    It comes from `DeviceMemoryResource.allocation_handle` or `PinnedMemoryResource`, owns the
    descriptor, and travels as an argument of `multiprocessing.Process` and through its queues and
    pipes. ``int(handle)`` is the descriptor, for sending it over a socket.
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
        """Wrap a descriptor, which is owned from now on. Host only."""
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

        Pools that were imported by it stay. Closing twice is harmless.
        """
        cdef int descriptor
        with cython.critical_section(self):
            descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            close_descriptor(descriptor)

    @property
    def handle(self):
        """The descriptor as an int; -1 when closed. Host only."""
        return self.descriptor

    @property
    def uuid(self):
        """The identity of the pool, or None when it came without one. Host only."""
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
        raise TypeError("a file descriptor cannot be pickled: an IPCAllocationHandle travels as an "
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
    cdef IPCAllocationHandle made = IPCAllocationHandle.__new__(IPCAllocationHandle)
    made.descriptor = descriptor
    made.identity = identity
    return made


cdef IPCAllocationHandle own_duplicate(int descriptor, object identity):
    cdef int own = duplicate_descriptor(descriptor, F_DUPFD_CLOEXEC, 0)
    if own < 0:
        PyErr_SetFromErrno(OSError)
    return own_descriptor(own, identity)


cdef IPCAllocationHandle duplicate(IPCAllocationHandle handle):
    """Taken while no other thread can close this one."""
    cdef int own = -1
    with cython.critical_section(handle):
        check_open(handle.descriptor >= 0, "IPCAllocationHandle")
        own = duplicate_descriptor(handle.descriptor, F_DUPFD_CLOEXEC, 0)
    if own < 0:
        PyErr_SetFromErrno(OSError)
    return own_descriptor(own, handle.identity)


def check_still_open(IPCAllocationHandle handle not None):
    """RuntimeError for a handle that is closed. Host only."""
    check_open(handle.descriptor >= 0, "IPCAllocationHandle")


cdef int require_uuid(object given) except -1:
    if not isinstance(given, UUID):
        raise TypeError(f"uuid must be a uuid.UUID, got {type(given).__name__}")
    return 0
