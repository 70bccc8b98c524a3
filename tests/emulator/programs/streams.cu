// SPDX-License-Identifier: Apache-2.0
// Built with --default-stream per-thread: a thread's default stream does not wait for another's.
#include <atomic>
#include <cstdio>
#include <thread>

__global__ void write(int* place, int value) { *place = value; }

int main() {
  std::atomic<bool> is_released{false};
  int *place, result = 0;
  cudaMalloc(&place, 2 * sizeof(int));
  std::thread{[&] {
    cudaLaunchHostFunc(
        nullptr,
        [](void* flag) {
          while (!static_cast<std::atomic<bool>*>(flag)->load()) std::this_thread::yield();
        },
        &is_released);
    write<<<1, 1>>>(place, 1);
  }}.join();
  write<<<1, 1>>>(place + 1, 2);  // is not behind the waiting function
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) is_released = true;
  cudaMemcpy(&result, place + 1, sizeof result, cudaMemcpyDeviceToHost);
  std::printf("%d\n", error == cudaSuccess ? result : -error);
  is_released = true;
  cudaDeviceSynchronize();
}
