# SPDX-License-Identifier: Apache-2.0
"""PyTorch allocates from our resource, also on the threads of a backward pass."""

import gc

import torch
from cuda.core import (
    Device,
    DeviceMemoryResource,
    LimitingMemoryResource,
    StatisticsMemoryResource,
)
from cuda.core.interop import torch_allocator

N = 1000
LIMIT = 1 << 30

device = Device()
device.set_current()
mr = StatisticsMemoryResource(LimitingMemoryResource(DeviceMemoryResource(device), LIMIT))
allocator = torch.cuda.memory.CUDAPluggableAllocator(*torch_allocator(mr))
torch.cuda.memory.change_current_allocator(allocator)

x = torch.arange(N, dtype=torch.float32, device="cuda", requires_grad=True)
assert mr.statistics()["allocated_bytes.current"] >= 4 * N
loss = (x * x).sum()
loss.backward()
assert torch.equal(x.grad.cpu(), 2 * torch.arange(N, dtype=torch.float32))
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    y = torch.ones(N, device="cuda") + 1
    assert y.sum().item() == 2 * N
assert torch.empty(0, device="cuda").numel() == 0
try:
    torch.empty(LIMIT + 1, dtype=torch.uint8, device="cuda")
except RuntimeError as error:
    output = str(error).split(":")[0]
else:
    raise AssertionError("the limit was not kept")
z = torch.full((N,), 3.0, device="cuda")
assert z.sum().item() == 3 * N  # it continues after the refusal
del x, y, z, loss
gc.collect()
torch.cuda.synchronize()
figures = mr.statistics()
assert figures["allocation_count.current"] <= 1, figures  # workspaces that PyTorch retains
print(
    f"PyTorch took {figures['allocated_bytes.total']} bytes and gave them back; too much: {output}"
)
refs = torch.ones(N, device="cuda")  # freed at process exit
