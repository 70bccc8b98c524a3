# SPDX-License-Identifier: Apache-2.0
"""Deprecated names of `cuda.core.system` from before release 1.0."""

import warnings
from importlib import import_module

_ROOT = "cuda.core.system"
# Enums and helper classes that moved. They are the same objects, so no warning is needed.
_MOVED = {
    "typing": (
        "AddressingMode AffinityScope ClockId ClockType ClocksEventReasons CoolerControl "
        "CoolerTarget DeviceArch EventType FanControlPolicy FieldId GpuP2PCapsIndex GpuP2PStatus "
        "GpuTopologyLevel InforomObject SystemEventType TemperatureThresholds ThermalController "
        "ThermalTarget"
    ),
    "_device": (
        "BAR1MemoryInfo ClockInfo ClockOffsets CoolerInfo DeviceAttributes DeviceEvents EventData "
        "FanInfo FieldValue FieldValues GpuDynamicPstatesInfo GpuDynamicPstatesUtilization "
        "InforomInfo MemoryInfo MigInfo PciInfo ProcessInfo RepairStatus Temperature "
        "ThermalSensor ThermalSettings Utilization"
    ),
    "_system_events": "RegisteredSystemEvents SystemEvent SystemEvents",
}
_HOME_OF = {name: home for home, names in _MOVED.items() for name in names.split()}


def _system():
    return import_module(f"{_ROOT}._system")


def _driver_version():
    return _system().get_user_mode_driver_version()


def _num_devices():
    return _system()._query_driver("cuDeviceGetCount")


def _devices():
    from cuda.core import Device

    return tuple(Device(ordinal) for ordinal in range(_num_devices()))


def get_driver_version(kernel_mode=False):
    """Return the driver's CUDA version, or its kernel-mode version. Host only."""
    system = _system()
    return (
        system.get_kernel_mode_driver_version()
        if kernel_mode
        else system.get_user_mode_driver_version()
    )


def get_driver_version_full(kernel_mode=False):
    """Return the version of `get_driver_version` as three numbers. Host only."""
    return (*get_driver_version(kernel_mode), 0, 0)[:3]


_FUNCTIONS = {
    "get_driver_version": get_driver_version,
    "get_driver_version_full": get_driver_version_full,
}
_VALUES = {
    "driver_version": (_driver_version, "get_user_mode_driver_version()"),
    "num_devices": (_num_devices, "get_num_devices()"),
    "devices": (_devices, "Device.get_all_devices()"),
}
_VERSIONS = "get_user_mode_driver_version() or get_kernel_mode_driver_version()"


def resolve_old_name(name):
    """Return the object of a deprecated module attribute; raise AttributeError otherwise."""
    if name in _HOME_OF:
        return getattr(import_module(f"{_ROOT}.{_HOME_OF[name]}"), name)
    if name in _FUNCTIONS:
        _warn(name, _VERSIONS)
        return _FUNCTIONS[name]
    if name in _VALUES:
        value, new = _VALUES[name]
        _warn(name, new)
        return value()
    raise AttributeError(f"module {_ROOT!r} has no attribute {name!r}")


def _warn(old, new):
    text = f"{_ROOT}.{old} is deprecated: use {_ROOT}.{new}"
    warnings.warn(text, DeprecationWarning, stacklevel=4)
