// SPDX-License-Identifier: Apache-2.0
// The functions that this extension holds: those of NVIDIA's static library, and one of ours.
#pragma once

#include <span>

#include "driver/loader_api.hpp"

namespace halfwarp::runtime {

struct entry {
  const char* name;  // exported
  void* function;
  void* per_thread;  // its variant for per-thread default streams, or null
  bool is_own;       // not the library's: the same on any backend
};

// Generated, sorted by name.
std::span<const entry> entries() noexcept;

}  // namespace halfwarp::runtime
