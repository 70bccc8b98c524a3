# SPDX-License-Identifier: Apache-2.0
# Registry of the shared pools of this process, and their support by multiprocessing.

cdef object registry = WeakValueDictionary()  # uuid -> resource
cdef object registry_lock = RLock()


cdef object registered(object identity):
    """Return the open resource with a UUID, or None."""
    resource = registry.get(identity)
    return None if resource is None or (<_MemPool>resource).is_closed else resource


cdef int require_class(object cls, object resource, object identity) except -1:
    if not isinstance(resource, cls):
        raise TypeError(f"Registry contains a {type(resource).__name__} for uuid {identity}, but "
                        f"{cls.__name__} was requested")


def from_registry(cls, uuid):
    """Implement `from_registry` of the resources. Host only."""
    resource = registered(uuid)
    if resource is None:
        raise RuntimeError(f"Memory resource {uuid} was not found")
    require_class(cls, resource, uuid)
    return resource


def register(_MemPool resource not None, uuid):
    """Implement `register` of the resources. Host only."""
    require_uuid(uuid)
    require_sharing(resource)
    with registry_lock:
        existing = registered(uuid)
        if existing is not None:
            require_class(type(resource), existing, uuid)
            return existing
        if resource.identity is not None and resource.identity != uuid:
            raise ValueError(f"the resource already has the uuid {resource.identity}, so it cannot "
                             f"be registered as {uuid}")
        resource.identity = uuid
        registry[uuid] = resource
    return resource


cdef int raise_not_shared(object resource) except -1:
    advice = ""
    if isinstance(resource, _ShareablePool):
        advice = f": create it with {type(resource).__name__}Options(ipc_enabled=True)"
    raise RuntimeError(f"Memory resource is not IPC-enabled{advice}")


cdef int require_sharing(_MemPool resource) except -1:
    check_open(resource.pool.is_open(), type(resource).__name__)
    if not resource.is_ipc_enabled:
        raise_not_shared(resource)


def identity_of(_MemPool resource not None):
    """Return the UUID of a shared resource, creating it at the first call; else None. Host only.

    A resource that was imported without a UUID has none until it is registered.
    """
    with registry_lock:
        if not resource.is_ipc_enabled:
            return None
        if resource.identity is None and not resource.is_import:
            resource.identity = uuid4()
            registry[resource.identity] = resource
        return resource.identity


cdef set classes_with_reducers = set()


cdef int enable_multiprocessing(object cls) except -1:
    """Register the reducers of a class with multiprocessing, with its first shared object."""
    if cls not in classes_with_reducers:
        import_module("cuda.core.sharing.reductions").register(cls)
        classes_with_reducers.add(cls)
