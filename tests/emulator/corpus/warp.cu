// SPDX-License-Identifier: Apache-2.0
// Shuffles, votes and other operations of a warp.

extern "C" __global__ void warp_sum(const float* in, float* out) {
  float value = in[threadIdx.x];
  for (int distance = 16; distance > 0; distance /= 2) {
    value += __shfl_down_sync(0xffffffffu, value, distance);
  }
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = value;
}

extern "C" __global__ void shuffles(const int* in, int4* out) {
  const int v = in[threadIdx.x];
  out[threadIdx.x] = make_int4(__shfl_sync(0xffffffffu, v, 5), __shfl_up_sync(0xffffffffu, v, 3),
                               __shfl_xor_sync(0xffffffffu, v, 9),
                               __shfl_down_sync(0xffffffffu, v, 2, 8));
}

extern "C" __global__ void votes(const int* in, uint4* out) {
  const int v = in[threadIdx.x];
  out[threadIdx.x] = make_uint4(__ballot_sync(0xffffffffu, v > 3), __any_sync(0xffffffffu, v == 7),
                                __all_sync(0xffffffffu, v >= 0), __activemask());
}

extern "C" __global__ void matches(const int* in, unsigned* out, int* same) {
  int predicate;
  out[threadIdx.x] = __match_any_sync(0xffffffffu, in[threadIdx.x]);
  __match_all_sync(0xffffffffu, in[threadIdx.x], &predicate);
  same[threadIdx.x] = predicate;
}

extern "C" __global__ void compact(const int* in, int* out, int* count) {
  const int v = in[threadIdx.x];
  const unsigned kept = __ballot_sync(0xffffffffu, v != 0);
  const unsigned before = kept & ((1u << (threadIdx.x & 31)) - 1);
  if (v != 0) out[__popc(before)] = v;
  if (threadIdx.x == 0) *count = __popc(kept);
  __syncwarp();
}

extern "C" __global__ void lanes(unsigned* out) {
  unsigned lane, warp, below, above;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
  asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
  asm volatile("mov.u32 %0, %%lanemask_ge;" : "=r"(above));
  out[threadIdx.x] = lane + warp * 32 + (below ^ above);
}
