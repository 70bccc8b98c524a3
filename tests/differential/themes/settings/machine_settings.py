# SPDX-License-Identifier: Apache-2.0
"""Machine settings of cuda.core.system, which outlive the process."""

from cuda.core import system

device = system.Device(index=0)


def set_on(thing, name, value):
    setattr(thing, name, value)
    return getattr(thing, name)


CASES = [
    lambda: set_on(device, "is_persistence_mode_enabled", True),
    lambda: set_on(device.get_fan(), "speed", 55),
    lambda: device.get_fan().control_policy,
    lambda: device.get_fan().speed_rpm,
    lambda: device.get_fan().set_default_speed(),
    lambda: set_on(device.get_fan(), "speed", 101),
    lambda: device.clear_field_values([94]),
    lambda: device.clear_field_values([]),
    lambda: set_on(device.mig, "mode", True),
]
