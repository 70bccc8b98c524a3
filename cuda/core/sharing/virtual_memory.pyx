# SPDX-License-Identifier: Apache-2.0
# Export and import of the buffers of VirtualMemoryResource.


@cython.final
cdef class VirtualMemoryIPCBufferDescriptor:
    """The file descriptors by which another process imports a buffer of `VirtualMemoryResource`.

    `Buffer.ipc_descriptor` returns a new one at each access. It owns one file descriptor per
    physical allocation of the buffer, in the order of the addresses: a grown buffer has several.
    They keep the memory allocated until the object is destroyed, also after the buffer is closed.

    `multiprocessing` sends it, and the buffer itself, as an argument of a Process and through
    queues and pipes. A program that transfers `fds` itself calls `from_fds` in the other process.

    Examples
    --------
    >>> descriptor = buffer.ipc_descriptor
    >>> socket.send_fds(connection, [pickle.dumps((descriptor.sizes, descriptor.size))],
    ...                 descriptor.fds)

    See Also
    --------
    cuMemExportToShareableHandle : the driver function.
    """

    cdef tuple owned          # IPCAllocationHandle of each physical allocation
    cdef tuple sizes_in_bytes
    cdef size_t bytes_described
    cdef object __weakref__

    def __init__(self, *args, **kwargs):
        raise RuntimeError("VirtualMemoryIPCBufferDescriptor objects cannot be instantiated "
                           "directly. Please use Buffer.ipc_descriptor or from_fds().")

    @classmethod
    @cython.binding(True)
    def from_fds(cls, fds, sizes, *, size=None):
        """Create a descriptor from file descriptors that another process sent.

        Host only. The caller still owns its file descriptors: the object has duplicates.

        Parameters
        ----------
        fds : iterable of int
            The `fds` of the other process, in the same order.
        sizes : iterable of int
            Size in bytes of each allocation.
        size : int, optional
            Size of the buffer in bytes; the sum of `sizes` if None.

        Returns
        -------
        VirtualMemoryIPCBufferDescriptor

        Raises
        ------
        OSError
            If a file descriptor is not open, or the process is out of file descriptors.
        ValueError
            If the numbers of file descriptors and sizes differ, or a size is not valid.

        Examples
        --------
        >>> message, fds, _, _ = socket.recv_fds(connection, 4096, 253)
        >>> sizes, size = pickle.loads(message)
        >>> descriptor = VirtualMemoryIPCBufferDescriptor.from_fds(fds, sizes, size=size)

        See Also
        --------
        cuMemImportFromShareableHandle : the driver function, which `Buffer.from_ipc_descriptor`
            calls.
        """
        handles = tuple([own_duplicate(descriptor_from(each), None) for each in fds])
        return describe_mappings(handles, sizes, size)

    @property
    def handles(self):
        """The `IPCAllocationHandle` of each physical allocation, as a tuple. Host only."""
        return self.owned

    @property
    def fds(self):
        """The file descriptors as a tuple of int; this object owns them. Host only.

        Raises
        ------
        ValueError
            If a handle was closed.
        """
        return tuple([int(each) for each in self.owned])

    @property
    def sizes(self):
        """Size of each physical allocation in bytes, as a tuple. Host only."""
        return self.sizes_in_bytes

    @property
    def size(self):
        """Size of the buffer in bytes. Host only."""
        return self.bytes_described

    @property
    def handle_type(self):
        """``"posix_fd"``. Host only."""
        return "posix_fd"

    def __reduce__(self):
        raise TypeError("VirtualMemoryIPCBufferDescriptor: file descriptors cannot be pickled. "
                        "Send the descriptor or its buffer as an argument of "
                        "multiprocessing.Process, or through its queues and pipes; or send `fds` "
                        "with socket.send_fds() and call from_fds() in the other process")

    def __repr__(self):
        return (f"<VirtualMemoryIPCBufferDescriptor size={self.bytes_described} "
                f"allocations={len(self.owned)}>")


