# SPDX-License-Identifier: Apache-2.0
"""nvidia-ml-py (pynvml): queries of monitoring tools for each device, with memory allocated by
ours."""

import pynvml
from cuda.core import Device, emulation

pynvml.nvmlInit()
count = pynvml.nvmlDeviceGetCount()
for index in range(count):
    handle = pynvml.nvmlDeviceGetHandleByIndex(index)
    uuid = pynvml.nvmlDeviceGetUUID(handle)
    by_uuid = pynvml.nvmlDeviceGetHandleByUUID(uuid)
    assert pynvml.nvmlDeviceGetName(by_uuid) == pynvml.nvmlDeviceGetName(handle) != ""
    assert pynvml.nvmlDeviceGetPciInfo(handle).busId.count(":") == 2
    assert 0 < pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU) < 150
    assert pynvml.nvmlDeviceGetPowerUsage(handle) > 0
    assert pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM) > 0
    assert 0 <= pynvml.nvmlDeviceGetUtilizationRates(handle).gpu <= 100
    assert pynvml.nvmlDeviceGetCudaComputeCapability(handle) >= (5, 0)

device = Device(0)
device.set_current()
stream = device.default_stream
handle = pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{device.uuid}")
held = []
for _ in range(10):  # other processes may free and allocate memory of a GPU in between
    before = pynvml.nvmlDeviceGetMemoryInfo(handle, version=pynvml.nvmlMemory_v2)
    held.append(device.allocate(64 << 20, stream=stream))
    stream.sync()
    during = pynvml.nvmlDeviceGetMemoryInfo(handle, version=pynvml.nvmlMemory_v2)
    processes = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
    assert before.total == during.total and processes
    if during.used - before.used >= 64 << 20:
        break
# The first version of the struct counts the driver's reserve as used.
assert pynvml.nvmlDeviceGetMemoryInfo(handle).total == during.total
assert not emulation.is_active() or during.used - before.used >= 64 << 20
for buffer in held:
    buffer.close()
try:
    pynvml.nvmlDeviceGetHandleByIndex(count)
except pynvml.NVMLError_InvalidArgument:
    pynvml.nvmlShutdown()
print(f"{count} device(s) watched, the memory in use changed by", end=" ")
print(f"{(during.used - before.used) / 2**20} MiB")
