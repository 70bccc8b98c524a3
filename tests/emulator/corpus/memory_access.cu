// SPDX-License-Identifier: Apache-2.0
// Ways to load and store: cached, volatile, streamed, aligned, generic.

extern "C" __global__ void cache_hints(const int* in, int* out) {
  const int i = threadIdx.x;
  const int a = __ldg(&in[i]), b = __ldcg(&in[i + 1]), c = __ldcs(&in[i + 2]), d = __ldlu(&in[i + 3]);
  __stcs(&out[i], a + b);
  __stwt(&out[i + 1], c + d);
}

extern "C" __global__ void volatile_access(volatile int* flag, int* out) {
  while (*flag == 0) {
  }
  out[0] = *flag;
}

extern "C" __global__ void restricted(const float* __restrict__ in, float* __restrict__ out) {
  out[threadIdx.x] = in[threadIdx.x * 2] + in[threadIdx.x * 2 + 1];
}

struct __align__(16) wide {
  short a[6];
  char b[4];
};
extern "C" __global__ void move_structures(const wide* in, wide* out) {
  wide w = in[threadIdx.x];
  w.a[2] += w.b[1];
  out[threadIdx.x] = w;
}

__device__ __noinline__ void add_to(int* p, int v) { *p += v; }
extern "C" __global__ void generic_pointers(int* global, int which) {
  __shared__ int shared;
  int local = 1;
  shared = 2;
  __syncthreads();
  int* p = which == 0 ? &local : which == 1 ? &shared : global;
  add_to(p, 5);
  global[1] = local + shared + (__isShared(p) ? 100 : 0) + (__isGlobal(p) ? 1000 : 0);
}

extern "C" __global__ void ordered_access(unsigned* flag, unsigned* out) {
  unsigned seen;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(out), "r"(seen) : "memory");
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.acq_rel.cluster;" ::: "memory");
#endif
}
