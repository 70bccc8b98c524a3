// SPDX-License-Identifier: Apache-2.0
// The prologue and epilogue of every exported runtime function.
#pragma once

#include <driver_types.h>

namespace halfwarp::emulated_runtime::api {

// A generated function has the form
//
//   cudaError_t cudaX(args...) {
//     gate entry{INDEX};
//     <returns the code of the gate if it is blocked, else entry.leave(api::cudaX(args...))>
//   }
//
// INDEX is the position in `function_names` of the generated api.hpp. The gate initializes the
// driver and sets a current context as the function needs. An error of the gate or the body becomes
// the thread's last error.
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
