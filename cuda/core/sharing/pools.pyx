# SPDX-License-Identifier: Apache-2.0
# Export and import of memory pools.


def check_available():
    """Raise RuntimeError on platforms without shared pools. Host only."""
    import platform

    if platform.system() != "Linux":
        raise RuntimeError(f"IPC is not available on {platform.system()}")


def enable_pool_transfer(_MemPool resource not None):
    """Let multiprocessing send a pool that is shared, and its handles. Host only."""
    enable_multiprocessing(type(resource))
    enable_multiprocessing(IPCAllocationHandle)


def allocation_handle(_MemPool resource not None):
    """Return the `allocation_handle` of a resource: exported once, and again if closed."""
    cdef pool_handle pool
    require_sharing(resource)
    identity = identity_of(resource)
    with registry_lock:
        known = resource.exported
        if known is None or (<IPCAllocationHandle>known).descriptor < 0:
            pool = share(resource, resource.pool)
            check_open(pool.is_open(), type(resource).__name__)
            known = resource.exported = own_descriptor(export_pool(pool), identity)
        elif (<IPCAllocationHandle>known).identity is None:
            (<IPCAllocationHandle>known).identity = identity
        return known


def from_allocation_handle(cls, int device, handle):
    """Implement `from_allocation_handle` of the resources; `device` is -1 for host memory."""
    identity = None
    if isinstance(handle, IPCAllocationHandle):
        check_open((<IPCAllocationHandle>handle).descriptor >= 0, "IPCAllocationHandle")
        identity = (<IPCAllocationHandle>handle).identity
    with registry_lock:
        existing = None if identity is None else registered(identity)
        if existing is not None:
            require_class(cls, existing, identity)
            return existing
        resource = import_resource(cls, device, handle, identity)
        if identity is not None:
            registry[identity] = resource
    return resource


cdef _MemPool import_resource(object cls, int device, object handle, object identity):
    cdef pool_handle pool
    cdef IPCAllocationHandle duplicate_handle
    if isinstance(handle, IPCAllocationHandle):
        duplicate_handle = duplicate(<IPCAllocationHandle>handle)
    else:
        duplicate_handle = own_duplicate(descriptor_from(handle), None)
    cdef _MemPool resource = new_instance(cls, _MemPool)
    if resource.pool.is_open() or resource.is_import:
        raise_used_instance(cls)
    pool = import_pool(duplicate_handle.descriptor, device)
    resource.pool.swap(pool)
    resource.device = device
    resource.is_import = True
    resource.identity = identity
    resource.exported = duplicate_handle
    enable_pool_transfer(resource)
    return resource


cdef object descriptor_from(object value):
    if not hasattr(value, "__index__"):
        raise TypeError("an allocation handle is an IPCAllocationHandle or the int of a file "
                        f"descriptor, got {type(value).__name__}")
    return value.__index__()


def reduce_resource(_MemPool resource not None):
    """Reduce a resource to its class and UUID, for `pickle`: a registry lookup. Host only."""
    require_sharing(resource)
    return from_registry, (type(resource), identity_of(resource))
