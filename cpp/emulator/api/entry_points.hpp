// SPDX-License-Identifier: Apache-2.0
// The table behind cuGetProcAddress, and the default stream of a call.
#pragma once

#include <cuda.h>

#include <span>
#include <utility>

namespace halfwarp::emulator::api {

// A variant of a driver function.
struct entry_point {
  const char* name;     // base name: "cuMemAlloc" for cuMemAlloc_v2
  int version;          // CUDA version that introduced it: 3020
  void* function;       // the exported symbol
  void* per_thread;     // its variant for per-thread default streams, or null
  void* null_function;  // its body in the null driver
};

// Generated; sorted by name, then version.
std::span<const entry_point> entry_points() noexcept;

// Makes stream 0 the per-thread default stream for calls of this thread during its lifetime.
class per_thread_streams {
 public:
  per_thread_streams() noexcept : outer_{active_} { active_ = true; }
  ~per_thread_streams() { active_ = outer_; }
  per_thread_streams(const per_thread_streams&) = delete;  // a scope
  per_thread_streams& operator=(const per_thread_streams&) = delete;

  static bool are_default() noexcept { return active_; }

  // Selects for the calls that follow; returns the previous selection.
  static bool select(bool is_selected) noexcept { return std::exchange(active_, is_selected); }

 private:
  static thread_local constinit bool active_;
  bool outer_;
};

}  // namespace halfwarp::emulator::api
