# SPDX-License-Identifier: Apache-2.0
"""What the management library (NVML) tells of emulated devices, beyond what is true of them."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from cuda.core.emulation import library

if TYPE_CHECKING:
    from typing import SupportsIndex


def sensors(device: SupportsIndex = 0) -> dict[str, int]:
    """The sensors of an emulated device: what NVML says of it that nothing measures.

    Host only. Temperatures are in degrees Celsius, power in milliwatts, utilizations and fans in
    percent, clocks in MHz, traffic on the bus in KB/s; kinds and states are NVML's numbers.

    Parameters
    ----------
    device
        The index of the device.

    Raises
    ------
    ValueError
        If there is no such device.
    """
    names = library.sensor_names()
    return {name: library.read_sensor(operator.index(device), name) for name in names}


def set_sensors(device: SupportsIndex = 0, **values: SupportsIndex) -> None:
    """Set sensors of an emulated device, for all that read them through NVML from then on.

    Host only. `reset` brings the values of the beginning back.

    Parameters
    ----------
    device
        The index of the device.
    **values
        By the names that `sensors` has.

    Raises
    ------
    ValueError
        If there is no such device or sensor, or the value is out of range. Nothing is set then.
    """
    index = operator.index(device)
    before = sensors(index)
    given = {name: operator.index(value) for name, value in values.items()}
    for name in given:
        if name not in before:
            raise ValueError(f"there is no sensor {name!r}; there are: {', '.join(before)}")
    for name, value in given.items():
        try:
            library.set_sensor(index, name, value)
        except ValueError:
            for earlier in given:
                library.set_sensor(index, earlier, before[earlier])
            raise


def post_event(event: str, device: SupportsIndex = 0, data: SupportsIndex = 0) -> int:
    """Let something happen to an emulated device: who waits for it through NVML is told.

    Host only.

    Parameters
    ----------
    event
        A member of `cuda.core.system.typing.EventType` or `SystemEventType`, or its string.
    device
        The index of the device.
    data
        The number of an Xid error.

    Returns
    -------
    int
        How many sets of events were told.

    Raises
    ------
    ValueError
        If there is no such event or device.
    """
    from cuda.core.system import typing
    from cuda.core.system._numbers import EVENT_TYPE, SYSTEM_EVENT_TYPE

    is_of_system = event in tuple(typing.SystemEventType)
    number = (SYSTEM_EVENT_TYPE if is_of_system else EVENT_TYPE).number(event)
    return library.post_event(operator.index(device), number, operator.index(data), is_of_system)
