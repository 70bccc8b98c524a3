// SPDX-License-Identifier: Apache-2.0
// Blocks: the parts that the segments of a pool are cut into.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace halfwarp::core {

class stream_blocks;
struct block;

// Blocks are multiples of this, and begin at multiples of it.
inline constexpr std::size_t block_unit = 512;

// Blocks up to this size are small.
inline constexpr std::size_t small_limit = std::size_t{1} << 20;

// Which blocks a segment is for: small ones that stay would keep what is between them from being
// joined for large ones.
enum class segment_use : unsigned char { small_blocks = 1, large_blocks = 2, all_blocks = 3 };

[[nodiscard]] constexpr segment_use use_for(std::size_t size) noexcept {
  return size <= small_limit ? segment_use::small_blocks : segment_use::large_blocks;
}

[[nodiscard]] constexpr bool is_for(segment_use one, segment_use other) noexcept {
  return (static_cast<unsigned>(one) & static_cast<unsigned>(other)) != 0;
}

// A piece of memory from upstream.
struct segment {
  CUdeviceptr address;
  std::size_t size;
  segment_use use;
  void* keeper;  // what gives it back: the layer above knows
  block* first;
  segment* next = nullptr;
};

struct block {
  CUdeviceptr address = 0;
  std::size_t size = 0;           // a multiple of block_unit
  stream_blocks* home = nullptr;  // on whose stream it goes back, or lies free
  unsigned long long freed = 0;   // which free of its home; of a merged one, the last
  segment* of = nullptr;
  block* before = nullptr;  // the neighbours in the segment
  block* after = nullptr;
  block* next = nullptr;    // in a list
  block** place = nullptr;  // the pointer that points here, in a list of free_blocks
  bool is_free = false;     // whether it lies in the free_blocks of its home
  // Of a live block; others read them for reports.
  std::atomic<std::size_t> requested{0};  // 0: not live
  std::atomic<CUstream> stream{nullptr};  // that it was allocated on
  std::atomic<std::int64_t> since{0};     // in nanoseconds of the monotonic clock
};

// What is looked for: not in use since a free up to that one, in a segment for such blocks.
struct wanted_block {
  std::size_t size;
  segment_use in = segment_use::all_blocks;
  unsigned long long latest = ~0ull;
};

// Which bin a size belongs to: one for each of the first sixteen multiples, then eight to an
// octave.
[[nodiscard]] constexpr unsigned bin_of(std::size_t size) noexcept {
  const std::size_t units = size / block_unit;
  if (units < 8) return static_cast<unsigned>(units);
  const unsigned octave = 63u - static_cast<unsigned>(__builtin_clzll(units));
  return (octave - 2) * 8 + static_cast<unsigned>(units >> (octave - 3) & 7);
}

static_assert(bin_of(block_unit) == 1 && bin_of(15 * block_unit) == 15);
static_assert(bin_of(16 * block_unit) == 16 && bin_of(17 * block_unit) == 16);

[[nodiscard]] constexpr std::size_t rounded_to_unit(std::size_t size) noexcept {
  return (size + block_unit - 1) & ~(block_unit - 1);
}

}  // namespace halfwarp::core
