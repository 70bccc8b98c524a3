# SPDX-License-Identifier: Apache-2.0
"""Sensors and events that NVML reports for emulated devices."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from cuda.core.arguments.shown import shown
from cuda.core.emulation import library

if TYPE_CHECKING:
    from typing import SupportsIndex


def sensors(device: SupportsIndex = 0) -> dict[str, int]:
    """Return the sensor values that NVML reports for an emulated device.

    Host only. Temperatures are in degrees Celsius, power in milliwatts, utilizations and fans in
    percent, clocks in MHz, bus throughput in KB/s; kinds and states are NVML's numbers.

    Parameters
    ----------
    device
        The index of the device.

    Raises
    ------
    ValueError
        If the device does not exist.
    """
    names = library.sensor_names()
    return {name: library.read_sensor(operator.index(device), name) for name in names}


def set_sensors(device: SupportsIndex = 0, **values: SupportsIndex) -> None:
    """Set the sensor values that NVML reports for an emulated device.

    Host only. `reset` restores the initial values.

    Parameters
    ----------
    device
        The index of the device.
    **values
        New values by the names that `sensors` returns.

    Raises
    ------
    ValueError
        If the device or a sensor does not exist, or a value is out of range.
        No sensor changes then.
    """
    index = operator.index(device)
    previous = sensors(index)
    numbers = {name: operator.index(value) for name, value in values.items()}
    for name in numbers:
        if name not in previous:
            raise ValueError(f"unknown sensor {shown(name)}; known sensors: {', '.join(previous)}")
    for name, value in numbers.items():
        try:
            library.set_sensor(index, name, value)
        except ValueError:
            for earlier in numbers:
                library.set_sensor(index, earlier, previous[earlier])
            raise


def post_event(event: str, device: SupportsIndex = 0, data: SupportsIndex = 0) -> int:
    """Post an event of an emulated device to all NVML event sets that wait for it.

    Host only.

    Parameters
    ----------
    event
        A member of `cuda.core.system.typing.EventType` or `SystemEventType`, or its string.
    device
        The index of the device.
    data
        Number of an Xid error.

    Returns
    -------
    int
        Number of event sets that received the event.

    Raises
    ------
    ValueError
        If the event or device does not exist.
    """
    from cuda.core.system import typing
    from cuda.core.system._numbers import EVENT_TYPE, SYSTEM_EVENT_TYPE

    is_of_system = event in tuple(typing.SystemEventType)
    number = (SYSTEM_EVENT_TYPE if is_of_system else EVENT_TYPE).number(event)
    return library.post_event(operator.index(device), number, operator.index(data), is_of_system)
