# SPDX-License-Identifier: Apache-2.0
# Versions that compiling depends on, and whether the result is to run on the emulator.

from cuda.bindings.cydriver cimport CUDA_SUCCESS, cuDriverGetVersion

cdef int found_nvrtc_version = 0  # 1000 * major + minor
cdef int found_driver_version = 0


def nvrtc_version():
    """Major and minor version of NVRTC; asked once."""
    global found_nvrtc_version
    if not found_nvrtc_version:
        major, minor = version_of_nvrtc()
        found_nvrtc_version = 1000 * major + minor
    return divmod(found_nvrtc_version, 1000)


cdef int driver_version() except -1:
    """CUDA version of the driver, as in 13050; 0 when there is none: it may still come."""
    global found_driver_version
    if not found_driver_version:
        try:
            if cuDriverGetVersion(&found_driver_version) != CUDA_SUCCESS:
                return 0
        except RuntimeError:  # the library is missing
            return 0
    return found_driver_version


def _can_load_generated_ptx():
    """Whether the driver is new enough for the PTX that NVRTC writes; true without a driver."""
    cdef int driver = driver_version()
    major, minor = nvrtc_version()
    return not driver or 1000 * major + 10 * minor <= driver


cdef bint runs_on_emulator():
    """Whether driver calls go, or will go, to the emulator."""
    return _low.is_emulated()
