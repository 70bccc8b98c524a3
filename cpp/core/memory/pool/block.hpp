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

// Size and alignment of blocks.
inline constexpr std::size_t block_unit = 512;

// Blocks up to this size are small.
inline constexpr std::size_t small_limit = std::size_t{1} << 20;

// The blocks that a segment may hold. Small blocks that stay allocated would prevent the merging of
// the large blocks around them.
enum class segment_use : unsigned char { small_blocks = 1, large_blocks = 2, all_blocks = 3 };

[[nodiscard]] constexpr segment_use use_for(std::size_t size) noexcept {
  return size <= small_limit ? segment_use::small_blocks : segment_use::large_blocks;
}

[[nodiscard]] constexpr bool is_for(segment_use first, segment_use second) noexcept {
  return (static_cast<unsigned>(first) & static_cast<unsigned>(second)) != 0;
}

// A contiguous piece of upstream memory.
struct segment {
  CUdeviceptr address;
  std::size_t size;
  segment_use use;
  void* owner;  // the upstream buffer, released by the layer above
  block* first;
  segment* next = nullptr;
};

struct block {
  CUdeviceptr address = 0;
  std::size_t size = 0;           // a multiple of block_unit
  stream_blocks* home = nullptr;  // list of its deallocation stream
  unsigned long long freed = 0;   // number of its free in `home`; the last one of a merged block
  segment* parent = nullptr;      // the segment that it is part of
  block* previous = nullptr;      // its neighbor in the segment
  block* following = nullptr;     // its neighbor in the segment
  block* next = nullptr;          // in a list
  block** place = nullptr;        // pointer to this block, in a list of free_blocks
  bool is_free = false;           // whether it is in the free_blocks of its home
  bool has_no_owner = false;      // whether it is live and only its address can free it
  // Set for a live block; other threads read them for reports.
  std::atomic<std::size_t> requested{0};  // 0: not live
  std::atomic<CUstream> stream{nullptr};  // its allocation stream
  std::atomic<std::int64_t> since{0};     // allocation time, in ns of the monotonic clock
};

// A search for a block that was freed up to number `latest`, in a segment for `use`.
struct block_request {
  std::size_t size;
  segment_use use = segment_use::all_blocks;
  unsigned long long latest = ~0ull;
};

// Returns the bin of a size: one bin per multiple of block_unit below sixteen, then eight per
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
