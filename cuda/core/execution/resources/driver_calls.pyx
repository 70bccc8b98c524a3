# SPDX-License-Identifier: Apache-2.0
# Driver calls for resources, and the driver versions that support them.


GREEN_CONTEXTS = (12, 4)
STRUCTURED_SPLIT = (13, 1)


cdef inline int check(cydriver.CUresult code, const char* function) except -1:
    if code != cydriver.CUDA_SUCCESS:
        return raise_driver_error(code, function)


cdef bint driver_has(tuple needed) except -1:
    """Return whether the driver supports CUDA version `needed`."""
    version = import_module("cuda.core._utils.version").driver_version()
    return version[:2] >= needed


cdef void require_driver(tuple needed, str feature) except *:
    if driver_has(needed):
        return
    version = import_module("cuda.core._utils.version").driver_version()
    raise RuntimeError(f"{feature} needs a driver of CUDA {needed[0]}.{needed[1]} or newer; this "
                       f"driver supports CUDA {version[0]}.{version[1]}")


cdef int read_resource(int device, Context context, CUdevResource* target,
                       cydriver.CUdevResourceType kind) \
        except -1:
    """Query the resource of a context, or of the whole device without a context."""
    if context is not None:
        return get_context_resource(context, target, kind)
    return check(cydriver.cuDeviceGetDevResource(device, target, kind), "cuDeviceGetDevResource")
