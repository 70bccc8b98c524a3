# SPDX-License-Identifier: Apache-2.0
"""Monitors the devices of the machine with a table that is updated, like `nvidia-smi`.

Prints one line per device: memory, utilization, temperature, power, clock, processes. Shows two
tables, half a second apart, or the number in the argument. On the emulator only the memory is real.
"""

import sys
import time

from cuda.core import system
from cuda.core.system.typing import FieldId

HEAD = (
    f"{'device':32}{'memory MiB':>16}{'busy':>6}{'temp':>6}{'power':>9}{'SM clock':>10}  processes"
)


def queried(query, unit=""):
    """Format a query's result, or a dash if the board does not support it."""
    try:
        return f"{query():.0f}{unit}"
    except system.NotSupportedError:
        return "-"


def watts(device):
    return device.get_field_values([FieldId.DEV_POWER_INSTANT])[0].value / 1000


def line(device):
    memory = device.memory_info
    processes = ", ".join(str(each.pid) for each in device.compute_running_processes)
    return (
        f"{device.index} {device.name[:29]:30}"
        f"{f'{memory.used >> 20} of {memory.total >> 20}':>16}"
        f"{queried(lambda: device.utilization.gpu, ' %'):>6}"
        f"{queried(device.temperature.get_sensor, ' C'):>6}"
        f"{queried(lambda: watts(device), ' W'):>9}"
        f"{queried(device.get_clock('sm').get_current_mhz, ' MHz'):>10}  {processes or '-'}"
    )


def main() -> int:
    tables = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    devices = list(system.Device.get_all_devices())
    for number in range(tables):
        if number:
            time.sleep(0.5)
            if sys.stdout.isatty():
                print(f"\x1b[{len(devices) + 1}A", end="")  # moves up to overwrite the table
        print(HEAD, *map(line, devices), sep="\n")
    print(
        f"CUDA {'.'.join(map(str, system.get_user_mode_driver_version()))}, {len(devices)} in all"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
