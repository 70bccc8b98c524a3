// SPDX-License-Identifier: Apache-2.0
// The layout of the memory that the ranks of a communicator share. A process may end at any moment,
// so nothing in it is a lock.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "emulated_nccl/call/message.hpp"

namespace halfwarp::emulated_nccl {

// Each rank has its own emulated device, of at most so many.
inline constexpr int max_ranks = 16;
using rank_mask = std::uint32_t;

enum class presence : std::uint32_t { absent, joining, joined, destroyed, aborted };

// A rank writes its own entry. Chunk number N of the communicator is in half N % 2 of its slot.
struct alignas(64) rank_entry {
  std::atomic<presence> state;
  std::int32_t process;
  std::uint64_t started;
  std::int64_t device;                   // domain and bus
  std::atomic<std::uint64_t> produced;   // chunks that the rank has written
  std::atomic<std::uint64_t> consumed;   // chunks that the rank has read from all others
  std::atomic<std::uint64_t> completed;  // operations
  std::atomic<rank_mask> awaited;        // the ranks for which an operation waits
  std::atomic<std::uint32_t> evaluated;  // value of the bell when `awaited` was computed
  message current;                       // kind none: in no operation
  message chunk[2];                      // descriptions of the two halves
  std::atomic<std::uint64_t> posted;     // numbers of the exchange of splits
  std::int64_t values[2][2];
};

struct alignas(64) pair_entry {
  std::atomic<std::uint64_t> produced, consumed;  // chunks
  message chunk[2];
};

struct segment_header {
  std::atomic<std::uint64_t> mark;  // set when the creator has initialized the header
  std::int32_t ranks;
  std::atomic<std::int32_t> joined;
  std::atomic<std::uint32_t> bell;     // futex; its value changes with every progress
  std::atomic<std::uint32_t> waiters;  // a killed process may leave it too high
  std::atomic<std::int32_t> error;     // a result, or `error_in_progress`
  char error_text[8192];
};
inline constexpr std::int32_t error_in_progress = -1;

// Offsets within the segment for a number of ranks.
struct segment_layout {
  explicit constexpr segment_layout(int rank_count) noexcept
      : ranks{static_cast<std::size_t>(rank_count)},
        slot_bytes{std::min<std::size_t>((1 << 20) / ranks, 256 << 10)},
        pair_bytes{std::clamp<std::size_t>((512 << 10) / (ranks * ranks) & ~std::size_t{4095}, 4096,
                                           64 << 10)} {}

  std::size_t ranks;
  std::size_t slot_bytes;  // of one half
  std::size_t pair_bytes;  // of one half

  constexpr std::size_t entries() const noexcept { return (sizeof(segment_header) + 63) & ~63ul; }
  constexpr std::size_t pairs() const noexcept { return entries() + ranks * sizeof(rank_entry); }
  constexpr std::size_t slots() const noexcept {
    return (pairs() + ranks * ranks * sizeof(pair_entry) + 4095) & ~4095ul;
  }
  constexpr std::size_t pair_data() const noexcept { return slots() + ranks * 2 * slot_bytes; }
  constexpr std::size_t bytes() const noexcept {
    return pair_data() + ranks * ranks * 2 * pair_bytes;
  }
};

}  // namespace halfwarp::emulated_nccl
