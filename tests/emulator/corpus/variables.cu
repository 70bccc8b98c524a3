// SPDX-License-Identifier: Apache-2.0
// Module variables: constant, global, initialized, addresses of others.

__constant__ float coefficients[4] = {1.0f, 0.5f, -0.25f, 2.0f};
__device__ int counter = 3;
__device__ int table[3][4] = {{1, 2}, {3, 4, 5}};
__device__ int* into_table = &table[1][1];
__device__ const char* text = "some text\n";
__device__ double unset[16];
__managed__ int seen_by_both = 1;

struct record {
  char tag;
  short small;
  double value;
  const float* pointer;
};
__device__ record records[2] = {{'a', 1, 2.5, coefficients + 1}, {'b', -1, -2.5, nullptr}};

extern "C" __global__ void filter(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 3 || i >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < 4; ++k) sum += coefficients[k] * in[i - k];
  out[i] = sum;
}

extern "C" __global__ void read_variables(int* out, char* letters) {
  out[0] = counter + *into_table + seen_by_both;
  out[1] = table[threadIdx.x % 3][threadIdx.x % 4];
  letters[threadIdx.x] = text[threadIdx.x];
}

extern "C" __global__ void write_variables(double v) {
  unset[threadIdx.x & 15] = v;
  counter = int(v);
  seen_by_both += 1;
}

extern "C" __global__ void read_records(double* out) {
  const record& r = records[threadIdx.x & 1];
  out[threadIdx.x] = r.value + r.small + r.tag + (r.pointer != nullptr ? *r.pointer : 0.0f);
}
