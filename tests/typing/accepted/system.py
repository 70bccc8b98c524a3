# SPDX-License-Identifier: Apache-2.0
"""Typical code for cuda.core.system."""

from collections.abc import Iterator

import cuda.core
from cuda.core import emulation, system
from cuda.core.system.typing import ClockType, EventType, FieldId

count: int = system.get_num_devices()
version: tuple[int, int] = system.get_user_mode_driver_version()
kernel: tuple[int, ...] = system.get_kernel_mode_driver_version()

device = system.Device(index=0)
other = system.Device(uuid=device.uuid.encode())
every: Iterator[system.Device] = system.Device.get_all_devices()
there: cuda.core.Device = device.to_cuda_device()
back: system.Device = there.to_system_device()

used: int = device.memory_info.used
busy: int = device.utilization.gpu
degrees: int = device.temperature.get_sensor()
clock: int = device.get_clock(ClockType.SM).get_current_mhz("current")
least, most = device.get_clock("memory").get_min_max_clock_of_pstate_mhz(0)
state: int | None = device.performance_state
device.is_persistence_mode_enabled = True
device.get_fan().speed = 50

values = device.get_field_values([FieldId.DEV_POWER_INSTANT, (FieldId.DEV_NVLINK_LINK_COUNT, 0)])
power: int | float = values[0].value
names = [each.field_id for each in values]

try:
    came = device.register_events([EventType.CLOCK, "pstate"]).wait(timeout_ms=5)
    kind: EventType = came.event_type
except system.TimeoutError as error:
    print(error)
except (system.NotSupportedError, system.NvmlError):
    raise

pids = [process.pid for process in device.compute_running_processes]
status = system.get_p2p_status(device, other, "read")
heat: int = emulation.sensors()["temperature"]
emulation.set_sensors(temperature=80)
output: int = emulation.post_event("clock")
