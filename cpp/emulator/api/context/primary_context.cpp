// SPDX-License-Identifier: Apache-2.0
// Primary contexts: one per device, shared by all users in a process.
#include "emulator/api/call.hpp"
#include "emulator/driver/context_life.hpp"

namespace halfwarp::emulator::api {

CUresult cuDevicePrimaryCtxRetain(CUcontext* pctx, CUdevice dev) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pctx);
    auto& device = c.device_of(dev);
    const auto primary = open_primary(c.d, device);
    ++device.primary_retains;
    *pctx = primary->handle_as<CUcontext>();
  });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice dev) noexcept {
  return run_locked([&](call& c) {
    auto& device = c.device_of(dev);
    require(device.primary_retains > 0, CUDA_ERROR_INVALID_CONTEXT,
            "the primary context was released more often than it was retained");
    const bool is_last = --device.primary_retains == 0;
    if (is_last && device.primary->is_alive) end_context(c.d, c.guard, *device.primary);
  });
}

// Each reference must still be released after a reset.
CUresult cuDevicePrimaryCtxReset(CUdevice dev) noexcept {
  return run_locked([&](call& c) {
    auto& device = c.device_of(dev);
    if (device.primary && device.primary->is_alive) end_context(c.d, c.guard, *device.primary);
    device.primary_flags = 0;
  });
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags) noexcept {
  return run_locked([&](call& c) {
    auto& device = c.device_of(dev);
    require_context_flags(flags);
    device.primary_flags = flags;
    if (device.primary) device.primary->flags = flags;
  });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int* flags, int* active) noexcept {
  return run_locked([&](call& c) {
    require_outputs(flags, active);
    const auto& device = c.device_of(dev);
    *flags = device.primary_flags;
    *active = device.primary && device.primary->is_alive;
  });
}

}  // namespace halfwarp::emulator::api
