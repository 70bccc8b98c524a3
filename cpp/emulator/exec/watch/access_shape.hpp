// SPDX-License-Identifier: Apache-2.0
// What a decoded instruction does to memory, told by its handler.
#pragma once

#include <cstdint>
#include <optional>

#include "emulator/exec/warp.hpp"

namespace halfwarp::emulator::exec {

enum class memory_use : std::uint8_t {
  none,
  load,
  store,
  cas,
  exch,
  update,
  clock,
  chance,   // what depends on which lanes happen to go together
  unknown,  // what is not followed here: textures, surfaces
};

struct access_shape {
  memory_use use = memory_use::none;  // of memory that threads share
  bool is_shared = false;             // the space is named
  bool is_narrow = false;             // the address has 32 bits
  std::uint8_t bytes = 0;             // of one element, in memory
  std::uint8_t register_bytes = 0;    // of one element, in a register
};

access_shape shape_of(const instruction& in);

// A word of memory that threads share, as one thread names it.
struct shared_word {
  std::uint64_t cell = 0;     // its place in this process
  std::uint64_t address = 0;  // in shared memory: offset from the start
  bool is_shared = false;
};

// Element `n` of the access of a lane; nothing: local memory, or it may not be accessed.
std::optional<shared_word> word_of(warp& w, const instruction& in, const access_shape& shape,
                                   int lane, std::uint32_t n = 0);
// How many elements one access has.
std::uint32_t elements_of(const instruction& in, const access_shape& shape);

std::uint64_t read_word(std::uint64_t cell, std::uint32_t bytes) noexcept;
// The value of one lane of a register or constant.
std::uint64_t read_register(warp& w, operand_slot slot, int lane, std::uint32_t bytes) noexcept;
void write_register(warp& w, operand_slot slot, int lane, std::uint32_t bytes,
                    std::uint64_t value) noexcept;

}  // namespace halfwarp::emulator::exec
