# SPDX-License-Identifier: Apache-2.0
"""Examples of the page on kernels and launches."""

from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

device = Device()
device.set_current()
stream = device.create_stream()
source = (
    'extern "C" __global__ void add(int* x, int n) { if (threadIdx.x < n) x[threadIdx.x] += 1; }'
)
options = ProgramOptions(arch=f"sm_{device.arch}")
kernel = Program(source, "c++", options).compile("cubin").get_kernel("add")
memory = device.allocate(1024, stream=stream)
memory.fill(0, stream=stream)

# example: LaunchConfig
config = LaunchConfig(grid=1, block=256, shmem_size=0)
assert config.grid == (1, 1, 1) and config.block == (256, 1, 1)

# example: launch
config = LaunchConfig(grid=1, block=256)
launch(stream, config, kernel, memory, 256)

# example: Kernel
print(kernel.num_arguments, kernel.attributes.num_regs)

# example: Kernel.attributes, _core.KernelAttributes
attributes = kernel.attributes
print(attributes.num_regs, attributes.max_threads_per_block, attributes.shared_size_bytes)

# example: Kernel.occupancy, _core.KernelOccupancy, _core.MaxPotentialBlockSizeOccupancyResult
blocks = kernel.occupancy.max_active_blocks_per_multiprocessor(256, 0)
suggested = kernel.occupancy.max_potential_block_size(0, 0)
print(blocks, suggested.min_grid_size, suggested.max_block_size)

# example: Kernel.prepare, PreparedLaunch
prepared = kernel.prepare(config, memory, 256)
for _ in range(3):
    prepared(stream)
prepared[1] = 10  # another argument
prepared(stream)

# example: Kernel.arguments_info, _core.ParamInfo
assert [(info.offset, info.size) for info in kernel.arguments_info] == [(0, 8), (8, 4)]

# example: AccessPolicyWindow
from cuda.core import AccessPolicyWindow

window = AccessPolicyWindow(memory, hit_ratio=0.5, hit="persisting")
launch(stream, LaunchConfig(grid=1, block=256, access_policy_window=window), kernel, memory, 256)

# example: host_launch
from cuda.core import host_launch

host_launch(stream, lambda: print("the kernel is complete"))
stream.sync()

# example: recent_launches, _core.LaunchRecord
from cuda.core import recent_launches

last = recent_launches()[0]
print(last.kernel, last.grid, last.block, last.count)
