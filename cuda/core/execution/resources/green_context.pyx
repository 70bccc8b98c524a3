# SPDX-License-Identifier: Apache-2.0
# Green contexts: conversion of options to driver resources.

from libc.string cimport memcpy


def create_context(int ordinal, options):
    """Implement `Device.create_context`. Host only."""
    cdef CUdevResource* native_resources
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
        resources = list(options.resources)
    except TypeError as error:
        raise TypeError("ContextOptions.resources must be a sequence of SMResource and "
                        f"WorkqueueResource, got {type(options.resources)}: {error}") from error
    if not resources:
        raise ValueError("ContextOptions.resources must not be empty")
    require_driver(GREEN_CONTEXTS, "a green context")
    count = len(resources)
    native_resources = <CUdevResource*>calloc(count, sizeof(CUdevResource))
    try:
        if native_resources is NULL:
            raise MemoryError
        for i in range(count):
            copy_resource(resources[i], &native_resources[i])
        return make_green_context(ordinal, native_resources, <unsigned>count)
    finally:
        free(native_resources)


cdef int copy_resource(object resource, CUdevResource* target) except -1:
    if isinstance(resource, SMResource):
        if (<SMResource>resource).is_dry:
            raise ValueError("a context cannot be created from a dry-run SMResource: split "
                             "without dry_run")
        memcpy(target, &(<SMResource>resource).resource, sizeof(CUdevResource))
    elif isinstance(resource, WorkqueueResource):
        with cython.critical_section(resource):
            memcpy(target, &(<WorkqueueResource>resource).config, sizeof(CUdevResource))
    else:
        raise TypeError(f"Unsupported context resource type: {type(resource)}; it may be "
                        "SMResource or WorkqueueResource")
    target.nextResource = NULL
