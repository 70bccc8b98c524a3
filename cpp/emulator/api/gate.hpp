// SPDX-License-Identifier: Apache-2.0
// What every exported entry point passes through before and after its body.
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
// The gate counts the call and refuses it when the process was forked, is ending, has not called
// cuInit, is inside a host function, or when a fault is injected or the context is broken.
struct gate {
  explicit gate(unsigned function_index) noexcept;
  ~gate();
  gate(const gate&) = delete;  // one call, one gate
  gate& operator=(const gate&) = delete;

  // The code that the caller gets for a body that answered `result`: a function that releases
  // something does so even in a broken context, and then reports the context's error.
  CUresult leave(CUresult result) noexcept;

  bool blocked = false;
  CUresult code = CUDA_SUCCESS;

 private:
  void block(CUresult with) noexcept;
  void look_closer(unsigned obstacles) noexcept;
  void inject() noexcept;
  [[gnu::cold]] void write_log() const noexcept;
  void heed_failure(CUresult with) noexcept;

  unsigned index_;
  CUresult afterwards_ = CUDA_SUCCESS;  // what a function that releases something tells when done
};

// How often a function was called, for `stats()`.
std::uint64_t calls_of(unsigned function_index) noexcept;
void forget_calls() noexcept;

}  // namespace halfwarp::emulator::api
