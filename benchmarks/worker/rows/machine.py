# SPDX-License-Identifier: Apache-2.0
"""cuda.core.system: what a monitor asks of a device in each round."""

from rows import row

# Name of the row: expression, with `d` the device.
ASKED = {
    "system.Device.name": "d.name",
    "system.Device.memory_info.free": "d.memory_info.free",
    "system.Device.utilization.gpu": "d.utilization.gpu",
    "system temperature": "d.temperature.get_sensor()",
    "system clock": "clock.get_current_mhz()",
    "system field value": "d.get_field_values([186])[0].value",
    "system processes": "d.compute_running_processes",
}


def asking(expression):
    """Of the row of an expression: what makes the function that is timed."""

    def prepare(world):
        from cuda.core import system

        device = system.Device(index=0)
        return eval(f"lambda: {expression}", {"d": device, "clock": device.get_clock("sm")})

    return prepare


for name, expression in ASKED.items():
    row(name, target=10000)(asking(expression))
