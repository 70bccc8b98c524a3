# SPDX-License-Identifier: Apache-2.0
"""Clusters: their barrier, shared memory of other blocks, remote mbarriers, cooperative groups."""

import functools

import numpy as np
import pytest
from cuda.bindings import driver
from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    ObjectCode,
    Program,
    ProgramOptions,
    launch,
)

SOURCE = r"""
typedef unsigned u32; typedef unsigned long long u64;
__device__ u32 special(int n) {
  u32 v = 0;
  switch (n) {
    case 0: asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(v)); break;
    case 1: asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(v)); break;
    case 2: asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(v)); break;
    case 3: asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(v)); break;
    case 4: asm("mov.u32 %0, %%clusterid.x;" : "=r"(v)); break;
    case 5: asm("mov.u32 %0, %%clusterid.y;" : "=r"(v)); break;
    case 6: asm("mov.u32 %0, %%nclusterid.x;" : "=r"(v)); break;
    case 7: asm("mov.u32 %0, %%nclusterid.y;" : "=r"(v)); break;
  }
  return v;
}
__device__ void sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ u32 at(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__device__ u32 mapped(const void* p, u32 rank) {
  u32 a; asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(at(p)), "r"(rank)); return a;
}
extern "C" __global__ void registers(u32* out) {
  u32 block = blockIdx.x + gridDim.x * blockIdx.y;
  for (int i = 0; i < 8; ++i) out[8 * block + i] = special(i);
}
// each block sums what the others store
extern "C" __global__ void exchange(u32* out, int rounds) {
  __shared__ u32 values[64];
  u32 rank = special(0), blocks = special(1), sum = 0;
  for (int round = 0; round < rounds; ++round) {
    values[threadIdx.x] = 1000 * blockIdx.x + threadIdx.x + round;
    sync();
    for (u32 other = 0; other < blocks; ++other) {
      u32 value;
      asm volatile("ld.shared::cluster.u32 %0, [%1];"
                   : "=r"(value) : "r"(mapped(values + (threadIdx.x ^ 1), other)) : "memory");
      sum += value;
    }
    sync();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
// all threads of a cluster add to a histogram that its blocks share
extern "C" __global__ void histogram(u32* out) {
  __shared__ u32 bins[8];
  u32 rank = special(0), blocks = special(1);
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  sync();
  u32 bin = threadIdx.x % (8 * blocks), old, generic_rank;
  asm volatile("atom.shared::cluster.add.u32 %0, [%1], 1;"
               : "=r"(old) : "r"(mapped(bins + bin % 8, bin / 8)) : "memory");
  asm volatile("red.shared::cluster.add.u32 [%0], 1;" :: "r"(mapped(bins + bin % 8, bin / 8)));
  u64 generic;  // a generic address reaches the block too
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(generic) : "l"(bins + bin % 8), "r"(bin / 8));
  asm volatile("getctarank.u64 %0, %1;" : "=r"(generic_rank) : "l"(generic));
  atomicAdd((u32*)generic, generic_rank == bin / 8);
  sync();
  if (threadIdx.x < 8) out[8 * blockIdx.x + threadIdx.x] = bins[threadIdx.x];
}
// a ring: each block arrives at the mbarrier of the next one, after it stored there
extern "C" __global__ void ring(u32* out) {
  __shared__ u64 bar; __shared__ u32 box;
  u32 rank = special(0), next = (rank + 1) % special(1);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(at(&bar)));
  asm volatile("fence.mbarrier_init.release.cluster;");
  sync();
  if (threadIdx.x == 0) {
    asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(mapped(&box, next)), "r"(100 + rank));
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];"
                 :: "r"(mapped(&bar, next)) : "memory");
  }
  u32 done = 0;
  while (!done) asm volatile("{.reg .pred p;"
    "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
    : "=r"(done) : "r"(at(&bar)) : "memory");
  out[blockIdx.x * blockDim.x + threadIdx.x] = box;
  sync();
}
"""


@functools.cache
def compiled(source, **options):
    """Return the PTX of a source."""
    options = ProgramOptions(arch="sm_90", **options)
    return bytes(Program(source, "c++", options).compile("ptx").code)


