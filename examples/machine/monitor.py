# SPDX-License-Identifier: Apache-2.0
"""Watches the devices of the machine: a table that is written anew, as `nvidia-smi` has it.

Prints one line a device: memory, utilization, temperature, power, clock, processes. Two tables,
half a second apart, or as many as the argument says. On the emulator the memory alone is true.
"""

import sys
import time

from cuda.core import system
from cuda.core.system.typing import FieldId

HEAD = (
    f"{'device':32}{'memory MiB':>16}{'busy':>6}{'temp':>6}{'power':>9}{'SM clock':>10}  processes"
)


def asked(question, unit=""):
    """The answer as a text; a dash where the board has none."""
    try:
        return f"{question():.0f}{unit}"
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
        f"{asked(lambda: device.utilization.gpu, ' %'):>6}"
        f"{asked(device.temperature.get_sensor, ' C'):>6}"
        f"{asked(lambda: watts(device), ' W'):>9}"
        f"{asked(device.get_clock('sm').get_current_mhz, ' MHz'):>10}  {processes or '-'}"
    )


def main() -> int:
    tables = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    devices = list(system.Device.get_all_devices())
    for number in range(tables):
        if number:
            time.sleep(0.5)
            if sys.stdout.isatty():
                print(f"\x1b[{len(devices) + 1}A", end="")  # up, over the table before
        print(HEAD, *map(line, devices), sep="\n")
    print(
        f"CUDA {'.'.join(map(str, system.get_user_mode_driver_version()))}, {len(devices)} in all"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
