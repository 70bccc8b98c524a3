# SPDX-License-Identifier: Apache-2.0
# MemoryResource: the protocol of memory allocators.

cdef object must_be_implemented(str name):
    raise TypeError(f"MemoryResource.{name} must be implemented by subclasses.")


cdef class MemoryResource:
    """An allocator: allocates memory as `Buffer` objects and frees it.

    A subclass implements `allocate`, `deallocate`, `is_device_accessible`, `is_host_accessible` and
    `device_id`. A member that it does not implement raises TypeError when used. A buffer keeps its
    resource alive.
    """

    def allocate(self, size, *, stream):
        """Allocate memory.

        Parameters
        ----------
        size : int
            Size in bytes.
        stream : Stream
            The stream that orders the allocation: its later work may use the memory.

        Returns
        -------
        Buffer
            Created with ``Buffer.from_handle(ptr, size, mr=self)``.
        """
        must_be_implemented("allocate")

    def deallocate(self, ptr, size, *, stream):
        """Free memory. Must not raise.

        Parameters
        ----------
        ptr : int
            The address of the allocation.
        size : int
            Size in bytes.
        stream : Stream
            The stream that orders the free after the last use.
        """
        must_be_implemented("deallocate")

    @property
    def is_device_accessible(self):
        """Whether kernels can access the memory. Host only."""
        must_be_implemented("is_device_accessible")

    @property
    def is_host_accessible(self):
        """Whether the host can access the memory. Host only."""
        must_be_implemented("is_host_accessible")

    @property
    def device_id(self):
        """The ordinal of the device that owns the memory; -1 for none. Host only."""
        must_be_implemented("device_id")

    @property
    def is_managed(self):
        """Whether the driver migrates the memory between host and device. Host only."""
        return False

    def _repr_html_(self):
        """The HTML table of `statistics`, or of the pool, for a notebook. Host only."""
        return import_module("cuda.core._utils.display").resource_html(self)


cdef extern from *:
    """
    static thread_local int halfwarp_allocation_depth = 0;
    """
    int allocation_depth "halfwarp_allocation_depth"

cdef enum:
    MAX_ALLOCATION_DEPTH = 200  # nested `allocate` calls: deeper ones could overflow the C stack


cdef Buffer allocate_from(object resource, object size, object stream, int device=ANY_DEVICE):
    global allocation_depth
    cdef size_t size_requested = size_from(size, "allocate(): size")
    if allocation_depth >= MAX_ALLOCATION_DEPTH:
        raise RecursionError(f"allocate() of {qualified_name(resource)}: memory resources are "
                             f"nested more than {MAX_ALLOCATION_DEPTH} deep")
    allocation_depth += 1
    try:
        memory = resource.allocate(size_requested if type(size) is not int else size,
                                   stream=stream)
    finally:
        allocation_depth -= 1
    if not isinstance(memory, Buffer):
        raise TypeError(f"{qualified_name(resource)}.allocate() must return a Buffer, got "
                        f"{qualified_name(memory)}")
    check_allocation(resource, <Buffer>memory, size_requested, device)
    return <Buffer>memory


cdef int check_allocation(object resource, Buffer memory, size_t size, int device) except -1:
    """Reject a Buffer that a caller of `allocate` could not use."""
    cdef buffer_fields fields = memory.fields
    cdef pointer_facts facts
    if not fields.is_open:
        raise ValueError(f"{qualified_name(resource)}.allocate() returned a closed Buffer")
    if fields.size < size:
        raise ValueError(f"{qualified_name(resource)}.allocate() must return a Buffer of at least "
                         f"{size} bytes, got {fields.size} bytes")
    if device == ANY_DEVICE or fields.size == 0:
        return 0
    facts = classify_pointer(fields.pointer)
    if facts.is_device_accessible and not facts.is_host_accessible and facts.device != device:
        raise ValueError(f"{qualified_name(resource)}.allocate() must return memory of device "
                         f"{device}, got memory of device {facts.device}")


def _allocate_from(resource, size, stream, device=None):
    """Allocate from any resource and check the Buffer. Host only."""
    return allocate_from(resource, size, stream, ANY_DEVICE if device is None else device)
