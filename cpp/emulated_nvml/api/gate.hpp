// SPDX-License-Identifier: Apache-2.0
// What every exported NVML function passes through before its body.
#pragma once

#include "emulated_nvml/api.hpp"
#include "emulated_nvml/process/library.hpp"

namespace halfwarp::emulated_nvml::api {

// An exported symbol is generated as
//
//   nvmlReturn_t nvmlX(args...) {
//     gate entry{INDEX};  // or {INDEX, handle}, where the first argument is one
//     <the code of the gate, if it is blocked, else of entry.leave(api::nvmlX(args...))>
//   }
//
// where INDEX is the function's position in `function_names` of the generated api.hpp. It holds the
// lock of the library until the call is over.
struct gate {
  explicit gate(unsigned index) noexcept {
    const bool is_beginning =
        index == index_of("nvmlInit_v2") || index == index_of("nvmlInitWithFlags");
    if (!begun && !is_beginning) block(NVML_ERROR_UNINITIALIZED);
  }
  gate(unsigned index, nvmlDevice_t device) noexcept : gate(index) {
    if (!blocked && !is_device(device)) block(NVML_ERROR_INVALID_ARGUMENT);
  }
  // Of what an emulated board is not divided into.
  gate(unsigned index, nvmlGpuInstance_t) noexcept : gate(index, nvmlDevice_t{}) {}
  gate(unsigned index, nvmlComputeInstance_t) noexcept : gate(index, nvmlDevice_t{}) {}
  gate(const gate&) = delete;  // one call, one gate
  gate& operator=(const gate&) = delete;

  nvmlReturn_t leave(nvmlReturn_t result) const noexcept { return result; }

  lock_guard lock;
  bool blocked = false;
  nvmlReturn_t code = NVML_SUCCESS;

 private:
  void block(nvmlReturn_t why) noexcept {
    blocked = true;
    code = why;
  }
};

}  // namespace halfwarp::emulated_nvml::api
