// SPDX-License-Identifier: Apache-2.0
// The last writer of each word of global memory that a grid wrote.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "emulator/report/fault.hpp"

namespace halfwarp::emulator::report {

struct launch_writes {
  struct entry {
    std::uint64_t first = 0;  // address
    std::uint32_t bytes = 0;
    std::uint32_t block = 0, thread = 0;  // numbers in the grid and in the block
    std::uint32_t place = 0;              // in `places`
    bool is_run = false;                  // each next word belongs to the next thread

    // Adds an entry that continues this one. Returns false for another.
    bool extend(const entry& next) {
      const bool continues = is_run && next.is_run && next.first == first + bytes &&
                             next.block == block && next.place == place &&
                             next.thread == thread + bytes / 4;
      if (continues) bytes += next.bytes;
      return continues;
    }
  };
  std::string kernel;  // the name in the PTX; empty: a copy or memset by a kernel
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::vector<entry> entries;          // in ascending order of addresses
  std::vector<earlier_access> places;  // without block and thread
};

}  // namespace halfwarp::emulator::report
