// SPDX-License-Identifier: Apache-2.0
// One thread multiplies one number.
#include "scale.hpp"

namespace {

constexpr int threads = 128;

__global__ void multiply(float* numbers, int count, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) numbers[i] *= factor;
}

}  // namespace

cudaError_t scale(float* numbers, int count, float factor, cudaStream_t stream) {
  multiply<<<(count + threads - 1) / threads, threads, 0, stream>>>(numbers, count, factor);
  return cudaGetLastError();
}
