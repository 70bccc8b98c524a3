// SPDX-License-Identifier: Apache-2.0
// Functions that CUDA 13 has with other parameters, by other names, or no longer.
#include <cstdint>
#include <cstdio>

#include "emulated_runtime_12/later.hpp"

extern "C" decltype(cudaGetDriverEntryPointByVersion) cudaGetDriverEntryPointByVersion_ptsz;
extern "C" decltype(cudaSignalExternalSemaphoresAsync) cudaSignalExternalSemaphoresAsync_ptsz;
extern "C" decltype(cudaWaitExternalSemaphoresAsync) cudaWaitExternalSemaphoresAsync_ptsz;

namespace halfwarp::emulated_runtime_12 {
namespace {

constexpr int version = 12090;

// CUDA 12 passes the number of a device, or -1 for the host.
cudaMemLocation location_of(int device) {
  cudaMemLocation location{};
  location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device == cudaCpuDeviceId ? 0 : device;
  return location;
}

// The driver checks all copies of a batch before it makes one, and names none that is wrong.
cudaError_t without_index(cudaError_t code, size_t* failed) {
  if (code && failed) *failed = SIZE_MAX;
  return code;
}

}  // namespace
}  // namespace halfwarp::emulated_runtime_12

using namespace halfwarp::emulated_runtime_12;

// The exported names.
asm(".irp name, "
    "cudaRuntimeGetVersion, cudaEventElapsedTime_v2, cudaMemAdvise, cudaMemAdvise_v2, "
    "cudaThreadExit, cudaThreadSynchronize, cudaThreadGetLimit, cudaThreadSetLimit, "
    "cudaThreadGetCacheConfig, cudaThreadSetCacheConfig, cudaSetDoubleForDevice, "
    "cudaSetDoubleForHost, cudaLaunchCooperativeKernelMultiDevice, cudaGetDriverEntryPoint, "
    "cudaMemPrefetchAsync, cudaMemPrefetchAsync_v2, cudaMemcpyBatchAsync, "
    "cudaMemcpy3DBatchAsync, cudaSignalExternalSemaphoresAsync_v2, "
    "cudaWaitExternalSemaphoresAsync_v2, cudaGetDriverEntryPoint_ptsz, "
    "cudaMemPrefetchAsync_ptsz, cudaMemPrefetchAsync_v2_ptsz, cudaMemcpyBatchAsync_ptsz, "
    "cudaMemcpy3DBatchAsync_ptsz, cudaSignalExternalSemaphoresAsync_v2_ptsz, "
    "cudaWaitExternalSemaphoresAsync_v2_ptsz"
    "\n.globl \\name\n.type \\name, %function\n.set \\name, earlier_\\name\n.endr");

#pragma GCC visibility push(default)

