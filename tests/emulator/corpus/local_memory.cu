// SPDX-License-Identifier: Apache-2.0
// Arrays of a thread, indexed at run time.

extern "C" __global__ void sort_small(int* data) {
  int a[8];
  for (int i = 0; i < 8; ++i) a[i] = data[threadIdx.x * 8 + i];
  for (int i = 1; i < 8; ++i) {
    const int v = a[i];
    int k = i - 1;
    for (; k >= 0 && a[k] > v; --k) a[k + 1] = a[k];
    a[k + 1] = v;
  }
  for (int i = 0; i < 8; ++i) data[threadIdx.x * 8 + i] = a[i];
}

extern "C" __global__ void count_digits(const unsigned* in, int* out) {
  int counts[10] = {};
  for (unsigned v = in[threadIdx.x]; v != 0; v /= 10) ++counts[v % 10];
  for (int i = 0; i < 10; ++i) out[threadIdx.x * 10 + i] = counts[i];
}

extern "C" __global__ void lookup(const int* index, double* out) {
  const double values[6] = {0.5, 1.5, 2.5, 3.5, 4.5, 5.5};
  out[threadIdx.x] = values[index[threadIdx.x] % 6];
}
