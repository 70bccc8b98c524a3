# SPDX-License-Identifier: Apache-2.0
"""clusterlaunchcontrol: running blocks take the work of clusters that have not started."""

import json

import pytest

CODE = """
import json
import sys
import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions
from cuda.core import launch

text = '''
extern "C" __global__ void work(int* visits, int* owners) {
  __shared__ alignas(16) int response[4]; __shared__ unsigned long long barrier;
  unsigned to = __cvta_generic_to_shared(response), at = __cvta_generic_to_shared(&barrier);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(at) : "memory");
  __syncthreads();
  int x = blockIdx.x, y = blockIdx.y, z = blockIdx.z;
  for (int phase = 0; ; phase ^= 1) {
    if (threadIdx.x == 0) {
      atomicAdd(visits + x + gridDim.x * (y + gridDim.y * z), 1);
      owners[x + gridDim.x * (y + gridDim.y * z)] = blockIdx.x;
      asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta"
        ".mbarrier::complete_tx::bytes.b128 [%0], [%1];" :: "r"(to), "r"(at) : "memory");
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 16;" :: "r"(at) : "memory");
    }
    int done = 0, granted, ignored;
    while (!done) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2;"
      " selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at), "r"(phase) : "memory");
    asm volatile("{ .reg .b128 r; .reg .pred p; ld.shared.b128 r, [%4];"
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, r; selp.u32 %0, 1, 0, p;"
      "@p clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%1, %2, %3, _}, r;"
      "@p clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %2, r; }"
      : "=r"(granted), "+r"(x), "+r"(y), "+r"(z) : "r"(to) : "memory");
    if (!granted) return;
    __syncthreads();
  }
}
'''
device = Device()
device.set_current()
stream = device.create_stream()
grid = tuple(map(int, sys.argv[1:]))
count = int(np.prod(grid))
memory = LegacyPinnedMemoryResource()
code = Program(text, "c++", ProgramOptions(arch="sm_100")).compile("ptx")
with memory.allocate(4 * count) as visits, memory.allocate(4 * count) as owners:
    numbers = [np.from_dlpack(b).view("i4") for b in (visits, owners)]
    numbers[0][:] = 0
    launch(stream, LaunchConfig(grid=grid, block=32), code.get_kernel("work"), visits, owners)
    stream.sync()
    print(json.dumps([n.tolist() for n in numbers]))
"""


@pytest.mark.parametrize("options", [{}, {"seed": 5}, {"mode": "adversarial"}, {"threads": 2}])
def test_each_block_of_the_grid_is_worked_on_once(run_emulated, options):
    done = run_emulated(CODE, "5", "4", "3", cc="10.0", **options)
    visits, owners = json.loads(done.stdout)
    assert visits == [1] * 60
    assert len(set(owners)) <= 5
