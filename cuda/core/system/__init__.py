# SPDX-License-Identifier: Apache-2.0
"""Information about the machine's drivers and devices from the management library (NVML).

No function creates a context. The first call that needs NVML opens it; a name is imported when it
is first used.
"""

from importlib import import_module

CUDA_BINDINGS_NVML_IS_COMPATIBLE = True  # both come in one package

_HOMES = {
    "_system": (
        "get_driver_branch get_kernel_mode_driver_version get_num_devices get_nvml_version "
        "get_process_name get_user_mode_driver_version"
    ),
    "_device": "Device",
    "_board": "NvlinkInfo",
    "_system_events": "register_events",
    "_topology": "get_p2p_status get_topology_common_ancestor",
    "exceptions": (
        "AlreadyInitializedError ArgumentVersionMismatchError CorruptedInforomError "
        "DeprecatedError DriverNotLoadedError FreqNotSupportedError FunctionNotFoundError "
        "GpuIsLostError GpuNotFoundError InUseError InsufficientPowerError "
        "InsufficientResourcesError InsufficientSizeError InvalidArgumentError InvalidStateError "
        "IrqIssueError LibRmVersionMismatchError LibraryNotFoundError MemoryError NoDataError "
        "NoPermissionError NotFoundError NotReadyError NotSupportedError NvmlError "
        "OperatingSystemError ResetRequiredError ResetTypeNotSupportedError TimeoutError "
        "UninitializedError UnknownError VgpuEccNotSupportedError"
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}
_SUBMODULES = ("exceptions", "typing")
_PRIVATE_MODULES = ("_device", "_nvml_context", "_system", "_system_events")

__all__ = sorted({"CUDA_BINDINGS_NVML_IS_COMPATIBLE", *_HOME_OF})


def __getattr__(name):
    if name in _HOME_OF:
        value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
        globals()[name] = value
        return value
    if name in _SUBMODULES or name in _PRIVATE_MODULES:
        return import_module(f"{__name__}.{name}")
    return import_module(f"{__name__}._old_spellings").resolve_old_name(name)


def __dir__():
    shown = (name for name in globals() if name.startswith("__"))
    return sorted({*shown, *__all__, *_SUBMODULES})
