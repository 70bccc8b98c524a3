# SPDX-License-Identifier: Apache-2.0
# Green contexts: from options to the resources that the driver is given.

from libc.string cimport memcpy


def create_context(int ordinal, options):
    """What `Device.create_context` does. Host only."""
    cdef CUdevResource* named
    cdef Py_ssize_t i, count
    if options is None:
        raise ValueError("options with device resources must be provided to create a green "
                         "context: ContextOptions(resources=[...])")
    options = as_options(options, public_object("ContextOptions"), "context options")
    if options.resources is None:
        raise ValueError("ContextOptions.resources must be provided to create a green context")
    if isinstance(options.resources, (SMResource, WorkqueueResource)):
        raise TypeError("ContextOptions.resources must be a sequence of resources: "
                        "ContextOptions([resource])")
    try:
        given = list(options.resources)
    except TypeError as error:
        raise TypeError("ContextOptions.resources must be a sequence of what Device.resources "
                        f"gives: {error}") from error
    if not given:
        raise ValueError("ContextOptions.resources must not be empty")
    require_driver(GREEN_CONTEXTS, "a green context")
    count = len(given)
    named = <CUdevResource*>calloc(count, sizeof(CUdevResource))
    try:
        if named is NULL:
            raise MemoryError
        for i in range(count):
            copy_resource(given[i], &named[i])
        return make_green_context(ordinal, named, <unsigned>count)
    finally:
        free(named)


cdef int copy_resource(object given, CUdevResource* into) except -1:
    if isinstance(given, SMResource):
        if (<SMResource>given).is_dry:
            raise ValueError("a dry-run SMResource cannot be given to a context: split without "
                             "dry_run")
        memcpy(into, &(<SMResource>given).resource, sizeof(CUdevResource))
    elif isinstance(given, WorkqueueResource):
        with cython.critical_section(given):
            memcpy(into, &(<WorkqueueResource>given).config, sizeof(CUdevResource))
    else:
        raise TypeError(f"Unsupported context resource type: {type(given)}; it may be SMResource "
                        "or WorkqueueResource")
    into.nextResource = NULL
    return 0
