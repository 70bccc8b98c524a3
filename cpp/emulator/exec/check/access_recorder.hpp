// SPDX-License-Identifier: Apache-2.0
// Records the bytes of global memory that a launch accesses.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "emulator/exec/check/accessed_range.hpp"
#include "emulator/exec/check/warp_access.hpp"
#include "emulator/exec/warp.hpp"

namespace halfwarp::emulator::exec {

struct launch_state;

// Used by one host thread.
class access_recorder {
 public:
  explicit access_recorder(const launch_state& launch) : launch_{launch} {}
  // Returns whether the accesses of an instruction need `record`.
  static bool is_recorded(const race_site& site);
  // Call before lanes execute an instruction. Its frame must be active.
  void record(const warp_access& access);
  // Returns the ranges in ascending order for each use, or nothing if they are too many.
  std::vector<accessed_range> ranges() const;

 private:
  static constexpr std::uint64_t page_bytes = 4096;
  static constexpr std::size_t max_ranges = 1 << 16;
  using page_bits = std::array<std::array<std::uint64_t, page_bytes / 64>, 3>;  // by use

  void add(std::uint64_t address, std::uint32_t bytes, range_use use);

  const launch_state& launch_;
  std::map<std::uint64_t, page_bits> pages_;
  struct known_page {
    std::uint64_t number = ~0ull;
    page_bits* bits = nullptr;
  };
  std::array<known_page, 256> known_{};  // by the lowest bits of the number
};

}  // namespace halfwarp::emulator::exec
