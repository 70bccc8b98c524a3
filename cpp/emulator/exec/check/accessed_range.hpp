// SPDX-License-Identifier: Apache-2.0
// A range of global memory that a launch accessed.
#pragma once

#include <cstdint>

namespace halfwarp::emulator::exec {

enum class range_use : std::uint8_t { read, write, update };

struct accessed_range {
  std::uint64_t first = 0, bytes = 0;
  range_use use = range_use::read;  // update: atomic, or a strong store
};

}  // namespace halfwarp::emulator::exec
