// SPDX-License-Identifier: Apache-2.0
// Selects the context of a runtime call: the current context, else a primary context.
#include "emulated_runtime/process/context.hpp"

#include <atomic>
#include <map>
#include <mutex>

#include "emulated_runtime/process/connection.hpp"
#include "emulated_runtime/process/errors.hpp"
#include "emulated_runtime/process/thread.hpp"

namespace halfwarp::emulated_runtime {
namespace {

constinit std::atomic<bool> is_initialized = false;

// Primary contexts retained by the runtime. Never destroyed, since threads may outlive exit
// handlers.
struct retained_contexts {
  std::mutex lock;
  std::map<int, CUcontext> by_device;
};

retained_contexts& retained() {
  static auto* const contexts = new retained_contexts;
  return *contexts;
}

// A reset deactivates a primary context regardless of its retain count.
bool is_active(int device) noexcept {
  unsigned flags = 0;
  int active = 0;
  const CUresult code = table->cuDevicePrimaryCtxGetState(device, &flags, &active);
  return code == CUDA_SUCCESS && active;
}

// A primary context can only be identified by retaining it.
bool is_primary(CUcontext context, int device) noexcept {
  if (context == this_thread.bound) return true;
  CUcontext primary = nullptr;
  if (!is_active(device) || table->cuDevicePrimaryCtxRetain(&primary, device)) return false;
  table->cuDevicePrimaryCtxRelease(device);
  return primary == context;
}

bool is_usable(CUcontext current) noexcept {
  if (!current) return false;
  return current != this_thread.bound || is_active(this_thread.bound_device);
}

}  // namespace

cudaError_t initialize() noexcept {
  if (is_initialized.load(std::memory_order_acquire)) return cudaSuccess;
  if (!ensure_connection()) return cudaErrorInsufficientDriver;
  const CUresult code = table->cuInit(0);
  // The table returns this code if there is no driver.
  if (code == CUDA_ERROR_NOT_FOUND) return cudaErrorInsufficientDriver;
  if (code == CUDA_SUCCESS) is_initialized.store(true, std::memory_order_release);
  return from_driver(code);
}

cudaError_t make_context_current() noexcept {
  if (const cudaError_t code = initialize()) return code;
  CUcontext current = nullptr;
  if (const CUresult code = table->cuCtxGetCurrent(&current)) return from_driver(code);
  return is_usable(current) ? cudaSuccess : bind_device(this_thread.device);
}

cudaError_t current_device(int* device) noexcept {
  CUcontext current = nullptr;
  if (const CUresult code = table->cuCtxGetCurrent(&current)) return from_driver(code);
  if (is_usable(current) && current != this_thread.bound) {
    return from_driver(table->cuCtxGetDevice(device));
  }
  *device = this_thread.device;
  return cudaSuccess;
}

cudaError_t retain_primary(int device, CUcontext* primary) noexcept {
  auto& all = retained();
  const std::scoped_lock guard{all.lock};
  const auto match = all.by_device.find(device);
  if (match != all.by_device.end() && is_active(device)) {
    *primary = match->second;
    return cudaSuccess;
  }
  const CUresult code = table->cuDevicePrimaryCtxRetain(primary, device);
  if (code == CUDA_SUCCESS) all.by_device[device] = *primary;
  return from_driver(code);
}

cudaError_t bind_device(int device) noexcept {
  CUcontext primary = nullptr;
  if (const cudaError_t code = retain_primary(device, &primary)) return code;
  if (const CUresult code = table->cuCtxSetCurrent(primary)) return from_driver(code);
  this_thread.device = this_thread.bound_device = device;
  this_thread.bound = primary;
  return cudaSuccess;
}

cudaError_t reset_device() noexcept {
  int device = 0;
  CUcontext current = nullptr;
  if (const cudaError_t code = current_device(&device)) return code;
  if (const CUresult code = table->cuCtxGetCurrent(&current)) return from_driver(code);
  // The runtime has no resources in a context that the program created.
  if (current && !is_primary(current, device)) return cudaSuccess;
  auto& all = retained();
  const std::scoped_lock guard{all.lock};
  all.by_device.erase(device);
  const CUresult code = table->cuDevicePrimaryCtxReset(device);
  if (code == CUDA_SUCCESS && current) table->cuCtxSetCurrent(nullptr);
  this_thread.bound = nullptr;
  return from_driver(code);
}

}  // namespace halfwarp::emulated_runtime
