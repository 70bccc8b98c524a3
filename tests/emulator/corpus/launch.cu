// SPDX-License-Identifier: Apache-2.0
// Attributes of kernels: bounds, clusters, many parameters, templates, parts of a warp, the whole grid.

template <typename T, int n>
__global__ void fill(T* out, T value) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = value;
}
template __global__ void fill<double, 7>(double*, double);
template __global__ void fill<signed char, 9>(signed char*, signed char);

extern "C" __global__ void __launch_bounds__(128, 4) bounded(float* x) { x[threadIdx.x] += 1.0f; }

extern "C" __global__ void many_parameters(char a, short b, int c, long long d, float e, double f,
                                           void* g, int3 h, float4 i, bool j, double* out) {
  out[0] = a + b + c + d + e + f + (g != nullptr) + h.z + i.w + j;
}

struct everything {
  char letter;
  double numbers[5];
  int flags : 3;
  struct {
    short x, y;
  } point;
};
extern "C" __global__ void big_structure(const __grid_constant__ everything value, double* out) {
  out[threadIdx.x] = value.numbers[threadIdx.x % 5] + value.point.y + value.flags;
}

extern "C" __global__ void parts_of_a_warp(int* data) {
  int v = data[threadIdx.x];
  for (int d = 4; d > 0; d /= 2) v += __shfl_down_sync(0xffu << (threadIdx.x & 24), v, d, 8);
  if (threadIdx.x % 8 == 0) data[threadIdx.x / 8] = v;
}

// The barrier over all blocks of cooperative groups.
extern "C" __global__ void whole_grid(int* data) {
  unsigned high, low;
  asm("mov.u32 %0, %%envreg1;" : "=r"(high));
  asm("mov.u32 %0, %%envreg2;" : "=r"(low));
  auto* const barrier = reinterpret_cast<unsigned*>((unsigned long long)high << 32 | low) + 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned added = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1;
    __threadfence();
    const unsigned before = atomicAdd(barrier, added);
    while (((before ^ *(volatile unsigned*)barrier) & 0x80000000u) == 0) {
    }
    __threadfence();
  }
  __syncthreads();
  data[blockIdx.x * blockDim.x + threadIdx.x] = int(gridDim.x);
}

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(2, 1, 1) clustered(int* out) {
  __shared__ int mine;
  unsigned rank, address, other;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  mine = int(rank);
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
  address = unsigned(__cvta_generic_to_shared(&mine));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(address), "r"(rank ^ 1));
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(out[blockIdx.x]) : "r"(other));
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
}
#endif