extern "C" {

cudaError_t earlier_cudaRuntimeGetVersion(int* result) {
  if (!result) return later_cudaRuntimeGetVersion(nullptr);
  *result = version;
  return cudaSuccess;
}

cudaError_t earlier_cudaEventElapsedTime_v2(float* milliseconds, cudaEvent_t start,
                                            cudaEvent_t end) {
  return cudaEventElapsedTime(milliseconds, start, end);
}

cudaError_t earlier_cudaMemAdvise(const void* address, size_t bytes, cudaMemoryAdvise advice,
                                  int device) {
  return later_cudaMemAdvise(address, bytes, advice, location_of(device));
}

cudaError_t earlier_cudaMemAdvise_v2(const void* address, size_t bytes, cudaMemoryAdvise advice,
                                     cudaMemLocation location) {
  return later_cudaMemAdvise(address, bytes, advice, location);
}

cudaError_t earlier_cudaThreadExit() { return cudaDeviceReset(); }

cudaError_t earlier_cudaThreadSynchronize() { return cudaDeviceSynchronize(); }

cudaError_t earlier_cudaThreadGetLimit(size_t* value, cudaLimit limit) {
  return cudaDeviceGetLimit(value, limit);
}

cudaError_t earlier_cudaThreadSetLimit(cudaLimit limit, size_t value) {
  return cudaDeviceSetLimit(limit, value);
}

cudaError_t earlier_cudaThreadGetCacheConfig(cudaFuncCache* config) {
  return cudaDeviceGetCacheConfig(config);
}

cudaError_t earlier_cudaThreadSetCacheConfig(cudaFuncCache config) {
  return cudaDeviceSetCacheConfig(config);
}

// Every device has had doubles for long: there is nothing to convert.
cudaError_t earlier_cudaSetDoubleForDevice(double*) { return cudaSuccess; }

cudaError_t earlier_cudaSetDoubleForHost(double*) { return cudaSuccess; }

cudaError_t earlier_cudaLaunchCooperativeKernelMultiDevice(void*, unsigned, unsigned) {
  std::fputs("emulator: cudaLaunchCooperativeKernelMultiDevice is not emulated\n", stderr);
  return cudaErrorNotSupported;
}

cudaError_t earlier_cudaGetDriverEntryPoint(const char* name, void** function,
                                            unsigned long long flags,
                                            cudaDriverEntryPointQueryResult* status) {
  return cudaGetDriverEntryPointByVersion(name, function, version, flags, status);
}

cudaError_t earlier_cudaMemPrefetchAsync(const void* address, size_t bytes, int device,
                                         cudaStream_t stream) {
  return later_cudaMemPrefetchAsync(address, bytes, location_of(device), 0, stream);
}

cudaError_t earlier_cudaMemPrefetchAsync_v2(const void* address, size_t bytes,
                                            cudaMemLocation location, unsigned flags,
                                            cudaStream_t stream) {
  return later_cudaMemPrefetchAsync(address, bytes, location, flags, stream);
}

cudaError_t earlier_cudaMemcpyBatchAsync(void** targets, void** sources, size_t* sizes,
                                         size_t count, cudaMemcpyAttributes* attributes,
                                         size_t* indices, size_t attribute_count, size_t* failed,
                                         cudaStream_t stream) {
  return without_index(
      later_cudaMemcpyBatchAsync(targets, const_cast<const void**>(sources), sizes, count,
                                 attributes, indices, attribute_count, stream),
      failed);
}

cudaError_t earlier_cudaMemcpy3DBatchAsync(size_t count, cudaMemcpy3DBatchOp* copies,
                                           size_t* failed, unsigned long long flags,
                                           cudaStream_t stream) {
  return without_index(later_cudaMemcpy3DBatchAsync(count, copies, flags, stream), failed);
}

cudaError_t earlier_cudaSignalExternalSemaphoresAsync_v2(
    const cudaExternalSemaphore_t* semaphores, const cudaExternalSemaphoreSignalParams* parameters,
    unsigned count, cudaStream_t stream) {
  return cudaSignalExternalSemaphoresAsync(semaphores, parameters, count, stream);
}

cudaError_t earlier_cudaWaitExternalSemaphoresAsync_v2(
    const cudaExternalSemaphore_t* semaphores, const cudaExternalSemaphoreWaitParams* parameters,
    unsigned count, cudaStream_t stream) {
  return cudaWaitExternalSemaphoresAsync(semaphores, parameters, count, stream);
}

cudaError_t earlier_cudaGetDriverEntryPoint_ptsz(const char* name, void** function,
                                                 unsigned long long flags,
                                                 cudaDriverEntryPointQueryResult* status) {
  return cudaGetDriverEntryPointByVersion_ptsz(name, function, version, flags, status);
}

cudaError_t earlier_cudaMemPrefetchAsync_ptsz(const void* address, size_t bytes, int device,
                                              cudaStream_t stream) {
  return later_cudaMemPrefetchAsync_ptsz(address, bytes, location_of(device), 0, stream);
}

cudaError_t earlier_cudaMemPrefetchAsync_v2_ptsz(const void* address, size_t bytes,
                                                 cudaMemLocation location, unsigned flags,
                                                 cudaStream_t stream) {
  return later_cudaMemPrefetchAsync_ptsz(address, bytes, location, flags, stream);
}

cudaError_t earlier_cudaMemcpyBatchAsync_ptsz(void** targets, void** sources, size_t* sizes,
                                              size_t count, cudaMemcpyAttributes* attributes,
                                              size_t* indices, size_t attribute_count,
                                              size_t* failed, cudaStream_t stream) {
  return without_index(
      later_cudaMemcpyBatchAsync_ptsz(targets, const_cast<const void**>(sources), sizes, count,
                                      attributes, indices, attribute_count, stream),
      failed);
}

cudaError_t earlier_cudaMemcpy3DBatchAsync_ptsz(size_t count, cudaMemcpy3DBatchOp* copies,
                                                size_t* failed, unsigned long long flags,
                                                cudaStream_t stream) {
  return without_index(later_cudaMemcpy3DBatchAsync_ptsz(count, copies, flags, stream), failed);
}

cudaError_t earlier_cudaSignalExternalSemaphoresAsync_v2_ptsz(
    const cudaExternalSemaphore_t* semaphores, const cudaExternalSemaphoreSignalParams* parameters,
    unsigned count, cudaStream_t stream) {
  return cudaSignalExternalSemaphoresAsync_ptsz(semaphores, parameters, count, stream);
}

cudaError_t earlier_cudaWaitExternalSemaphoresAsync_v2_ptsz(
    const cudaExternalSemaphore_t* semaphores, const cudaExternalSemaphoreWaitParams* parameters,
    unsigned count, cudaStream_t stream) {
  return cudaWaitExternalSemaphoresAsync_ptsz(semaphores, parameters, count, stream);
}

}  // extern "C"
