# SPDX-License-Identifier: Apache-2.0
"""A matrix product in CUDA C++ for sm_100a: tensor copies, tcgen05.mma, and tcgen05.ld."""

import pytest

SOURCE = r"""
typedef unsigned int u32; typedef unsigned long long u64;
struct __align__(64) tensor_map { u64 words[16]; };
constexpr int M = 128, N = 32, K = 64, COLUMNS = 32, STAGES = 2;

__device__ u32 shared(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__device__ void wait(u64* barrier, u32 parity) {
    u32 done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;"
                     " selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(shared(barrier)), "r"(parity) : "memory");
}
__device__ void load(void* to, const tensor_map* map, int x, int y, u64* barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3}], [%4];"
                 :: "r"(shared(to)), "l"(map), "r"(x), "r"(y), "r"(shared(barrier)) : "memory");
}
__device__ void commit(u64* barrier) {
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];"
                 :: "r"(shared(barrier)) : "memory");
}
// rows of 128 bytes, with the swizzle of 128 bytes
__device__ u64 descriptor(const void* matrix, int k) {
    const u64 start = (shared(matrix) + 32 * k) >> 4;
    return start | 1ull << 16 | 64ull << 32 | 1ull << 46 | 2ull << 61;
}

extern "C" __global__ void gemm(const tensor_map* a_map, const tensor_map* b_map, float* c,
                                int width, int depth) {
    __shared__ __align__(1024) char a[STAGES][M * K * 2], b[STAGES][N * K * 2];
    __shared__ u64 full[STAGES], empty[STAGES], finished;
    __shared__ u32 cell;
    const int warp = threadIdx.x / 32, row = blockIdx.y * M, column = blockIdx.x * N;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i) {
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(shared(&full[i])));
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(shared(&empty[i])));
        }
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(shared(&finished)));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    if (warp == 0)
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;"
                     " tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"
                     :: "r"(shared(&cell)), "r"(COLUMNS) : "memory");
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads();
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    const u32 address = cell;
    const int steps = depth / K;
    if (threadIdx.x == 32)
        for (int step = 0; step < steps; ++step) {
            const int stage = step % STAGES;
            if (step >= STAGES) wait(&empty[stage], (step / STAGES - 1) & 1);
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                         :: "r"(shared(&full[stage])), "r"((M + N) * K * 2) : "memory");
            load(a[stage], a_map, step * K, row, &full[stage]);
            load(b[stage], b_map, step * K, column, &full[stage]);
        }
    if (threadIdx.x == 0) {
        const u32 form = 1 << 4 | (N / 8) << 17 | (M / 16) << 24;
        for (int step = 0; step < steps; ++step) {
            const int stage = step % STAGES;
            wait(&full[stage], step / STAGES & 1);
            asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
            for (int k = 0; k < K / 16; ++k)
                asm volatile("{ .reg .pred p; setp.ne.u32 p, %4, 0;"
                             " tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }"
                             :: "r"(address), "l"(descriptor(a[stage], k)),
                                "l"(descriptor(b[stage], k)), "r"(form), "r"(step + k) : "memory");
            commit(&empty[stage]);
        }
        commit(&finished);
    }
    __syncwarp();
    wait(&finished, 0);
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    for (int first = 0; first < N; first += 8) {
        u32 d[8];
        asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                     : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]), "=r"(d[4]), "=r"(d[5]),
                       "=r"(d[6]), "=r"(d[7])
                     : "r"(address + (warp << 21) + first));
        asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
        for (int i = 0; i < 8; ++i)
            c[(size_t)(row + threadIdx.x) * width + column + first + i] = __uint_as_float(d[i]);
    }
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads();
    if (warp == 0)
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;"
                     :: "r"(address), "r"(COLUMNS));
}
"""
RUN = """
import ctypes, sys
import numpy as np
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions
from cuda.core import launch
device = Device()
device.set_current()
program = Program(sys.argv[1], "c++", ProgramOptions(arch="sm_100a"))
kernel = program.compile("ptx").get_kernel("gemm")
m, n, k = 256, 128, 320
generator = np.random.default_rng(3)
a = generator.integers(-4, 5, (m, k)).astype(np.float16)
b = generator.integers(-4, 5, (n, k)).astype(np.float16)
pinned = LegacyPinnedMemoryResource()
stream = device.create_stream()

def placed(values):
    buffer = pinned.allocate(values.nbytes)
    np.from_dlpack(buffer).view(values.dtype)[:] = values.ravel()
    return buffer

def map_of(buffer, rows, box):
    error, encoded = driver.cuTensorMapEncodeTiled(
        driver.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, int(buffer.handle),
        [driver.cuuint64_t(k), driver.cuuint64_t(rows)], [driver.cuuint64_t(2 * k)],
        [driver.cuuint32_t(64), driver.cuuint32_t(box)], [driver.cuuint32_t(1)] * 2,
        driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        driver.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_128B,
        driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_NONE,
        driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
    assert error == 0, error
    return placed(np.frombuffer(ctypes.string_at(int(encoded.getPtr()), 128), np.uint8))

buffers = placed(a), placed(b)
c = pinned.allocate(4 * m * n)
maps = map_of(buffers[0], m, 128), map_of(buffers[1], n, 32)
config = LaunchConfig(grid=(n // 32, m // 128), block=128)
launch(stream, config, kernel, *maps, c, np.int32(n), np.int32(k))
stream.sync()
result = np.from_dlpack(c).view(np.float32).reshape(m, n)
print((result == a.astype(np.float32) @ b.astype(np.float32).T).all())
"""


@pytest.mark.parametrize("mode", ["eager", "async", "adversarial"])
def test_a_product_with_tensor_copies(run_emulated, mode):
    assert run_emulated(RUN, SOURCE, cc="10.0", mode=mode).stdout.strip() == "True"
