# SPDX-License-Identifier: Apache-2.0
# Versions on which compilation depends, and the selection of the emulator.

from cuda.bindings.cydriver cimport CUDA_SUCCESS, cuDriverGetVersion

cdef int cached_nvrtc_version = 0  # 1000 * major + minor
cdef int cached_driver_version = 0


def nvrtc_version():
    """Return major and minor version of NVRTC, which are queried once."""
    global cached_nvrtc_version
    if not cached_nvrtc_version:
        major, minor = version_of_nvrtc()
        cached_nvrtc_version = 1000 * major + minor
    return divmod(cached_nvrtc_version, 1000)


cdef int driver_version() except -1:
    """Return the driver's CUDA version, e.g. 13050; 0 without a driver, which is not cached."""
    global cached_driver_version
    if not cached_driver_version:
        try:
            if cuDriverGetVersion(&cached_driver_version) != CUDA_SUCCESS:
                return 0
        except RuntimeError:  # the library is missing
            return 0
    return cached_driver_version


def _can_load_generated_ptx():
    """Return whether the driver can load the PTX that NVRTC writes; true without a driver."""
    cdef int driver = driver_version()
    major, minor = nvrtc_version()
    return not driver or 1000 * major + 10 * minor <= driver


cdef bint runs_on_emulator():
    """Return whether the emulator serves driver calls, now or from the first call."""
    return _low.is_emulated()
