// SPDX-License-Identifier: Apache-2.0
// How many blocks of a kernel fit on a multiprocessor: the documented formulas.
#pragma once

#include <cstdint>

#include "emulator/device/attributes.hpp"

namespace halfwarp::emulator {

// What one block of a kernel takes.
struct block_demand {
  unsigned threads = 1;
  unsigned registers = 16;   // per thread
  std::uint64_t shared = 0;  // bytes, static and dynamic
};

// 0 when not even one block fits.
int blocks_per_multiprocessor(const attribute_values& device, const block_demand& demand);

// Bytes of dynamic shared memory that a block may have so that so many blocks fit, or -1.
std::int64_t dynamic_shared_for(const attribute_values& device, int blocks,
                                std::uint64_t static_shared);

}  // namespace halfwarp::emulator
