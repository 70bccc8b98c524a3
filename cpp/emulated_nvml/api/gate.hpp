// SPDX-License-Identifier: Apache-2.0
// The prologue of every exported NVML function.
#pragma once

#include "emulated_nvml/api.hpp"
#include "emulated_nvml/process/library.hpp"

namespace halfwarp::emulated_nvml::api {

// A generated function has the form
//
//   nvmlReturn_t nvmlX(args...) {
//     gate entry{INDEX};  // or {INDEX, handle} if the first argument is a handle
//     <returns the code of the gate if it is blocked, else entry.leave(api::nvmlX(args...))>
//   }
//
// INDEX is the position in `function_names` of the generated api.hpp. The gate holds the library's
// lock until the call ends.
struct gate {
  explicit gate(unsigned index) noexcept {
    const bool is_init = index == index_of("nvmlInit_v2") || index == index_of("nvmlInitWithFlags");
    if (!init_count && !is_init) block(NVML_ERROR_UNINITIALIZED);
  }
  gate(unsigned index, nvmlDevice_t device) noexcept : gate(index) {
    if (!blocked && !is_device(device)) block(NVML_ERROR_INVALID_ARGUMENT);
  }
  // An emulated board has no instances, so their handles are rejected.
  gate(unsigned index, nvmlGpuInstance_t) noexcept : gate(index, nvmlDevice_t{}) {}
  gate(unsigned index, nvmlComputeInstance_t) noexcept : gate(index, nvmlDevice_t{}) {}
  gate(const gate&) = delete;  // one call, one gate
  gate& operator=(const gate&) = delete;

  nvmlReturn_t leave(nvmlReturn_t result) const noexcept { return result; }

  lock_guard lock;
  bool blocked = false;
  nvmlReturn_t code = NVML_SUCCESS;

 private:
  void block(nvmlReturn_t reason) noexcept {
    blocked = true;
    code = reason;
  }
};

}  // namespace halfwarp::emulated_nvml::api
