// SPDX-License-Identifier: Apache-2.0
// Floating-point arithmetic, functions and conversions.

extern "C" __global__ void elementary(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = sinf(in[i]) + cosf(in[i]) * expf(-in[i]) + logf(in[i] + 2.0f);
}

extern "C" __global__ void fast_functions(const float* in, float* out) {
  const float x = in[threadIdx.x];
  out[threadIdx.x] = __sinf(x) + __expf(x) * __fdividef(x, 3.0f) + rsqrtf(x) + __log2f(x);
}

extern "C" __global__ void double_functions(const double* in, double* out) {
  const double x = in[threadIdx.x];
  out[threadIdx.x] = sqrt(x) + exp(x) / (1.0 + pow(x, 1.5)) - atan2(x, 2.0);
}

extern "C" __global__ void rounding(const float* a, const float* b, float4* out) {
  const int i = threadIdx.x;
  out[i] = make_float4(__fadd_rn(a[i], b[i]), __fadd_rz(a[i], b[i]), __fadd_ru(a[i], b[i]),
                       __fadd_rd(a[i], b[i]));
}

extern "C" __global__ void convert(const double* in, int* ints, unsigned long long* wide, float* floats) {
  const int i = threadIdx.x;
  ints[i] = __double2int_rd(in[i]);
  wide[i] = (unsigned long long)in[i];
  floats[i] = float(in[i]) + float(ints[i]) + __uint2float_rz(unsigned(ints[i]));
}

extern "C" __global__ void classify(const float* in, int* out) {
  const float x = in[threadIdx.x];
  out[threadIdx.x] = isnan(x) | isinf(x) << 1 | signbit(x) << 2 | (fabsf(x) < 1.0f) << 3 |
                     (fminf(x, 2.0f) == x) << 4 | (copysignf(x, -1.0f) > 0.0f) << 5;
}

extern "C" __global__ void bit_patterns(const float* in, unsigned* out, double* back) {
  const int i = threadIdx.x;
  out[i] = __float_as_uint(in[i]);
  back[i] = __longlong_as_double((long long)out[i] << 29);
}

extern "C" __global__ void polynomial(const double* x, double* y, const double* c, int terms) {
  const int i = threadIdx.x;
  double sum = 0.0;
  for (int k = terms - 1; k >= 0; --k) sum = fma(sum, x[i], c[k]);
  y[i] = sum;
}
