// SPDX-License-Identifier: Apache-2.0
// Half precision and bfloat16.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void half_fma(const __half* a, const __half* b, __half* c) {
  const int i = threadIdx.x;
  c[i] = __hfma(a[i], b[i], c[i]);
}

extern "C" __global__ void half_pairs(const __half2* a, const __half2* b, __half2* c) {
  const int i = threadIdx.x;
  c[i] = __hmul2(__hadd2(a[i], b[i]), __hsub2(a[i], b[i]));
}

extern "C" __global__ void half_to_float(const __half* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __half2float(in[i]) + (__hlt(in[i], __float2half(0.5f)) ? 1.0f : 0.0f);
}

extern "C" __global__ void brain_float(const __nv_bfloat16* in, __nv_bfloat16* out, float scale) {
  const int i = threadIdx.x;
  out[i] = __float2bfloat16(__bfloat162float(in[i]) * scale);
}
