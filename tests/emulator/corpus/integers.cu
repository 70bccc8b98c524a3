// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic, bits, wide and carrying operations.

extern "C" __global__ void divide_all(const int* a, const int* b, int* quotient, int* rest) {
  const int i = threadIdx.x;
  quotient[i] = a[i] / b[i];
  rest[i] = a[i] % b[i];
}

extern "C" __global__ void multiply_high(const unsigned long long* a, const unsigned long long* b,
                                         unsigned long long* low, unsigned long long* high) {
  const int i = threadIdx.x;
  low[i] = a[i] * b[i];
  high[i] = __umul64hi(a[i], b[i]);
}

extern "C" __global__ void add_128_bits(const ulonglong2* a, const ulonglong2* b, ulonglong2* c) {
  const int i = threadIdx.x;
  unsigned long long low, high;
  asm("add.cc.u64 %0, %2, %3;\n\taddc.u64 %1, %4, %5;"
      : "=l"(low), "=l"(high)
      : "l"(a[i].x), "l"(b[i].x), "l"(a[i].y), "l"(b[i].y));
  c[i] = make_ulonglong2(low, high);
}

extern "C" __global__ void count_bits(const unsigned* in, int4* out) {
  const unsigned v = in[threadIdx.x];
  out[threadIdx.x] = make_int4(__popc(v), __clz(v), __ffs(v), int(__brev(v)));
}

extern "C" __global__ void permute_bytes(const unsigned* a, const unsigned* b, unsigned* out,
                                         unsigned selector) {
  const int i = threadIdx.x;
  out[i] = __byte_perm(a[i], b[i], selector) ^ __funnelshift_l(a[i], b[i], selector & 31);
}

extern "C" __global__ void narrow_types(const signed char* a, const unsigned short* b, int* out) {
  const int i = threadIdx.x;
  out[i] = (signed char)(a[i] * 3) + (unsigned short)(b[i] << 2) - (a[i] >> 1);
}

extern "C" __global__ void saturating_difference(const unsigned* a, const unsigned* b, unsigned* out) {
  const int i = threadIdx.x;
  out[i] = __usad(a[i], b[i], min(max(a[i], b[i]), 1000u)) + __mul24(int(a[i]), int(b[i]));
}

extern "C" __global__ void dot_products(const int* a, const int* b, int* out) {
  const int i = threadIdx.x;
  out[i] = __dp4a(a[i], b[i], out[i]);
}
