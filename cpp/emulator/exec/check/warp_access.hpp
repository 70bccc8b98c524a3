// SPDX-License-Identifier: Apache-2.0
// A memory access of a warp, with the addresses of its halves if they are regular.
#pragma once

#include <array>
#include <cstdint>

#include "emulator/exec/check/race_site.hpp"
#include "emulator/exec/warp.hpp"

namespace halfwarp::emulator::exec {

inline constexpr std::uint32_t half_warp = 16;

struct warp_access {
  enum class pattern : std::uint8_t {
    absent,   // no lane is active
    run,      // the bytes of neighboring lanes are neighbors
    uniform,  // all lanes access the same bytes
  };
  struct half {
    pattern kind = pattern::absent;
    std::uint64_t address = 0;  // for shared memory: offset from its start
    std::uint64_t cell = 0;     // host address
  };

  warp& view;
  const instruction& instr;
  const race_site& site;
  std::size_t number = 0;  // of the site
  lane_mask lanes = 0;
  std::uint32_t bytes = 0;  // of one lane
  // All bytes are in shared memory, or in one allocation, and each half has a pattern.
  bool is_regular = false;
  bool is_shared = false;
  std::array<half, 2> halves{};

  std::uint32_t bytes_of(const half& part) const {
    return part.kind == pattern::run ? half_warp * bytes : part.kind == pattern::absent ? 0 : bytes;
  }
};

}  // namespace halfwarp::emulator::exec