cdef VirtualMemoryIPCBufferDescriptor describe_mappings(tuple handles, object sizes, object size):
    cdef VirtualMemoryIPCBufferDescriptor descriptor = \
        VirtualMemoryIPCBufferDescriptor.__new__(VirtualMemoryIPCBufferDescriptor)
    call = "VirtualMemoryIPCBufferDescriptor"
    descriptor.owned = handles
    descriptor.sizes_in_bytes = tuple([size_from(each, f"{call}: sizes") for each in sizes])
    total = sum(descriptor.sizes_in_bytes)
    if not handles or len(handles) != len(descriptor.sizes_in_bytes):
        raise ValueError(f"{call}: {len(handles)} file descriptors and "
                         f"{len(descriptor.sizes_in_bytes)} sizes: there must be one size for each "
                         "of at least one file descriptor")
    if 0 in descriptor.sizes_in_bytes:
        raise ValueError(f"{call}: sizes={descriptor.sizes_in_bytes}: a size must not be 0")
    descriptor.bytes_described = size_from(total if size is None else size, f"{call}: size")
    if not 0 < descriptor.bytes_described <= total:
        raise ValueError(f"{call}: size={descriptor.bytes_described}: the size of the buffer must "
                         f"be from 1 to {total}, the sum of the sizes of its allocations")
    enable_virtual_transfer()
    return descriptor


def enable_virtual_transfer():
    """Let multiprocessing send buffers of VirtualMemoryResource and their handles. Host only.

    A pickler copies the reducers when it is created, so this precedes the first message.
    """
    enable_multiprocessing(VirtualMemoryIPCBufferDescriptor)
    enable_multiprocessing(IPCAllocationHandle)


def restore_mappings(numbers, sizes, size):
    """Return a descriptor that owns received file descriptors, also after a failure. Host only."""
    return describe_mappings(tuple([own_descriptor(each, None) for each in numbers]), sizes, size)


def duplicate_handles(VirtualMemoryIPCBufferDescriptor descriptor not None):
    """Return handles of own duplicates of all file descriptors. Host only."""
    return [duplicate(each) for each in descriptor.owned]


cdef object virtual_memory():
    return import_module("cuda.core._located_memory")


cdef bint is_virtual(object resource) except -1:
    return isinstance(resource, import_module("cuda.core").VirtualMemoryResource)


cdef object describe_virtual(Buffer buffer, object resource):
    """Export each physical allocation of a buffer."""
    cdef buffer_fields memory
    cdef Buffer whole
    virtual_memory().require_shareable(resource)
    with cython.critical_section(buffer):
        check_open(buffer.fields.is_open, "Buffer")
        buffer.exports += 1  # no other thread may close or move the memory
    try:
        memory, whole = buffer.fields, buffer.shared
        if whole is not None and whole.fields.pointer != memory.pointer:
            raise_inner_part()
        return export_mappings(memory, virtual_memory().mappings_of(resource, memory.pointer))
    finally:
        with cython.critical_section(buffer):
            buffer.exports -= 1


cdef object export_mappings(buffer_fields memory, list mappings):
    cdef IPCAllocationHandle handle
    cdef CUdeviceptr address
    handles, sizes = [], []
    for address, size, received in mappings:
        if address >= memory.pointer + memory.size:
            break
        sizes.append(size)
        if received is not None:
            handles.append(duplicate(received))
            continue
        handle = own_descriptor(-1, None)  # exists before the file descriptor, which it closes
        try:
            handle.descriptor = export_mapping(address)
        except CUDAError as error:
            error.add_note(f"Buffer.ipc_descriptor: the allocation of {size} bytes at "
                           f"{address:#x}. It must have been created with handle_type='posix_fd', "
                           "and each allocation needs a free file descriptor")
            raise
        handles.append(handle)
    return describe_mappings(tuple(handles), sizes, memory.size)


cdef Buffer import_virtual(object cls, object resource, object descriptor, Stream stream):
    cdef VirtualMemoryIPCBufferDescriptor described
    if not isinstance(descriptor, VirtualMemoryIPCBufferDescriptor):
        raise TypeError("Argument 'ipc_descriptor' has incorrect type (expected "
                        f"VirtualMemoryIPCBufferDescriptor, got {type(descriptor).__name__})")
    described = descriptor
    virtual_memory().require_shareable(resource)
    handles = duplicate_handles(described)  # another thread may close the others
    parts = [(each, (<IPCAllocationHandle>each).descriptor, size)
             for each, size in zip(handles, described.sizes_in_bytes)]
    return virtual_memory().import_mappings(cls, resource, parts, described.bytes_described, stream)


cdef int raise_inner_part() except -1:
    raise ValueError("the buffer begins inside an allocation: share the whole buffer and call "
                     "resize_view() in the other process")
