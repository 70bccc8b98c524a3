// SPDX-License-Identifier: Apache-2.0
// Kernels and variables of each kind. Built alone, and with more_kernels.cu as relocatable code.
#include <cstdio>
#include <thread>

#ifdef RELOCATABLE
extern __device__ int total;
extern __device__ int twice(int value);
#else
__device__ int total = 1;
__device__ int twice(int value) { return 2 * value; }
#endif

namespace {

__constant__ int factors[4];
__managed__ int shared_value = 7;

template <class Number>
__global__ void scale(Number* numbers, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) numbers[i] = static_cast<Number>(twice(factors[i % 4]));
  if (i == 0) shared_value += 4;
  atomicAdd(&total, 1);
}

__global__ void use_shared(int* result) {
  extern __shared__ int words[];
  words[40000] = 9;
  *result = words[40000];
}

// Constructed before main. Relocatable code may be registered after this constructor.
struct early {
  early() {
    cudaMalloc(&numbers, 256 * sizeof(float));
#ifndef RELOCATABLE
    scale<<<1, 1>>>(numbers, 0);
#endif
  }
  float* numbers;
} before_main;

int after_launch(int* place) {
  scale<int><<<1, 1>>>(place, 1);
  return 1;
}

bool is_attribute_kept(int* place) {
  constexpr int bytes = 200000;
  use_shared<<<1, 1, bytes>>>(place);
  const bool is_refused = cudaGetLastError() == cudaErrorInvalidValue;
  cudaFuncSetAttribute(use_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  use_shared<<<1, 1, bytes>>>(place);
  return is_refused && cudaGetLastError() == cudaSuccess;
}

bool is_host_address_returned() {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphNode_t node;
  cudaKernelNodeParams parameters{};
  size_t count = 1;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  use_shared<<<1, 1, 0, stream>>>(nullptr);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphGetNodes(graph, &node, &count);
  cudaGraphKernelNodeGetParams(node, &parameters);
  return parameters.func == reinterpret_cast<void*>(&use_shared);
}

}  // namespace

int main() {
  const int values[4] = {1, 2, 3, 4};
  float result[256];
  int count = 0, blocks = 0;
  cudaMemcpyToSymbol(factors, values, sizeof values);
  scale<<<2, 128>>>(before_main.numbers, 256);
  cudaMemcpy(result, before_main.numbers, sizeof result, cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(&count, total, sizeof count);
  std::printf("%g %d %d\n", result[254], count, shared_value);
  int* const place = reinterpret_cast<int*>(before_main.numbers);
  scale<<<after_launch(place), 1>>>(place, 1);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, use_shared, 128, 0);
  std::printf("%d %d ", is_attribute_kept(place), is_host_address_returned());
  std::printf("%d %s\n", blocks > 0, cudaGetErrorName(cudaDeviceSynchronize()));
  cudaDeviceReset();
  cudaMemcpyFromSymbol(&count, total, sizeof count);
  std::printf("%d %d\n", count, shared_value);
}
