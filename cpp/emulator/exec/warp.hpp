// SPDX-License-Identifier: Apache-2.0
// State of a running warp that handlers access.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "emulator/exec/instruction.hpp"

namespace halfwarp::emulator::exec {

inline constexpr int warp_size = 32;
using lane_mask = std::uint32_t;
inline constexpr lane_mask all_lanes = 0xffff'ffffu;

struct block_state;
struct frame;
struct function_code;

// Caches the last allocation that an instruction accessed, so that accesses inside it skip the
// look-up.
struct range_cache {
  std::uint64_t first = 1, last = 0;  // empty: no address is inside
  std::uint64_t view_offset = 0;      // added to an address: the host address
  bool is_shared = false;             // the shared memory window: each block has its own offset
};

// Locates the accesses of lanes, after the check of an address that several instructions use.
struct lane_shape {
  enum class form : std::uint8_t { unknown, consecutive, equal };
  // Host addresses of the first lane of each half, for the smallest displacement.
  std::uint64_t low = 0, high = 0;
  std::uint64_t ahead = 0;     // from `low` to the addresses of a later iteration, if it is a loop
  std::uint64_t round = 0;     // in which a lasting shape was found
  form lanes = form::unknown;  // of each half; unknown: each instruction checks its addresses
};
// Shapes of one basic block, and shapes that accesses of several blocks use in a round.
inline constexpr std::size_t shape_count = 8, lasting_shapes = 8;

// Steps of an instruction in which lanes read each other. Lanes that arrive in several splits
// first write to warp::exchange, then read from it.
enum class exchange_step : std::uint8_t { write_and_read, write, read };

struct warp {
  // State of the current frame.
  std::byte* registers = nullptr;
  const std::byte* constants = nullptr;
  lane_mask* predicates = nullptr;
  lane_mask active = 0;          // lanes that execute the instruction
  std::uint32_t frame_base = 0;  // of the frame in local memory, bytes
  std::uint32_t stack_top = 0;   // end of the frame in local memory, bytes
  const function_code* function = nullptr;
  frame* current = nullptr;

  // State of the block and the launch.
  range_cache* ranges = nullptr;
  std::byte* shared = nullptr;
  std::uint32_t shared_bytes = 0;
  std::byte* local = nullptr;  // of lane 0; next lanes at multiples of local_stride
  std::uint32_t local_stride = 0;
  const std::byte* parameters = nullptr;  // of the kernel
  block_state* block = nullptr;
  bool records_changes = false;  // records atomic changes of words, see watch/changes.hpp

  std::uint32_t index = 0;  // within the block
  lane_mask existing = 0;   // lanes that have a thread of the block
  lane_mask live = 0;       // existing lanes that have not exited
  std::array<std::array<std::uint32_t, warp_size>, 3> thread{};  // x, y, z of each lane
  std::uint64_t executed = 0;                                    // thread-instructions

  // State of collective instructions.
  exchange_step step = exchange_step::write_and_read;
  lane_mask participants = 0;
  std::array<std::uint64_t, warp_size> exchange{};
  // Host addresses per lane, for accesses to several allocations.
  alignas(64) std::array<std::uint64_t, warp_size> host_address{};
  // Describes addresses that several instructions use.
  std::array<lane_shape, shape_count + lasting_shapes> shapes{};
  std::uint64_t round = 0;  // of the block, counted

  template <class T>
  T* at(operand_slot slot) noexcept {
    std::byte* base = slot >= 0 ? registers : const_cast<std::byte*>(constants);
    return reinterpret_cast<T*>(base + (slot >= 0 ? slot : ~slot));
  }
};

}  // namespace halfwarp::emulator::exec
