// SPDX-License-Identifier: Apache-2.0
// Finds the pattern of the addresses of a warp.
#include "emulator/exec/check/warp_access.hpp"

#include <cstring>

namespace halfwarp::emulator::exec {
namespace {

using pattern = warp_access::pattern;

// Returns whether the addresses of half a warp are `start`, `start + step` and so on. Compares
// words of 64 bits: one or two addresses.
template <class Address>
bool are_steps(const Address* addresses, std::uint64_t step) {
  constexpr std::uint64_t count = sizeof(std::uint64_t) / sizeof(Address);
  constexpr std::uint64_t each = count == 2 ? 0x1'0000'0001 : 1;
  std::uint64_t expected = addresses[0] * each + (count == 2 ? step << 32 : 0), difference = 0;
  const std::uint64_t increment = count * step * each;
  for (std::uint32_t i = 0; i < half_warp; i += count) {
    std::uint64_t word;
    std::memcpy(&word, addresses + i, sizeof(word));
    difference |= word ^ expected;
    expected += increment;
  }
  return difference == 0;
}

// Returns whether all lanes of a half are active or none. Sets its pattern and first address.
template <class Address>
bool find_half(warp_access& access, std::uint32_t first) {
  const lane_mask lanes = access.lanes >> first & 0xffff;
  if (lanes != 0xffff) return lanes == 0;
  const Address* const at = access.view.at<Address>(access.instr.operand[4]) + first;
  const bool is_run = are_steps(at, access.bytes);
  if (!is_run && !are_steps(at, 0)) return false;
  warp_access::half& part = access.halves[first / half_warp];
  part.kind = is_run ? pattern::run : pattern::uniform;
  part.address = static_cast<Address>(at[0] + static_cast<Address>(access.instr.immediate));
  return true;
}

}  // namespace

void find_pattern(warp_access& access) {
  warp& w = access.view;
  const access_shape& shape = access.site.shape;
  const auto find = shape.is_narrow ? &find_half<std::uint32_t> : &find_half<std::uint64_t>;
  if (!find(access, 0) || !find(access, half_warp)) return;
  const range_cache& cached = w.ranges[access.instr.cache];
  const std::uint64_t first = shape.is_shared ? 0 : cached.first;
  const std::uint64_t size = shape.is_shared              ? w.shared_bytes
                             : cached.last < cached.first ? 0
                                                          : cached.last - cached.first;
  access.is_shared = shape.is_shared || cached.is_shared;
  const std::uint64_t host =
      access.is_shared ? reinterpret_cast<std::uint64_t>(w.shared) : cached.view_offset;
  for (warp_access::half& part : access.halves) {
    if (part.kind == pattern::absent) continue;
    const std::uint64_t offset = part.address - first;
    if (offset >= size || size - offset < access.bytes_of(part)) return;
    if (access.is_shared) part.address = offset;
    part.cell = host + part.address;
  }
  access.is_regular = true;
}

}  // namespace halfwarp::emulator::exec
