# SPDX-License-Identifier: Apache-2.0
# Initialization of the driver at the first use.

cdef extern from *:
    """
    namespace halfwarp::core {
    static constinit std::atomic<bool> is_driver_initialized{false};
    }
    """
    bint is_driver_initialized "halfwarp::core::is_driver_initialized.load"() noexcept
    void set_driver_initialized "halfwarp::core::is_driver_initialized.store"(bint) noexcept


cdef int initialize_driver() except -1:
    if not is_driver_initialized():
        start_driver()


cdef int start_driver() except -1:
    cdef int version
    with nogil:
        call(driver.cuInit, 0)
        call(driver.cuDriverGetVersion, &version)
    set_driver_initialized(True)
    if any([name.startswith("HALFWARP_") for name in os.environ]):
        import_module("cuda.core._utils.environment").check()
    if version < 13000:
        import_module("cuda.bindings.utils").warn_if_cuda_major_version_mismatch()


cdef int driver_version() except -1:
    cdef int version
    call(driver.cuDriverGetVersion, &version)
    return version


def cuda_driver_version():
    """Return the CUDA version of the driver, for instance 13050 for 13.5. Host only."""
    return driver_version()
