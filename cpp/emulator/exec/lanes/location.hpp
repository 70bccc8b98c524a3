// SPDX-License-Identifier: Apache-2.0
// From the address operand of an access to host addresses, with every check: the fast path.
#pragma once

#include "emulator/exec/access.hpp"
#include "emulator/exec/lanes/lanes.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {

// What the lanes' addresses have in common; a check failed when the value is not zero.
struct address_summary {
  uint64_t outside = 0, misaligned = 0, gaps = 0;
};

// Lane l accesses `bytes` bytes at address[l] + displacement, allowed from 0 to `limit`, the last
// allowed start. Differences are compared through their signs: vector code has no unsigned
// comparison of 64 bits.
template <class A>
[[gnu::always_inline]] inline address_summary summarise(const A* address, A displacement, A limit,
                                                        A bytes, lane_mask active) {
  A outside = 0, misaligned = 0, gaps = 0;
  if (active == all_lanes) {
    A first = address[0];
    for (int l = 0; l < warp_size; ++l) {
      A at = address[l] + displacement;
      outside |= at | (limit - at);
      misaligned |= at;
      gaps |= address[l] ^ static_cast<A>(first + static_cast<A>(l) * bytes);
    }
  } else {
    gaps = 1;
    for (int l = 0; l < warp_size; ++l) {
      A at = active & lanes.bit[l] ? address[l] + displacement : 0;
      A end = active & lanes.bit[l] ? limit : 0;
      outside |= at | (end - at);
      misaligned |= at;
    }
  }
  constexpr int sign = 8 * sizeof(A) - 1;
  return {static_cast<uint64_t>(outside >> sign), static_cast<uint64_t>(misaligned & (bytes - 1)),
          static_cast<uint64_t>(gaps)};
}

struct global_location {
  using register_type = uint64_t;

  [[gnu::noinline]] static lane_view find(warp& w, const instruction& in, access wanted) {
    const uint64_t* address = w.at<uint64_t>(in.operand[4]);
    const range_cache& known = w.ranges[in.cache];
    uint64_t bytes = wanted.bytes;
    // The base of an allocation is aligned, so offsets tell about alignment as addresses do.
    uint64_t displacement = static_cast<uint64_t>(in.immediate) - known.first;
    uint64_t limit = known.last - known.first - bytes;
    address_summary summary = summarise(address, displacement, limit, bytes, w.active);
    if (__builtin_expect((summary.outside | summary.misaligned) != 0, 0)) {
      return find_lanes(w, in, address, wanted);
    }
    uint64_t offset = known.is_shared
                          ? reinterpret_cast<uint64_t>(w.shared) - known.first
                          : known.view_offset;
    return {address, offset + static_cast<uint64_t>(in.immediate), summary.gaps == 0};
  }
};

template <class A>
struct shared_location {
  using register_type = A;

  static uint64_t offset_of(warp& w, const instruction& in, int lane) {
    return static_cast<A>(w.at<A>(in.operand[4])[lane] + static_cast<A>(in.immediate));
  }
  [[gnu::noinline]] static lane_view find(warp& w, const instruction& in, access wanted) {
    const A* address = w.at<A>(in.operand[4]);
    A displacement = static_cast<A>(in.immediate);
    A limit = static_cast<A>(w.shared_bytes) - static_cast<A>(wanted.bytes);
    address_summary summary =
        summarise(address, displacement, limit, static_cast<A>(wanted.bytes), w.active);
    if (__builtin_expect((summary.outside | summary.misaligned) != 0, 0)) {
      raise_shared_fault(w, in, wanted, &offset_of);
    }
    uint64_t base = reinterpret_cast<uint64_t>(w.shared);
    if constexpr (sizeof(A) == 8) {
      return {address, base + static_cast<uint64_t>(in.immediate), summary.gaps == 0};
    } else {
      // 32-bit sums wrap, so they are made before they are widened.
      uint64_t* host = w.host_address.data();
      for (int l = 0; l < warp_size; ++l) host[l] = static_cast<A>(address[l] + displacement);
      return {host, base, summary.gaps == 0};
    }
  }
};

struct local_location {
  using register_type = uint64_t;

  static uint64_t offset_of(warp& w, const instruction& in, int lane) {
    uint64_t base = in.flags & access_flag::frame_relative ? w.frame_base : 0;
    return w.at<uint64_t>(in.operand[4])[lane] + static_cast<uint64_t>(in.immediate) + base;
  }
  [[gnu::noinline]] static lane_view find(warp& w, const instruction& in, access wanted) {
    const uint64_t* address = w.at<uint64_t>(in.operand[4]);
    uint64_t base = in.flags & access_flag::frame_relative ? w.frame_base : 0;
    uint64_t displacement = static_cast<uint64_t>(in.immediate) + base;
    uint64_t limit = uint64_t{w.stack_top} - wanted.bytes;
    address_summary summary =
        summarise(address, displacement, limit, uint64_t{wanted.bytes}, w.active);
    if (__builtin_expect((summary.outside | summary.misaligned) != 0, 0)) {
      raise_local_fault(w, in, wanted, &offset_of);
    }
    uint64_t* host = w.host_address.data();
    uint64_t stride = w.local_stride;
    for (int l = 0; l < warp_size; ++l) {
      host[l] = address[l] + displacement + static_cast<uint64_t>(l) * stride;
    }
    return {host, reinterpret_cast<uint64_t>(w.local), false};
  }
};

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
