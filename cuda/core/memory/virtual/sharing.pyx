# SPDX-License-Identifier: Apache-2.0
# VirtualMemoryResource: memory that another process maps by file descriptors.

cdef object shared_resources = weakref.WeakValueDictionary()  # uuid -> resource
cdef object shared_resources_lock = RLock()


def require_shareable(VirtualMemoryResource resource not None):
    """Raise RuntimeError if other processes cannot import the memory of a resource. Host only."""
    if not is_shareable(resource):
        raise RuntimeError("Memory resource is not IPC-enabled: a VirtualMemoryResource shares "
                           "memory on Linux with handle_type='posix_fd' and a location_type other "
                           "than 'host'")


def mappings_of(VirtualMemoryResource resource not None, address):
    """Return (address, size, received handle or None) of each mapping of an allocation.

    Host only. Sorted by address.
    """
    cdef _Extents extents = resource.allocations.get(address)
    if extents is None:
        raise ValueError(f"ipc_descriptor: the memory at {int(address):#x} was not allocated by "
                         "this VirtualMemoryResource: export its allocation with "
                         "cuMemExportToShareableHandle")
    return [(at, size, extents.received.get(at)) for at, size in extents.mappings]


def import_mappings(cls, VirtualMemoryResource resource not None, list parts, size_t size,
                    Stream order not None):
    """Map imported memory at adjacent addresses, and return a Buffer of the first bytes. Host only.

    `parts` lists (handle, file descriptor, size). A failure leaves nothing mapped.
    """
    cdef CUmemAllocationProp properties = virtual_properties(resource)
    cdef object options = resource.options
    cdef size_t total = sum([part_size for _, _, part_size in parts])
    cdef _Extents extents = _Extents()
    cdef CUdeviceptr address
    cdef Buffer buffer
    extents.is_import = True
    release_deferred(resource)
    try:
        alignment, hint = requested_range(options)
        address = extents.reserve(total, alignment, hint)
        map_parts(extents, address, parts, &properties.location)
        set_virtual_access(address, total, options, &properties.location)
        buffer = wrap_memory(cls, address, size, resource, None, order)
        extents.set_buffer(buffer)
    except BaseException:
        release_or_defer(resource, extents)
        raise
    buffer.is_import = True
    resource.allocations[address] = extents
    return buffer


cdef int map_parts(_Extents extents, CUdeviceptr address, list parts,
                   const CUmemLocation* location) except -1:
    for position, (handle, descriptor, size) in enumerate(parts):
        try:
            extents.map_import(address, descriptor, size, location)
        except CUDAError as error:
            error.add_note(f"Buffer.from_ipc_descriptor(): allocation {position} of {len(parts)}, "
                           f"file descriptor {descriptor}, {size} bytes. The descriptor must come "
                           "from the ipc_descriptor of a buffer, with its exact size, and this "
                           "process must see the device of that buffer")
            raise
        extents.received[address] = handle
        address += <size_t>size


cdef object reduce_virtual_resource(VirtualMemoryResource self):
    """Reduce a resource to its class, device and options, for `pickle`."""
    require_shareable(self)
    options = dataclasses.replace(
        self.options, peers=tuple([Device(each).device_id for each in peers_of(self.options)]))
    with shared_resources_lock:
        if self.identity is None:
            self.identity = uuid4()
            shared_resources[self.identity] = self
    return _restore_virtual_resource, (type(self), self.identity, self.device_ordinal, options)


def _restore_virtual_resource(cls, identity, int device, options):
    """Return the resource of this process for a pickled one, created at the first call. Host only.

    In the process that pickled the resource, that resource.
    """
    cdef VirtualMemoryResource resource
    with shared_resources_lock:
        resource = shared_resources.get(identity)
        if resource is not None:
            if not isinstance(resource, cls):
                raise TypeError(f"the resource {identity} is a {type(resource).__name__}, but "
                                f"{cls.__name__} was requested")
            return resource
        resource = new_instance(cls, VirtualMemoryResource)
        if resource.options is not None:
            raise_used_instance(cls)
        set_up_resource(resource, Device(device), options_from_config(options))
        resource.identity = identity
        shared_resources[identity] = resource
    return resource
