# SPDX-License-Identifier: Apache-2.0
"""The versions of what drives the devices, how many there are, and the names of processes."""

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
    """Whether NVML can be asked: it may be missing where CUDA's driver is there."""
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


def _ask_driver(function):
    """What a function of CUDA's driver answers, or 0 where there is none."""
    from cuda.bindings import driver
    from cuda.pathfinder import DynamicLibNotFoundError

    try:
        if function != "cuDriverGetVersion":
            driver.cuInit(0)
        status, answer = getattr(driver, function)()
    except DynamicLibNotFoundError:
        return 0
    return answer if status == driver.CUresult.CUDA_SUCCESS else 0


def _numbers(text):
    return tuple(int(part) for part in text.split("."))


def get_user_mode_driver_version() -> tuple[int, int]:
    """The CUDA version of the driver, as (major, minor). Host only.

    Without NVML it is asked of CUDA's driver.

    Raises
    ------
    RuntimeError
        If there is neither.

    See Also
    --------
    nvmlSystemGetCudaDriverVersion_v2, cuDriverGetVersion : the functions that are asked.
    """
    if _has_nvml():
        version = nvml.system_get_cuda_driver_version_v2()
    else:
        version = _ask_driver("cuDriverGetVersion")
        if not version:
            raise RuntimeError(
                "the version of the CUDA driver is not known: there is neither NVML "
                "(libnvidia-ml.so.1) nor a driver (libcuda.so.1); install the NVIDIA driver, or "
                "set HALFWARP_BACKEND=emulator (or auto)"
            )
    return version // 1000, version % 1000 // 10


def get_kernel_mode_driver_version() -> tuple[int, ...]:
    """The version of the driver in the kernel, for instance (580, 95, 5). Host only.

    It has two parts on some systems.

    See Also
    --------
    nvmlSystemGetDriverVersion : the NVML function.
    """
    initialize()
    return _numbers(nvml.system_get_driver_version())


def get_nvml_version() -> tuple[int, ...]:
    """The version of NVML. Host only.

    See Also
    --------
    nvmlSystemGetNVMLVersion : the NVML function.
    """
    initialize()
    return _numbers(nvml.system_get_nvml_version())


def get_driver_branch() -> str:
    """The branch of development that the driver is of, for instance ``"r580_00"``. Host only.

    See Also
    --------
    nvmlSystemGetDriverBranch : the NVML function.
    """
    initialize()
    return nvml.system_get_driver_branch()


def get_num_devices() -> int:
    """How many devices the machine has, whatever ``CUDA_VISIBLE_DEVICES`` says. Host only.

    Without NVML it is how many CUDA's driver sees; 0 if there is none.

    See Also
    --------
    nvmlDeviceGetCount_v2, cuDeviceGetCount : the functions that are asked.
    """
    return nvml.device_get_count_v2() if _has_nvml() else _ask_driver("cuDeviceGetCount")


def get_process_name(pid: int) -> str:
    """The name of a process that uses a device. Host only.

    Parameters
    ----------
    pid
        The number of the process.

    Raises
    ------
    NotFoundError
        If there is no such process, or it uses no device.

    See Also
    --------
    nvmlSystemGetProcessName : the NVML function.
    """
    number = integer(pid, "pid")
    initialize()
    # NVML knows only the processes that it has listed.
    for index in range(nvml.device_get_count_v2()):
        try:
            nvml.device_get_compute_running_processes_v3(nvml.device_get_handle_by_index_v2(index))
        except nvml.NvmlError:
            continue  # a device that lists none, or is lost, does not hide those of the others
    return _in_plain_locale(lambda: nvml.system_get_process_name(number))


def _in_plain_locale(ask):
    """What `ask` gives; on WSL with the locale "C", by which NVML converts a name there."""
    import os

    if "microsoft" not in os.uname().release.lower():
        return ask()
    import ctypes

    library = ctypes.CDLL(None)
    library.newlocale.restype = library.uselocale.restype = ctypes.c_void_p
    library.newlocale.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p]
    library.uselocale.argtypes = library.freelocale.argtypes = [ctypes.c_void_p]
    every_category = 0x1FBF  # LC_ALL_MASK of glibc
    plain = library.newlocale(every_category, b"C", None)
    before = library.uselocale(plain)
    try:
        return ask()
    finally:
        library.uselocale(before)
        library.freelocale(plain)
