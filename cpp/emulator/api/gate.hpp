// SPDX-License-Identifier: Apache-2.0
// The checks before and after the body of every exported entry point.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace halfwarp::emulator::api {

// An exported symbol is generated as
//
//   CUresult cuX(args...) { gate g{INDEX}; return g.blocked ? g.code : g.leave(api::cuX(args...));
//   }
//
// where INDEX is the function's position in `function_names` of the generated api.hpp.
// The gate counts the call. It refuses the call if the process was forked, is exiting or has not
// called cuInit, in a host function, for an injected fault, and in a broken context.
struct gate {
  explicit gate(unsigned function_index) noexcept;
  ~gate();
  gate(const gate&) = delete;  // one call, one gate
  gate& operator=(const gate&) = delete;

  // Returns the code for the caller of a body that returned `result`. A function that releases
  // resources runs even in a broken context, and then returns the context's error.
  CUresult leave(CUresult result) noexcept;

  bool blocked = false;
  CUresult code = CUDA_SUCCESS;

 private:
  void block(CUresult error) noexcept;
  void handle_obstacles(unsigned obstacles) noexcept;
  void inject() noexcept;
  [[gnu::cold]] void write_log() const noexcept;
  void apply_failure(CUresult error) noexcept;

  unsigned index_;
  CUresult deferred_code_ = CUDA_SUCCESS;  // returned after a function that releases resources
};

// Returns the number of calls of a function, for `stats()`.
std::uint64_t call_count(unsigned function_index) noexcept;
void reset_call_counts() noexcept;

}  // namespace halfwarp::emulator::api
