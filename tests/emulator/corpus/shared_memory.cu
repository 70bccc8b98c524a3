// SPDX-License-Identifier: Apache-2.0
// Static and dynamic shared memory, barriers.

extern "C" __global__ void reduce(const float* in, float* out, int n) {
  __shared__ float part[256];
  const int t = threadIdx.x;
  float sum = 0.0f;
  for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) sum += in[i];
  part[t] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}

extern "C" __global__ void matrix_multiply(const float* a, const float* b, float* c, int n) {
  __shared__ float ta[16][16], tb[16][17];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0.0f;
  for (int k = 0; k < n; k += 16) {
    ta[y][x] = a[row * n + k + x];
    tb[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += ta[y][i] * tb[i][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

extern "C" __global__ void transpose(const double* in, double* out, int width, int height) {
  __shared__ double tile[8][9];
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  x = blockIdx.y * 8 + threadIdx.x;
  y = blockIdx.x * 8 + threadIdx.y;
  if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void reverse_dynamic(int* data) {
  extern __shared__ int kept[];
  const int t = threadIdx.x;
  kept[t] = data[t];
  __syncthreads();
  data[t] = kept[blockDim.x - 1 - t];
}

extern "C" __global__ void scan(unsigned* data) {
  __shared__ unsigned sums[512];
  const int t = threadIdx.x;
  sums[t] = data[t];
  for (int step = 1; step < 512; step *= 2) {
    __syncthreads();
    const unsigned left = t >= step ? sums[t - step] : 0;
    __syncthreads();
    sums[t] += left;
  }
  data[t] = sums[t];
}

extern "C" __global__ void counted_barriers(const int* in, int* out) {
  const int above = __syncthreads_count(in[threadIdx.x] > 10);
  const int all = __syncthreads_and(in[threadIdx.x]), any = __syncthreads_or(in[threadIdx.x] < 0);
  out[threadIdx.x] = above * 4 + (all != 0) * 2 + (any != 0);
}
