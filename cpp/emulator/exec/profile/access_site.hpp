// SPDX-License-Identifier: Apache-2.0
// The accesses of memory that a profile counts, and what one execution adds.
#pragma once

#include <cstdint>
#include <optional>

#include "emulator/exec/code.hpp"
#include "emulator/exec/profile/profile.hpp"
#include "emulator/exec/warp.hpp"

namespace halfwarp::emulator::ptx {
struct mnemonic;
}

namespace halfwarp::emulator::exec {

struct access_site {
  enum class place : std::uint8_t { global, shared, local };
  place space = place::global;  // an access of global memory may be generic
  bool is_narrow = false;       // the address has 32 bits
  bool is_atomic = false;
  bool is_copy = false;     // from global to shared memory
  bool is_matrix = false;   // lanes have the rows of matrices
  std::uint32_t bytes = 0;  // of one lane
};

// Returns the access of a decoded instruction, or nothing if a profile does not count it.
std::optional<access_site> find_site(const instruction& instr, const ptx::mnemonic& spelling);

// Adds one execution by `lanes`.
void add_access(access_counts& to, warp& w, const instruction& instr, const access_site& site,
                lane_mask lanes);

}  // namespace halfwarp::emulator::exec
