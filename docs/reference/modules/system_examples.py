# SPDX-License-Identifier: Apache-2.0
"""Examples of the page on the machine."""

from cuda.core import system

# example: system.Device
for device in system.Device.get_all_devices():
    print(device.name, device.memory_info.used, device.utilization.gpu)

# example: system.get_num_devices
assert system.get_num_devices() >= 0

# example: system.get_process_name
import os

print(system.get_process_name(os.getpid()))

# example: system.NvlinkInfo
device = system.Device(index=0)
for number in range(device.get_nvlink_count()):
    print(device.get_nvlink(number).state)
