// SPDX-License-Identifier: Apache-2.0
// Records the bytes of global memory that a launch accesses.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "emulator/exec/check/race_site.hpp"
#include "emulator/exec/warp.hpp"

namespace halfwarp::emulator::exec {

struct launch_state;

enum class range_use : std::uint8_t { read, write, update };

struct accessed_range {
  std::uint64_t first = 0, bytes = 0;
  range_use use = range_use::read;  // update: atomic, or a strong store
};

// Used by one host thread.
class access_recorder {
 public:
  explicit access_recorder(const launch_state& launch);
  // Call before lanes execute an instruction. Its frame must be active.
  void record(warp& w, const instruction& instr, lane_mask lanes);
  // Returns the ranges in ascending order for each use, or nothing if they are too many.
  std::vector<accessed_range> ranges() const;

 private:
  static constexpr std::uint64_t page_bytes = 4096;
  static constexpr std::size_t max_ranges = 1 << 16;
  using page_bits = std::array<std::array<std::uint64_t, page_bytes / 64>, 3>;  // by use

  void add(std::uint64_t address, std::uint32_t bytes, range_use use);

  const launch_state& launch_;
  std::vector<std::uint32_t> first_site_;  // by function; filled with the sites
  std::vector<race_site> sites_;           // of all functions
  std::map<std::uint64_t, page_bits> pages_;
  std::uint64_t last_number_ = ~0ull;
  page_bits* last_page_ = nullptr;
};

}  // namespace halfwarp::emulator::exec
