# SPDX-License-Identifier: Apache-2.0
# Which resource of this process stands for which pool, and what multiprocessing does with them.

cdef object registry = WeakValueDictionary()  # uuid -> resource
cdef object registry_lock = RLock()


cdef object registered(object identity):
    """The open resource of that identity, or None."""
    found = registry.get(identity)
    return None if found is None or (<_MemPool>found).is_closed else found


cdef int require_class(object cls, object found, object identity) except -1:
    if not isinstance(found, cls):
        raise TypeError(f"Registry contains a {type(found).__name__} for uuid {identity}, but "
                        f"{cls.__name__} was requested")
    return 0


def from_registry(cls, uuid):
    """What `from_registry` of the resources does. Host only."""
    found = registered(uuid)
    if found is None:
        raise RuntimeError(f"Memory resource {uuid} was not found")
    require_class(cls, found, uuid)
    return found


def register(_MemPool resource not None, uuid):
    """What `register` of the resources does. Host only."""
    require_uuid(uuid)
    require_sharing(resource)
    with registry_lock:
        found = registered(uuid)
        if found is not None:
            require_class(type(resource), found, uuid)
            return found
        if resource.identity is not None and resource.identity != uuid:
            raise ValueError(f"the resource has the uuid {resource.identity} already, so it cannot "
                             f"be registered as {uuid}")
        resource.identity = uuid
        registry[uuid] = resource
    return resource


cdef int require_sharing(_MemPool resource) except -1:
    check_open(resource.pool.is_open(), type(resource).__name__)
    if not resource.is_ipc_enabled:
        raise RuntimeError("Memory resource is not IPC-enabled")
    return 0


def identity_of(_MemPool resource not None):
    """The uuid of a resource, made when it is first asked for; None without sharing. Host only.

    One that was imported without an identity has none until it is registered.
    """
    with registry_lock:
        if not resource.is_ipc_enabled:
            return None
        if resource.identity is None and not resource.is_import:
            resource.identity = uuid4()
            registry[resource.identity] = resource
        return resource.identity


cdef set known_to_multiprocessing = set()


cdef int enable_multiprocessing(object cls) except -1:
    """Let objects of a class travel; called with the first of them, which is when it can be."""
    if cls not in known_to_multiprocessing:
        import_module("cuda.core.sharing.reductions").register(cls)
        known_to_multiprocessing.add(cls)
    return 0
