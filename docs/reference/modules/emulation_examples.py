# SPDX-License-Identifier: Apache-2.0
"""Examples of the page on the emulator."""

from cuda.core import Device, emulation

emulation.enable(mode="adversarial", seed=7, check="race")  # before the first call of CUDA
device = Device()
device.set_current()
stream = device.create_stream()

# example: emulation.enable
assert emulation.is_active()

# example: emulation.Fault, emulation.faults
with emulation.expect_fault("double-free"):
    from cuda.bindings import driver

    code, address = driver.cuMemAlloc(64)
    driver.cuMemFree(address)
    driver.cuMemFree(address)
fault = emulation.last_fault()
if fault is not None:
    print(fault.kind, fault)

# example: emulation.Leak, emulation.leaks
code, forgotten = driver.cuMemAlloc(64)
assert [leak.bytes for leak in emulation.leaks() if leak.id == int(forgotten)] == [64]
driver.cuMemFree(forgotten)

# example: emulation.Rule, emulation.inject
import pytest
from cuda.core import OutOfMemoryError

with emulation.inject("cuMemAllocFromPoolAsync", nth=1) as rule:
    with pytest.raises(OutOfMemoryError):
        device.allocate(64, stream=stream)
print(rule)

# example: emulation.Allocation, emulation.EarlierAccess, emulation.Origin, emulation.origin
memory = device.allocate(64, stream=stream)
memory.fill(1, stream=stream)
stream.sync()
for write in emulation.origin(memory):  # who wrote these bytes?
    print(write)

# example: emulation.stats
print(emulation.stats()["faults"])

# example: emulation.Profile, emulation.KernelCounts, emulation.Counts, emulation.LineCounts
from cuda.core import LaunchConfig, Program, ProgramOptions, launch

source = 'extern "C" __global__ void add(int* x) { x[threadIdx.x] += 1; }'
options = ProgramOptions(arch=f"sm_{device.arch}", lineinfo=True)
kernel = Program(source, "c++", options).compile("cubin").get_kernel("add")
numbers = device.allocate(128, stream=stream)
numbers.fill(0, stream=stream)
with emulation.profile() as profile:
    launch(stream, LaunchConfig(grid=1, block=32), kernel, numbers)
    stream.sync()
print(profile["add"].instructions, [line.line for line in profile["add"].lines])
