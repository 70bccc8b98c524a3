// SPDX-License-Identifier: Apache-2.0
// The documented formulas for the number of resident blocks per multiprocessor.
#pragma once

#include <cstdint>

#include "emulator/device/attributes.hpp"

namespace halfwarp::emulator {

// The resources that one block of a kernel needs.
struct block_demand {
  unsigned threads = 1;
  unsigned registers = 16;   // per thread
  std::uint64_t shared = 0;  // bytes, static and dynamic
};

// Returns 0 if not even one block fits.
int blocks_per_multiprocessor(const attribute_values& device, const block_demand& demand);

// Returns the dynamic shared memory in bytes with which `blocks` blocks fit, or -1.
std::int64_t dynamic_shared_for(const attribute_values& device, int blocks,
                                std::uint64_t static_shared);

}  // namespace halfwarp::emulator
