// SPDX-License-Identifier: Apache-2.0
// The functions of the emulated driver that the library calls.
#pragma once

#include <cuda.h>

#include "emulated_nccl/interface.hpp"
#include "emulator/control/control.h"

namespace halfwarp::emulated_nccl {

struct driver_functions {
  decltype(&::cuInit) init;
  decltype(&::cuDeviceGetCount) count_devices;
  decltype(&::cuDeviceGetAttribute) read_attribute;
  decltype(&::cuDevicePrimaryCtxRetain) retain_context;
  decltype(&::cuDevicePrimaryCtxRelease) release_context;
  decltype(&::cuCtxGetDevice) current_device;
  decltype(&::cuCtxPushCurrent) push_context;
  decltype(&::cuCtxPopCurrent) pop_context;
  decltype(&::cuEventCreate) create_event;
  decltype(&::cuEventDestroy) destroy_event;
  decltype(&::cuEventRecord) record_event;
  decltype(&::cuEventSynchronize) wait_for_event;
  decltype(&::cuStreamWaitEvent) stream_wait_event;
  decltype(&::cuStreamIsCapturing) is_capturing;
  decltype(&::cuMemAlloc) allocate;
  decltype(&::cuMemFree) free;
  decltype(&::halfwarp_emulator_enqueue_exchange) enqueue;
  decltype(&::halfwarp_emulator_nccl_limit) limit;
  decltype(&::halfwarp_emulator_report) report;
  decltype(&::halfwarp_emulator_process_start) process_start;
  decltype(&::halfwarp_emulator_error_text) error_text;
  decltype(&::halfwarp_emulator_own) own;
};

// Returns the functions; null if there is no emulated driver. The first call opens it.
const driver_functions* driver() noexcept;

// Initializes the driver; on failure records the error.
bool initialize() noexcept;

// Records the error of a driver call and returns cuda_error, or success.
result check(CUresult code, const char* call) noexcept;

// Makes a context current during its lifetime.
class context_scope {
 public:
  explicit context_scope(CUcontext context) noexcept
      : code_{check(driver()->push_context(context), "cuCtxPushCurrent")} {}
  ~context_scope() {
    CUcontext previous;
    if (code_ == result::success) driver()->pop_context(&previous);
  }
  context_scope(const context_scope&) = delete;  // a scope
  context_scope& operator=(const context_scope&) = delete;

  result code() const noexcept { return code_; }

 private:
  result code_;
};

}  // namespace halfwarp::emulated_nccl
