# SPDX-License-Identifier: Apache-2.0
# Conversion between Device or Host and the driver's memory locations.


cdef inline int checked(CUresult code, const char* function) except -1 nogil:
    if code != CUDA_SUCCESS:
        with gil:
            raise_driver_error(code, function)


cdef int require_driver(int version, str call) except -1:
    cdef int driver = driver_version()
    if driver < version:
        raise RuntimeError(f"{call} requires CUDA {version // 1000}.{version % 1000 // 10} or "
                           "later; the driver supports CUDA "
                           f"{driver // 1000}.{driver % 1000 // 10}")


cdef CUmemLocation location_at(cydriver.CUmemLocationType kind, int number) noexcept:
    cdef CUmemLocation location
    memset(&location, 0, sizeof(location))
    location.type = kind
    location.id = number
    return location


cdef str kind_of_host(object host):
    if host.is_numa_current:
        return "host_numa_current"
    return "host" if host.numa_id is None else "host_numa"


cdef CUmemLocation location_of(object value) except *:
    if isinstance(value, Device):
        return location_at(CU_MEM_LOCATION_TYPE_DEVICE, (<Device>value).ordinal)
    if not isinstance(value, Host):
        raise TypeError(f"location must be a Device, Host, or None; got {type(value).__name__}")
    kind = kind_of_host(value)
    if kind == "host":
        return location_at(CU_MEM_LOCATION_TYPE_HOST, 0)
    if driver_version() < 13000:
        raise TypeError(f"{value!r} needs a driver of CUDA 13.0 or later: use Host()")
    if kind == "host_numa":
        return location_at(CU_MEM_LOCATION_TYPE_HOST_NUMA, value.numa_id)
    return location_at(CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0)


cdef CUmemLocation required_location(object value, str call) except *:
    if value is None:
        raise ValueError(f"{call}: location is required")
    return location_of(value)


cdef object device_or_host(int kind, int number):
    """Return the Device or Host of a location of the driver; None for other locations."""
    if kind == CU_MEM_LOCATION_TYPE_DEVICE:
        return Device(number)
    if kind == CU_MEM_LOCATION_TYPE_HOST:
        return Host()
    if kind == CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return Host(number)
    if kind == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        return Host.numa_current()
    return None
