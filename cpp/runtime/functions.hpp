// SPDX-License-Identifier: Apache-2.0
// The functions of this extension: NVIDIA's static library and one function of this package.
#pragma once

#include <span>

#include "driver/loader_api.hpp"

namespace halfwarp::runtime {

struct entry {
  const char* name;  // exported name
  void* function;
  void* per_thread;  // variant for per-thread default streams, or null
  bool is_own;       // a function of this package, equal on all backends
};

// Generated, sorted by name.
std::span<const entry> entries() noexcept;

}  // namespace halfwarp::runtime
