// SPDX-License-Identifier: Apache-2.0
// Opens the emulated driver in the folder of this library.
#include "emulated_nccl/process/driver.hpp"

#include <dlfcn.h>

#include <cstring>
#include <string>

#include "emulated_nccl/process/errors.hpp"
#include "emulator/control/load_emulator.hpp"

namespace halfwarp::emulated_nccl {
namespace {

// In the order of driver_functions.
constexpr const char* names[] = {
    "cuInit",
    "cuDeviceGetCount",
    "cuDeviceGetAttribute",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxRelease_v2",
    "cuCtxGetDevice",
    "cuCtxPushCurrent_v2",
    "cuCtxPopCurrent_v2",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuStreamWaitEvent",
    "cuStreamIsCapturing",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "halfwarp_emulator_enqueue_exchange",
    "halfwarp_emulator_nccl_limit",
    "halfwarp_emulator_report",
    "halfwarp_emulator_process_start",
    "halfwarp_emulator_error_text",
    "halfwarp_emulator_own",
};

const driver_functions* open_driver() noexcept {
  static driver_functions functions;
  static_assert(sizeof functions == sizeof names);
  void* const library = load_emulator(reinterpret_cast<const void*>(&driver), "the emulated NCCL");
  if (!library) return nullptr;
  void* addresses[std::size(names)];
  for (std::size_t i = 0; i < std::size(names); ++i) addresses[i] = dlsym(library, names[i]);
  std::memcpy(static_cast<void*>(&functions), addresses, sizeof functions);
  return &functions;
}

}  // namespace

const driver_functions* driver() noexcept {
  static const driver_functions* const functions = open_driver();
  return functions;
}

bool initialize() noexcept {
  if (!driver()) {
    fail(result::system_error, "there is no emulated driver beside this library");
    return false;
  }
  return check(driver()->init(0), "cuInit") == result::success;
}

result check(CUresult code, const char* call) noexcept {
  if (code == CUDA_SUCCESS) return result::success;
  char reason[1024] = "";
  driver()->error_text(code, reason, sizeof reason);
  return failf(result::cuda_error, "%s returned %d%s%s", call, code, *reason ? ": " : "", reason);
}

}  // namespace halfwarp::emulated_nccl
