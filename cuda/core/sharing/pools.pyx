# SPDX-License-Identifier: Apache-2.0
# Pools that leave this process, or come from another one.


def check_available():
    """RuntimeError where processes cannot share memory. Host only."""
    import platform

    if platform.system() != "Linux":
        raise RuntimeError(f"IPC is not available on {platform.system()}")


def opened(_MemPool resource not None):
    """Told of each pool that was made for other processes. Host only."""
    enable_multiprocessing(type(resource))
    enable_multiprocessing(IPCAllocationHandle)


def allocation_handle(_MemPool resource not None):
    """What `allocation_handle` of the resources is: exported once, and again if closed."""
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
    """What `from_allocation_handle` of the resources does; `device` is -1 for host memory."""
    identity = None
    if isinstance(handle, IPCAllocationHandle):
        check_open((<IPCAllocationHandle>handle).descriptor >= 0, "IPCAllocationHandle")
        identity = (<IPCAllocationHandle>handle).identity
    with registry_lock:
        found = None if identity is None else registered(identity)
        if found is not None:
            require_class(cls, found, identity)
            return found
        resource = import_resource(cls, device, handle, identity)
        if identity is not None:
            registry[identity] = resource
    return resource


cdef _MemPool import_resource(object cls, int device, object handle, object identity):
    cdef _MemPool resource = cls.__new__(cls)
    cdef pool_handle pool
    cdef IPCAllocationHandle own
    if isinstance(handle, IPCAllocationHandle):
        own = duplicate(<IPCAllocationHandle>handle)
    else:
        own = own_duplicate(descriptor_from(handle), None)
    pool = import_pool(own.descriptor, device)
    resource.pool.swap(pool)
    resource.device = device
    resource.is_import = True
    resource.identity = identity
    resource.exported = own
    opened(resource)
    return resource


cdef object descriptor_from(object given):
    if not hasattr(given, "__index__"):
        raise TypeError("an allocation handle is an IPCAllocationHandle or the int of a file "
                        f"descriptor, got {type(given).__name__}")
    return given.__index__()


def reduce_resource(_MemPool resource not None):
    """What `pickle` stores of a resource: how to find it where it is registered. Host only."""
    require_sharing(resource)
    return from_registry, (type(resource), identity_of(resource))
