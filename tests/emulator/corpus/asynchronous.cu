// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies, barrier objects, textures, matrix instructions.

extern "C" __global__ void texture_fetch(unsigned long long texture, float4* out, float x, float y) {
  float4 v;
  asm volatile("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(texture), "f"(x), "f"(y));
  out[threadIdx.x] = v;
}

extern "C" __global__ void surface_access(unsigned long long surface, int x, int y) {
  int v;
  asm volatile("suld.b.2d.b32.trap %0, [%1, {%2, %3}];" : "=r"(v) : "l"(surface), "r"(x * 4), "r"(y));
  asm volatile("sust.b.2d.b32.trap [%0, {%1, %2}], %3;" ::"l"(surface), "r"(x * 4), "r"(y), "r"(v + 1));
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void copy_in_background(const int* in, int* out) {
  __shared__ __align__(16) int kept[128];
  const unsigned to = unsigned(__cvta_generic_to_shared(&kept[threadIdx.x * 4]));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + threadIdx.x * 4));
  asm volatile("cp.async.commit_group;");
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  out[threadIdx.x] = kept[127 - threadIdx.x];
}

extern "C" __global__ void multiply_tiles(const unsigned* a, const unsigned* b, float* c) {
  float d0 = 0.0f, d1 = 0.0f, d2 = 0.0f, d3 = 0.0f;
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  c[threadIdx.x] = d0 + d1 + d2 + d3;
}
#endif

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void barrier_object(int* out) {
  __shared__ unsigned long long barrier;
  const unsigned where = unsigned(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(where), "r"(blockDim.x));
  __syncthreads();
  asm volatile(
      "{\n\t.reg .b64 state;\n\t.reg .pred done;\n\t"
      "mbarrier.arrive.shared::cta.b64 state, [%0];\n"
      "WAITING:\n\t"
      "mbarrier.try_wait.shared::cta.b64 done, [%0], state;\n\t"
      "@!done bra WAITING;\n\t}" ::"r"(where) : "memory");
  out[threadIdx.x] = 1;
}
#endif