@pytest.fixture
def run():
    device = Device()
    device.set_current()
    with device.create_stream() as stream:

        def run(name, grid, block, cluster, words, *arguments, ptx=None):
            code = ObjectCode.from_ptx(ptx or compiled(SOURCE))
            grid, size = np.atleast_1d(grid), np.atleast_1d(cluster or 1)
            if (grid % size).any():
                pytest.fail("the grid has no whole clusters")
            with LegacyPinnedMemoryResource().allocate(4 * words) as out:
                clusters = tuple(int(n) for n in grid // size)  # cuda.core counts clusters
                config = LaunchConfig(grid=clusters, block=block, cluster=cluster)
                launch(stream, config, code.get_kernel(name), out, *arguments)
                stream.sync()
                return np.from_dlpack(out).view(np.uint32).copy()

        yield run


@pytest.mark.parametrize("cluster", [(1, 1), (2, 1), (2, 2), (1, 4), (4, 2)])
def test_special_registers(run, cluster):
    width, height = 8, 4
    rows = run("registers", (width, height), 1, cluster, 8 * width * height).reshape(-1, 8)
    x, y = cluster
    expected = [
        [i % x + x * (j % y), x * y, i % x, j % y, i // x, j // y, width // x, height // y]
        for j in range(height)
        for i in range(width)
    ]
    assert rows.tolist() == expected


@pytest.mark.parametrize("size", [1, 2, 4, 8])
@pytest.mark.parametrize("threads", [32, 64, 40])
def test_blocks_read_each_other(run, size, threads):
    blocks, rounds = 16, 3
    sums = run("exchange", blocks, threads, size, blocks * threads, np.int32(rounds))
    block, thread = np.divmod(np.arange(blocks * threads), threads)
    first = block // size * size
    expected = sum(
        1000 * (first + other) + (thread ^ 1) + round
        for other in range(size)
        for round in range(rounds)
    )
    assert (sums == expected).all()


@pytest.mark.parametrize("size", [2, 4])
def test_atomic_operations_reach_other_blocks(run, size):
    bins = run("histogram", 8, 64, size, 64)
    each = 3 * size * 64 // (8 * size)  # three additions of each thread of the cluster
    assert (bins == each).all()


@pytest.mark.parametrize("size", [2, 3, 8])
def test_a_remote_arrival_completes_a_phase(run, size):
    values = run("ring", 24, 32, size, 24 * 32).reshape(24, 32)
    rank = np.arange(24) % size
    assert (values == (100 + (rank - 1) % size)[:, None]).all()


def test_cooperative_groups(run):
    source = r"""
    #include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void __cluster_dims__(4, 1, 1) rotate(unsigned* out) {
      __shared__ unsigned value;
      auto cluster = cg::this_cluster();
      if (threadIdx.x == 0) value = 7 * blockIdx.x;
      cluster.sync();
      unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
      unsigned* remote = cluster.map_shared_rank(&value, next);
      unsigned mine = *remote + 1000 * cluster.query_shared_rank(remote);
      cluster.barrier_arrive();
      cluster.barrier_wait();
      out[cluster.num_threads() * (blockIdx.x / 4) + cluster.thread_rank()] = mine;
    }
    """
    try:
        ptx = compiled(source, use_bundled_headers=True)
    except Exception as error:
        if "could not open source file" not in str(error):
            raise
        pytest.skip("the headers of cooperative groups are not installed")
    values = run("rotate", 8, 32, None, 256, ptx=ptx).reshape(8, 32)
    block = np.arange(8)
    following = block // 4 * 4 + (block + 1) % 4
    assert (values == (7 * following + 1000 * ((block + 1) % 4))[:, None]).all()


HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
ALONE = """
from cuda.core import Device, LaunchConfig, ObjectCode, launch
device = Device()
device.set_current()
ptx = '''.version 8.0
.target sm_90
.address_size 64
.visible .entry run() {{ .reg .b32 r, a, v; .reg .b64 s; .reg .pred p; .shared .b32 word;
{body} ret; }}'''
kernel = ObjectCode.from_ptx(ptx.encode()).get_kernel("run")
stream = device.create_stream()
launch(stream, LaunchConfig(grid=2, block=32, cluster=2), kernel)
stream.sync()
"""
FIRST = "mov.u32 r, %cluster_ctarank; setp.eq.u32 p, r, 0;"
MISUSES = {
    "a wait without an arrival": ("barrier.cluster.wait;", "without an arrival"),
    "two arrivals": (
        "barrier.cluster.arrive; barrier.cluster.arrive;", "second arrival"),
    "a block that does not arrive": (
        FIRST + "@p bra end; barrier.cluster.arrive; barrier.cluster.wait; end: bar.sync 0;"
        "@p bar.sync 1, 64;", "deadlock"),
    "a rank outside of the cluster": (
        "mov.u32 a, word; mapa.shared::cluster.u32 a, a, 2;", "rank 2 in a cluster of 2"),
    "memory of a block that has ended": (
        FIRST + "@p ret; mov.u32 a, word; mapa.shared::cluster.u32 a, a, 0;"
        "again: nanosleep.u32 100; ld.shared::cluster.u32 v, [a]; bra again;", "has ended"),
    "an address after the memory": (
        "mov.u32 a, word; mapa.shared::cluster.u32 a, a, 1; ld.shared::cluster.u32 v, [a+8];",
        "out-of-bounds"),
}  # fmt: skip


@pytest.mark.parametrize("case", MISUSES)
def test_a_misuse_is_a_fault(run_emulated, case):
    body, words = MISUSES[case]
    assert words in run_emulated(ALONE.format(body=body), status=1).stderr


def test_threads_that_ended_do_not_hold_up_the_barrier(run_emulated):
    body = FIRST + "@p ret; barrier.cluster.arrive; barrier.cluster.wait;"
    run_emulated(ALONE.format(body=body))


RACE = """
mov.u32 r, %cluster_ctarank; xor.b32 r, r, 1; mov.u32 a, word; mapa.shared::cluster.u32 a, a, r;
mov.u32 v, %tid.x; setp.eq.u32 p, v, 0;
@p st.shared::cluster.u32 [a], v; {order} @p ld.shared.u32 v, [word]; barrier.cluster.arrive;
barrier.cluster.wait;
"""
ORDER = "barrier.cluster.arrive; barrier.cluster.wait;"


@pytest.mark.parametrize(("order", "races"), [("", True), (ORDER, False)])
def test_the_race_check_sees_the_cluster(run_emulated, order, races):
    done = run_emulated(ALONE.format(body=RACE.format(order=order)), check="memory,race")
    assert ("race:" in done.stderr) == races


def test_impossible_clusters_are_refused(run_emulated):
    program = ALONE.replace("grid=2, block=32, cluster=2", "grid=1, block=32, cluster=16")
    assert "cluster" in run_emulated(program.format(body=""), status=1).stderr


def test_the_occupancy_knows_a_fixed_size():
    Device().set_current()
    text = f"{HEAD}.visible .entry run() .reqnctapercluster 2 {{ ret; }}"
    code, module = driver.cuModuleLoadData(text.encode())
    assert code == driver.CUresult.CUDA_SUCCESS
    _, function = driver.cuModuleGetFunction(module, b"run")
    config = driver.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = 4, 1, 1
    config.blockDimX, config.blockDimY, config.blockDimZ = 1024, 1, 1
    code, count = driver.cuOccupancyMaxActiveClusters(function, config)
    assert code == driver.CUresult.CUDA_SUCCESS
    _, blocks = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(function, 1024, 0)
    assert count == blocks * Device().properties.multiprocessor_count // 2
    driver.cuModuleUnload(module)


def test_a_cluster_is_explicit(run):
    ptx = f"""{HEAD}.visible .entry run(.param .u64 to) {{
    .reg .pred p; .reg .b32 a; .reg .b64 g; mov.pred p, %is_explicit_cluster;
    selp.u32 a, 1, 0, p; ld.param.u64 g, [to]; st.global.u32 [g], a; ret; }}""".encode()
    assert run("run", 2, 1, 2, 1, ptx=ptx).tolist() == [1]
    assert run("run", 2, 1, None, 1, ptx=ptx).tolist() == [0]
