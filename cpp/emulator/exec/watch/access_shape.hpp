// SPDX-License-Identifier: Apache-2.0
// Describes the memory access of a decoded instruction.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

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
  chance,   // depends on the lanes that happen to be active
  unknown,  // not tracked: textures, surfaces
  fence,    // accesses nothing
};

struct access_shape {
  memory_use use = memory_use::none;  // of memory shared by threads
  bool is_shared = false;             // the instruction has .shared
  bool is_narrow = false;             // the address has 32 bits
  std::uint8_t bytes = 0;             // of one element, in memory
  std::uint8_t register_bytes = 0;    // of one element, in a register
};

access_shape shape_of(const instruction& instr);

// Splits the name of a handler at its dots: "atom", "global", "cas", "b32".
std::vector<std::string_view> parts_of_name(std::string_view name);
// Returns the size of a type: 2 for "u16", 4 for "bf16x2".
std::uint8_t bytes_of_type(std::string_view type);

// A word of memory shared by threads, as addressed by one thread.
struct shared_word {
  std::uint64_t cell = 0;     // host address
  std::uint64_t address = 0;  // for shared memory: offset from its start
  bool is_shared = false;
};

// Returns element `n` of a lane's access; nullopt for local or inaccessible memory.
std::optional<shared_word> word_of(warp& w, const instruction& instr, const access_shape& shape,
                                   int lane, std::uint32_t n = 0);
// Returns the number of elements of one access.
inline std::uint32_t elements_of(const instruction& instr, const access_shape& shape) {
  const bool is_vector = shape.use == memory_use::load || shape.use == memory_use::store;
  return is_vector ? instr.flags & access_flag::count : 1;
}

std::uint64_t read_word(std::uint64_t cell, std::uint32_t bytes) noexcept;
// Returns the address in a register of 4 bytes, if that is narrow, or of 8.
inline std::uint64_t read_address(warp& w, operand_slot slot, int lane, bool is_narrow) noexcept {
  return is_narrow ? w.at<std::uint32_t>(slot)[lane] : w.at<std::uint64_t>(slot)[lane];
}
// Reads one lane of a register or constant.
std::uint64_t read_register(warp& w, operand_slot slot, int lane, std::uint32_t bytes) noexcept;
void write_register(warp& w, operand_slot slot, int lane, std::uint32_t bytes,
                    std::uint64_t value) noexcept;

}  // namespace halfwarp::emulator::exec
