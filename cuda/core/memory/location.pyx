# SPDX-License-Identifier: Apache-2.0
# Places where memory lies or goes to, as the driver has them.


cdef inline int checked(CUresult code, const char* function) except -1 nogil:
    if code != CUDA_SUCCESS:
        with gil:
            raise_driver_error(code, function)
    return 0


cdef int driver_version() except -1:
    cdef int version = 0
    checked(cydriver.cuDriverGetVersion(&version), "cuDriverGetVersion")
    return version


cdef int require_driver(int version, str what) except -1:
    cdef int found = driver_version()
    if found < version:
        raise RuntimeError(f"{what} requires CUDA {version // 1000}.{version % 1000 // 10} or "
                           f"later; the driver is of CUDA {found // 1000}.{found % 1000 // 10}")
    return 0


cdef CUmemLocation location_at(cydriver.CUmemLocationType kind, int number) noexcept:
    cdef CUmemLocation where
    memset(&where, 0, sizeof(where))
    where.type = kind
    where.id = number
    return where


cdef str kind_of_host(object host):
    if host.is_numa_current:
        return "host_numa_current"
    return "host" if host.numa_id is None else "host_numa"


cdef CUmemLocation location_of(object given) except *:
    if isinstance(given, Device):
        return location_at(CU_MEM_LOCATION_TYPE_DEVICE, (<Device>given).ordinal)
    if not isinstance(given, Host):
        raise TypeError(f"location must be a Device, Host, or None; got {type(given).__name__}")
    kind = kind_of_host(given)
    if kind == "host":
        return location_at(CU_MEM_LOCATION_TYPE_HOST, 0)
    if driver_version() < 13000:
        raise TypeError(f"{given!r} needs a driver of CUDA 13.0 or later: use Host()")
    if kind == "host_numa":
        return location_at(CU_MEM_LOCATION_TYPE_HOST_NUMA, given.numa_id)
    return location_at(CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0)


cdef CUmemLocation required_location(object given, str call) except *:
    if given is None:
        raise ValueError(f"{call}: location is required")
    return location_of(given)


cdef object place_of(int kind, int number):
    """The Device or Host of a location of the driver's; None for none."""
    if kind == CU_MEM_LOCATION_TYPE_DEVICE:
        return Device(number)
    if kind == CU_MEM_LOCATION_TYPE_HOST:
        return Host()
    if kind == CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return Host(number)
    if kind == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        return Host.numa_current()
    return None
