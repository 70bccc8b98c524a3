// SPDX-License-Identifier: Apache-2.0
// printf, assert, trap, clocks, allocation in a kernel.

extern "C" __global__ void print_values(const float* x, int n) {
  if (threadIdx.x < n) printf("block %d thread %d: %f %s %c\n", blockIdx.x, threadIdx.x, x[threadIdx.x], "text", 'c');
}

extern "C" __global__ void check_positive(const int* x) { assert(x[threadIdx.x] > 0); }

extern "C" __global__ void trap_on_zero(const int* x) {
  if (x[threadIdx.x] == 0) __trap();
}

extern "C" __global__ void measure(long long* ticks, unsigned* low) {
  const long long start = clock64();
  __nanosleep(100);
  low[threadIdx.x] = unsigned(clock());
  ticks[threadIdx.x] = clock64() - start;
}

extern "C" __global__ void allocate(int** out) {
  int* p = static_cast<int*>(malloc(16 * sizeof(int)));
  if (p != nullptr) p[0] = threadIdx.x;
  out[threadIdx.x] = p;
  if (threadIdx.x & 1) free(p);
}
