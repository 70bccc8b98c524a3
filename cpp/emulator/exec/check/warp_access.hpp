// SPDX-License-Identifier: Apache-2.0
// A memory access of a warp, with the addresses of its halves if these have a pattern.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "emulator/exec/check/race_site.hpp"
#include "emulator/exec/warp.hpp"

namespace halfwarp::emulator::exec {

inline constexpr std::uint32_t half_warp = 16;

struct warp_access {
  enum class pattern : std::uint8_t {
    absent,   // no lane is active
    run,      // the bytes of neighboring lanes are neighbors
    uniform,  // all lanes access the same bytes
  };
  struct half {
    pattern kind = pattern::absent;
    std::uint64_t address = 0;  // for shared memory: offset from its start
    std::uint64_t cell = 0;     // host address
  };

  warp& view;
  const instruction& instr;
  const race_site& site;
  std::size_t number = 0;  // of the site
  lane_mask lanes = 0;
  std::uint32_t bytes = 0;  // of one lane
  // All bytes are in shared memory, or in one allocation, and each half has a pattern.
  bool is_regular = false;
  bool is_shared = false;
  std::array<half, 2> halves{};

  std::uint32_t bytes_of(const half& part) const {
    return part.kind == pattern::run ? half_warp * bytes : part.kind == pattern::absent ? 0 : bytes;
  }
};

// Returns whether each address of half a warp is `step` higher than the one before.
template <class Address>
[[gnu::always_inline]] inline bool has_step(const Address* addresses, Address step) {
  using vector [[gnu::vector_size(16)]] = Address;
  constexpr std::uint32_t count = sizeof(vector) / sizeof(Address), last = half_warp - 1 - count;
  vector low, high, difference{};
#pragma GCC unroll 8
  for (std::uint32_t i = 0; i < half_warp - 1; i += count) {
    const std::uint32_t first = i < last ? i : last;
    std::memcpy(&low, addresses + first, sizeof(low));
    std::memcpy(&high, addresses + first + 1, sizeof(high));
    difference |= (high - low) ^ step;
  }
  std::uint64_t words[2];
  std::memcpy(words, &difference, sizeof(words));
  return (words[0] | words[1]) == 0;
}

// Sets the pattern and the first address of a half. Returns false if it has none.
template <class Address>
[[gnu::always_inline]] inline bool find_half(warp_access& access, const Address* addresses,
                                             std::uint32_t first) {
  const lane_mask lanes = access.lanes >> first & 0xffff;
  if (lanes != 0xffff) return lanes == 0;
  const Address* const at = addresses + first;
  const Address step = at[1] - at[0];
  const bool is_run = step == access.bytes;
  if ((!is_run && step != 0) || !has_step(at, step)) return false;
  warp_access::half& part = access.halves[first / half_warp];
  part.kind = is_run ? warp_access::pattern::run : warp_access::pattern::uniform;
  part.address = static_cast<Address>(at[0] + static_cast<Address>(access.instr.immediate));
  return true;
}

template <class Address>
[[gnu::always_inline]] inline bool find_halves(warp_access& access) {
  const Address* const addresses = access.view.at<Address>(access.instr.operand[4]);
  return find_half(access, addresses, 0) && find_half(access, addresses, half_warp);
}

// Sets the addresses of an access whose bytes are set, unless its lanes have no pattern.
[[gnu::always_inline]] inline void find_pattern(warp_access& access) {
  const warp& w = access.view;
  const access_shape& shape = access.site.shape;
  const bool has_halves =
      shape.is_narrow ? find_halves<std::uint32_t>(access) : find_halves<std::uint64_t>(access);
  if (!has_halves) return;
  std::uint64_t first = 0, size = w.shared_bytes;
  std::uint64_t host = reinterpret_cast<std::uint64_t>(w.shared);
  access.is_shared = true;
  if (!shape.is_shared) {
    const range_cache& cached = w.ranges[access.instr.cache];
    access.is_shared = cached.is_shared;
    first = cached.first;
    size = cached.last < first ? 0 : cached.last - first;
    if (!cached.is_shared) host = cached.view_offset;
  }
  for (warp_access::half& part : access.halves) {
    if (part.kind == warp_access::pattern::absent) continue;
    const std::uint64_t offset = part.address - first;
    const std::uint64_t bytes = access.bytes_of(part);
    if (size < bytes || offset > size - bytes) return;
    if (access.is_shared) part.address = offset;
    part.cell = host + part.address;
  }
  access.is_regular = true;
}

// Copies the addresses of a shape to an access, each increased by `distance` bytes.
[[gnu::always_inline]] inline void take_shape(warp_access& access, const lane_shape& shape,
                                              std::uint32_t distance) {
  using pattern = warp_access::pattern;
  warp& w = access.view;
  const auto shared = reinterpret_cast<std::uint64_t>(w.shared);
  const std::uint64_t* const addresses = w.at<std::uint64_t>(access.instr.operand[4]);
  access.is_shared = access.site.shape.is_shared || shape.low - shared < w.shared_bytes;
  std::uint32_t lane = 0;
  for (warp_access::half& part : access.halves) {
    part.kind = shape.lanes == lane_shape::form::equal ? pattern::uniform : pattern::run;
    part.cell = (lane ? shape.high : shape.low) + distance;
    part.address = access.is_shared
                       ? part.cell - shared
                       : addresses[lane] + static_cast<std::uint64_t>(access.instr.immediate);
    lane += half_warp;
  }
  access.is_regular = true;
}

}  // namespace halfwarp::emulator::exec
