// SPDX-License-Identifier: Apache-2.0
// What every exported runtime function passes through before and after its body.
#pragma once

#include <driver_types.h>

namespace halfwarp::emulated_runtime::api {

// An exported symbol is generated as
//
//   cudaError_t cudaX(args...) {
//     gate entry{INDEX};
//     <the code of the gate, if it is blocked, else of entry.leave(api::cudaX(args...))>
//   }
//
// where INDEX is the function's position in `function_names` of the generated api.hpp. The gate
// starts the driver and finds the call a context, as far as the function needs them; a failure,
// its own or the body's, is the thread's last error.
struct gate {
  explicit gate(unsigned function_index) noexcept;
  gate(const gate&) = delete;  // one call, one gate
  gate& operator=(const gate&) = delete;

  cudaError_t leave(cudaError_t result) noexcept;

  bool blocked = false;
  cudaError_t code = cudaSuccess;

 private:
  unsigned index_;
};

}  // namespace halfwarp::emulated_runtime::api
