# SPDX-License-Identifier: Apache-2.0
"""cuda.core.system: typical queries of a monitor."""

from rows import row

# name of the row -> expression, with `d` the device
EXPRESSIONS = {
    "system.Device.name": "d.name",
    "system.Device.memory_info.free": "d.memory_info.free",
    "system.Device.utilization.gpu": "d.utilization.gpu",
    "system temperature": "d.temperature.get_sensor()",
    "system clock": "clock.get_current_mhz()",
    "system field value": "d.get_field_values([186])[0].value",
    "system processes": "d.compute_running_processes",
}


def query(expression):
    """Return a function that prepares the query of a row."""

    def prepare(world):
        from cuda.core import system

        device = system.Device(index=0)
        return eval(f"lambda: {expression}", {"d": device, "clock": device.get_clock("sm")})

    return prepare


for name, expression in EXPRESSIONS.items():
    row(name, target=10000)(query(expression))
