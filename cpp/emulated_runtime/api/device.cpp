// SPDX-License-Identifier: Apache-2.0
// Devices: count, selection, flags and peer access.
#include <climits>

#include "emulated_runtime/api.hpp"
#include "emulated_runtime/process/context.hpp"
#include "emulated_runtime/process/forward.hpp"
#include "emulated_runtime/process/thread.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

constexpr unsigned settable_flags =
    cudaDeviceScheduleMask | cudaDeviceMapHost | cudaDeviceLmemResizeToMax | cudaDeviceSyncMemops;

// The runtime's contexts always map host memory; the driver does that without the flag.
cudaError_t set_flags(int device, unsigned flags) {
  if (flags & ~settable_flags) return cudaErrorInvalidValue;
  return forward(table->cuDevicePrimaryCtxSetFlags, device, flags & ~unsigned{cudaDeviceMapHost});
}

// Returns the number of requested properties that a device lacks.
int count_deficits(const cudaDeviceProp& available, const cudaDeviceProp& requested) {
  const int differences[] = {
      available.major * 10 + available.minor < requested.major * 10 + requested.minor,
      available.totalGlobalMem < requested.totalGlobalMem,
      available.sharedMemPerBlock < requested.sharedMemPerBlock,
      available.regsPerBlock < requested.regsPerBlock,
      available.maxThreadsPerBlock < requested.maxThreadsPerBlock,
      available.multiProcessorCount < requested.multiProcessorCount,
  };
  int count = 0;
  for (const int each : differences) count += each;
  return count;
}

// Calls a function with the primary context of the peer.
template <class... Params>
cudaError_t with_peer(CUresult (*function)(CUcontext, Params...), int peer, Params... arguments) {
  int device = 0;
  if (const cudaError_t code = current_device(&device)) return code;
  if (device == peer) return cudaErrorInvalidDevice;
  CUcontext context = nullptr;
  if (const cudaError_t code = retain_primary(peer, &context)) return code;
  return forward(function, context, arguments...);
}

}  // namespace

cudaError_t cudaGetDeviceCount(int* count) noexcept {
  if (!count) return cudaErrorInvalidValue;
  *count = 0;
  const cudaError_t code = forward(table->cuDeviceGetCount, count);
  return code == cudaSuccess && *count == 0 ? cudaErrorNoDevice : code;
}

// The first device of the list is the one that works: no device is held by another process here.
cudaError_t cudaSetValidDevices(int* device_arr, int len) noexcept {
  int count = 0;
  if (const cudaError_t code = forward(table->cuDeviceGetCount, &count)) return code;
  if (len < 0 || len > count || (len > 0 && !device_arr)) return cudaErrorInvalidValue;
  for (int i = 0; i < len; ++i) {
    if (device_arr[i] < 0 || device_arr[i] >= count) return cudaErrorInvalidDevice;
  }
  if (!this_thread.bound) this_thread.device = len > 0 ? device_arr[0] : 0;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) noexcept {
  return device ? current_device(device) : cudaErrorInvalidValue;
}

cudaError_t cudaSetDevice(int device) noexcept { return bind_device(device); }

cudaError_t cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags) noexcept {
  if (flags & ~unsigned{cudaInitDeviceFlagsAreValid}) return cudaErrorInvalidValue;
  if (flags & cudaInitDeviceFlagsAreValid) {
    if (const cudaError_t code = set_flags(device, deviceFlags)) return code;
  }
  CUcontext primary = nullptr;
  return retain_primary(device, &primary);
}

cudaError_t cudaDeviceReset() noexcept { return reset_device(); }

cudaError_t cudaSetDeviceFlags(unsigned int flags) noexcept {
  int device = 0;
  if (const cudaError_t code = current_device(&device)) return code;
  if (const cudaError_t code = set_flags(device, flags)) return code;
  return make_context_current();
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) noexcept {
  if (!flags) return cudaErrorInvalidValue;
  CUcontext current = nullptr;
  if (const cudaError_t code = forward(table->cuCtxGetCurrent, &current)) return code;
  if (current && current != this_thread.bound) return forward(table->cuCtxGetFlags, flags);
  int active = 0;
  const cudaError_t code =
      forward(table->cuDevicePrimaryCtxGetState, this_thread.device, flags, &active);
  *flags |= cudaDeviceMapHost;
  return code;
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* prop) noexcept {
  if (!device || !prop) return cudaErrorInvalidValue;
  int count = 0, min_deficits = INT_MAX;
  if (const cudaError_t code = api::cudaGetDeviceCount(&count)) return code;
  for (int each = 0; each < count; ++each) {
    cudaDeviceProp available;
    if (const cudaError_t code = api::cudaGetDeviceProperties(&available, each)) return code;
    const int deficits = count_deficits(available, *prop);
    if (deficits < min_deficits) *device = each;
    if (deficits < min_deficits) min_deficits = deficits;
  }
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags) noexcept {
  return with_peer(table->cuCtxEnablePeerAccess, peerDevice, flags);
}

cudaError_t cudaDeviceDisablePeerAccess(int peerDevice) noexcept {
  return with_peer(table->cuCtxDisablePeerAccess, peerDevice);
}

cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTarget target,
                                               cudaFlushGPUDirectRDMAWritesScope scope) noexcept {
  return forward(table->cuFlushGPUDirectRDMAWrites,
                 static_cast<CUflushGPUDirectRDMAWritesTarget>(target),
                 static_cast<CUflushGPUDirectRDMAWritesScope>(scope));
}

}  // namespace halfwarp::emulated_runtime::api
