# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's cuda-core: values that its `system` module reads through NVML."""

from cuda.bindings import nvml
from cuda.core import Device, system

devices = [system.Device(index=index) for index in range(system.get_num_devices())]
assert devices and system.get_user_mode_driver_version() >= (12, 0)

device = Device()
(same,) = (each for each in devices if each.uuid.removeprefix("GPU-") == device.uuid)
assert same.name == device.name
memory = same.memory_info
assert 0 <= memory.used <= memory.total > 0

nvml.init_v2()
handle = nvml.device_get_handle_by_uuid(same.uuid)
assert nvml.device_get_name(handle) == device.name
assert nvml.device_get_memory_info_v2(handle).total == memory.total
nvml.shutdown()
print(f"{len(devices)} device(s) with NVML, {same.name}")
