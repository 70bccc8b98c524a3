# SPDX-License-Identifier: Apache-2.0
"""Versions of the drivers, the number of devices, and process names."""

from cuda.core.system import CUDA_BINDINGS_NVML_IS_COMPATIBLE
from cuda.core.system._numbers import integer
from cuda.core.system._nvml_context import initialize, is_initialized, nvml

__all__ = [
    "CUDA_BINDINGS_NVML_IS_COMPATIBLE",
    "get_driver_branch",
    "get_kernel_mode_driver_version",
    "get_num_devices",
    "get_nvml_version",
    "get_process_name",
    "get_user_mode_driver_version",
]


def _has_nvml():
    """Return whether NVML is usable; it can be missing although a CUDA driver exists."""
    if is_initialized():
        return True
    from cuda.pathfinder import DynamicLibNotFoundError

    try:
        initialize()
    except DynamicLibNotFoundError:
        return False
    except (nvml.DriverNotLoadedError, nvml.LibraryNotFoundError):
        return False
    return True


def _query_driver(function):
    """Return the result of a CUDA driver function, or 0 without a driver."""
    from cuda.bindings import driver
    from cuda.pathfinder import DynamicLibNotFoundError

    try:
        if function != "cuDriverGetVersion":
            driver.cuInit(0)
        status, value = getattr(driver, function)()
    except DynamicLibNotFoundError:
        return 0
    return value if status == driver.CUresult.CUDA_SUCCESS else 0


def _numbers(text):
    return tuple(int(part) for part in text.split("."))


def get_user_mode_driver_version() -> tuple[int, int]:
    """Return the driver's CUDA version as (major, minor). Host only.

    Without NVML the function queries the CUDA driver.

    Raises
    ------
    RuntimeError
        If neither NVML nor a CUDA driver exists.

    See Also
    --------
    nvmlSystemGetCudaDriverVersion_v2, cuDriverGetVersion : the queried functions.
    """
    if _has_nvml():
        version = nvml.system_get_cuda_driver_version_v2()
    else:
        version = _query_driver("cuDriverGetVersion")
        if not version:
            raise RuntimeError(
                "cannot query the CUDA driver version: neither NVML (libnvidia-ml.so.1) nor a "
                "driver (libcuda.so.1) was found; install the NVIDIA driver, or "
                "set HALFWARP_BACKEND=emulator (or auto)"
            )
    return version // 1000, version % 1000 // 10


def get_kernel_mode_driver_version() -> tuple[int, ...]:
    """Return the version of the kernel-mode driver, for example (580, 95, 5). Host only.

    Some versions have two numbers only.

    See Also
    --------
    nvmlSystemGetDriverVersion : the NVML function.
    """
    initialize()
    return _numbers(nvml.system_get_driver_version())


def get_nvml_version() -> tuple[int, ...]:
    """Return the version of NVML. Host only.

    See Also
    --------
    nvmlSystemGetNVMLVersion : the NVML function.
    """
    initialize()
    return _numbers(nvml.system_get_nvml_version())


def get_driver_branch() -> str:
    """Return the driver's development branch, for example ``"r580_00"``. Host only.

    See Also
    --------
    nvmlSystemGetDriverBranch : the NVML function.
    """
    initialize()
    return nvml.system_get_driver_branch()


def get_num_devices() -> int:
    """Return the number of devices; ``CUDA_VISIBLE_DEVICES`` has no effect. Host only.

    Without NVML it is the number of devices visible to CUDA; 0 without a driver.

    See Also
    --------
    nvmlDeviceGetCount_v2, cuDeviceGetCount : the queried functions.
    """
    return nvml.device_get_count_v2() if _has_nvml() else _query_driver("cuDeviceGetCount")


def get_process_name(pid: int) -> str:
    """Return the name of a process that uses a device. Host only.

    Parameters
    ----------
    pid
        The process id.

    Raises
    ------
    NotFoundError
        If the process does not exist, or uses no device.

    See Also
    --------
    nvmlSystemGetProcessName : the NVML function.
    """
    number = integer(pid, "pid")
    initialize()
    # NVML resolves only names of processes that it has listed.
    for index in range(nvml.device_get_count_v2()):
        try:
            nvml.device_get_compute_running_processes_v3(nvml.device_get_handle_by_index_v2(index))
        except nvml.NvmlError:
            continue  # a device that fails must not hide processes of other devices
    return _in_plain_locale(lambda: nvml.system_get_process_name(number))


def _in_plain_locale(query):
    """Return `query()`; on WSL under the "C" locale, which NVML uses to convert names."""
    import os

    if "microsoft" not in os.uname().release.lower():
        return query()
    import ctypes

    library = ctypes.CDLL(None)
    library.newlocale.restype = library.uselocale.restype = ctypes.c_void_p
    library.newlocale.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p]
    library.uselocale.argtypes = library.freelocale.argtypes = [ctypes.c_void_p]
    every_category = 0x1FBF  # LC_ALL_MASK of glibc
    plain = library.newlocale(every_category, b"C", None)
    previous = library.uselocale(plain)
    try:
        return query()
    finally:
        library.uselocale(previous)
        library.freelocale(plain)
