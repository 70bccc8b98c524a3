# SPDX-License-Identifier: Apache-2.0
# What the driver is asked of resources, and since when it can answer.


GREEN_CONTEXTS = (12, 4)
STRUCTURED_SPLIT = (13, 1)


cdef inline int check(cydriver.CUresult code, const char* function) except -1:
    if code != cydriver.CUDA_SUCCESS:
        return raise_driver_error(code, function)
    return 0


cdef bint driver_has(tuple needed) except -1:
    """Whether the driver is that new; the answer is asked of it once."""
    found = import_module("cuda.core._utils.version").driver_version()
    return found[:2] >= needed


cdef int require_driver(tuple needed, str what) except -1:
    if driver_has(needed):
        return 0
    found = import_module("cuda.core._utils.version").driver_version()
    raise RuntimeError(f"{what} needs a driver of CUDA {needed[0]}.{needed[1]} or newer; this one "
                       f"is of CUDA {found[0]}.{found[1]}")


cdef int read_resource(int device, Context context, CUdevResource* into,
                       cydriver.CUdevResourceType kind) \
        except -1:
    """Ask a context for its part of the device, or the device for all of it."""
    if context is not None:
        return get_context_resource(context, into, kind)
    return check(cydriver.cuDeviceGetDevResource(device, into, kind), "cuDeviceGetDevResource")
