// SPDX-License-Identifier: Apache-2.0
// One thread per element: arithmetic, bounds, strides.

extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, size_t n) {
  const size_t start = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  for (size_t i = start; i < n; i += size_t(gridDim.x) * blockDim.x) c[i] = a[i] + b[i];
}

extern "C" __global__ void scale_double(double* x, double factor, long long n) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}

extern "C" __global__ void add_vectors_of_four(const float4* a, const float4* b, float4* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 x = a[i], y = b[i];
  c[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

extern "C" __global__ void fill_bytes(unsigned char* out, unsigned char value, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = value;
}

extern "C" __global__ void copy_3d(const short* in, short* out, int width, int height, int depth) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < width && y < height && z < depth) {
    const int i = (z * height + y) * width + x;
    out[i] = in[i];
  }
}
