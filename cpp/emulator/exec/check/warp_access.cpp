// SPDX-License-Identifier: Apache-2.0
// Finds the pattern of the addresses of a warp.
#include "emulator/exec/check/warp_access.hpp"

namespace halfwarp::emulator::exec {
namespace {

using pattern = warp_access::pattern;

// Returns whether all lanes of a half are active or none. Sets its pattern and first address.
template <class Address>
bool find_half(warp_access& access, std::uint32_t first) {
  const lane_mask lanes = access.lanes >> first & 0xffff;
  if (lanes != 0xffff) return lanes == 0;
  const Address* const at = access.view.at<Address>(access.instr.operand[4]) + first;
  const Address start = at[0], step = access.bytes;
  Address of_run = 0, of_uniform = 0;
  for (std::uint32_t i = 0; i < half_warp; ++i) {
    of_run |= at[i] ^ static_cast<Address>(start + i * step);
    of_uniform |= at[i] ^ start;
  }
  if (of_run && of_uniform) return false;
  warp_access::half& part = access.halves[first / half_warp];
  part.kind = of_run ? pattern::uniform : pattern::run;
  part.address = static_cast<Address>(start + static_cast<Address>(access.instr.immediate));
  return true;
}

}  // namespace

void find_pattern(warp_access& access) {
  warp& w = access.view;
  const access_shape& shape = access.site.shape;
  access.bytes = shape.bytes * elements_of(access.instr, shape);
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
