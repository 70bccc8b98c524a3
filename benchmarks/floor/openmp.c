/* SPDX-License-Identifier: Apache-2.0
 * The kernels of `emulator_speed.py` for the CPU.
 *
 * cc -O3 -march=native -fopenmp -shared -fPIC openmp.c -o openmp.so
 */
void saxpy(int n, float a, const float* x, float* y) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}

void matmul(int n, const float* a, const float* b, float* c) {
#pragma omp parallel for
  for (int row = 0; row < n; ++row) {
    for (int column = 0; column < n; ++column) c[row * n + column] = 0;
    for (int k = 0; k < n; ++k)
      for (int column = 0; column < n; ++column)
        c[row * n + column] += a[row * n + k] * b[k * n + column];
  }
}

/* The sums of 256 elements each, as one block of the kernel computes them. */
void reduction(int n, const float* x, float* sums) {
#pragma omp parallel for
  for (int block = 0; block < n / 256; ++block) {
    float values[256];
    for (int i = 0; i < 256; ++i) values[i] = x[256 * block + i];
    for (int step = 128; step > 0; step /= 2)
      for (int i = 0; i < step; ++i) values[i] += values[i + step];
    sums[block] = values[0];
  }
}
