// SPDX-License-Identifier: Apache-2.0
// From the address operand of an access to host addresses, with every check: the fast path.
#pragma once

#include "emulator/exec/access.hpp"
#include "emulator/exec/lanes/lanes.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {

// Where the bytes of each lane are in this process. Addresses of 32 bits wrap as they do on a
// device, so they are added up before they are widened.
template <class A>
struct located {
  const A* address = nullptr;
  A displacement = 0;
  uint64_t base = 0;
  // Of each half of a warp, whose lanes are all active: tiles are often 16 wide.
  bool is_contiguous = false;  // one after another
  bool is_uniform = false;     // all the same

  [[gnu::always_inline]] uint64_t host(int lane) const {
    return base + static_cast<A>(address[lane] + displacement);
  }
};

inline constexpr int half_warp = warp_size / 2;

// What the lanes' addresses have in common; a check failed when `wrong` is not zero.
struct address_summary {
  uint64_t wrong = 0;
  bool is_contiguous = false, is_uniform = false;
};

template <class A>
struct full_summary {
  A wrong = 0, gaps = 0, differences = 0;
};

// Loops without other control flow, so that they become vector code; as few reductions as can be.
template <class A>
[[gnu::always_inline]] inline full_summary<A> summarise_all(const A* address, A displacement,
                                                            A limit, A bytes) {
  constexpr A sign = A(1) << (8 * sizeof(A) - 1);
  const A* upper = address + half_warp;
  A low_first = address[0], high_first = upper[0], low_bits = bytes - 1;
  A wrong = 0, gaps = 0, differences = 0;
  for (int l = 0; l < half_warp; ++l) {
    A low = address[l] + displacement, high = upper[l] + displacement;
    A outside = low | (limit - low) | high | (limit - high);
    wrong |= (outside & sign) | ((low | high) & low_bits);
    A low_offset = address[l] - low_first, high_offset = upper[l] - high_first;
    differences |= low_offset | high_offset;
    A expected = static_cast<A>(l) * bytes;
    gaps |= (low_offset ^ expected) | (high_offset ^ expected);
  }
  return {wrong, gaps, differences};
}

// Lane l accesses `bytes` bytes at address[l] + displacement, allowed from 0 to `limit`, the last
// allowed start. Differences are compared through their signs: vector code has no unsigned
// comparison of 64 bits.
template <class A>
[[gnu::always_inline]] inline address_summary summarise(const A* address, A displacement, A limit,
                                                        A bytes, lane_mask active) {
  if (active == all_lanes) {
    full_summary<A> all = summarise_all(address, displacement, limit, bytes);
    return {all.wrong, all.gaps == 0, all.differences == 0};
  }
  A outside = 0, misaligned = 0;
  for (int l = 0; l < warp_size; ++l) {
    A at = active & lanes.bit[l] ? address[l] + displacement : 0;
    A end = active & lanes.bit[l] ? limit : 0;
    outside |= at | (end - at);
    misaligned |= at;
  }
  constexpr int sign = 8 * sizeof(A) - 1;
  return {(outside >> sign) | (misaligned & (bytes - 1)), false, false};
}

struct global_location {
  [[gnu::noinline]] static located<uint64_t> find(warp& w, const instruction& in, access wanted) {
    const uint64_t* address = w.at<uint64_t>(in.operand[4]);
    const range_cache& known = w.ranges[in.cache];
    uint64_t bytes = wanted.bytes;
    // The base of an allocation is aligned, so offsets tell about alignment as addresses do.
    uint64_t displacement = static_cast<uint64_t>(in.immediate) - known.first;
    uint64_t limit = known.last - known.first - bytes;
    address_summary summary = summarise(address, displacement, limit, bytes, w.active);
    if (__builtin_expect(summary.wrong != 0, 0)) {
      lane_view found = find_lanes(w, in, address, wanted);
      return {found.address, 0, found.offset, false, false};
    }
    uint64_t offset =
        known.is_shared ? reinterpret_cast<uint64_t>(w.shared) - known.first : known.view_offset;
    return {address, 0, offset + static_cast<uint64_t>(in.immediate), summary.is_contiguous,
            summary.is_uniform};
  }
};

template <class A>
struct shared_location {
  static uint64_t offset_of(warp& w, const instruction& in, int lane) {
    return static_cast<A>(w.at<A>(in.operand[4])[lane] + static_cast<A>(in.immediate));
  }
  [[gnu::noinline]] static located<A> find(warp& w, const instruction& in, access wanted) {
    const A* address = w.at<A>(in.operand[4]);
    A displacement = static_cast<A>(in.immediate);
    A limit = static_cast<A>(w.shared_bytes) - static_cast<A>(wanted.bytes);
    address_summary summary =
        summarise(address, displacement, limit, static_cast<A>(wanted.bytes), w.active);
    if (__builtin_expect(summary.wrong != 0, 0)) raise_shared_fault(w, in, wanted, &offset_of);
    return {address, displacement, reinterpret_cast<uint64_t>(w.shared), summary.is_contiguous,
            summary.is_uniform};
  }
};

struct local_location {
  static uint64_t offset_of(warp& w, const instruction& in, int lane) {
    uint64_t base = in.flags & access_flag::frame_relative ? w.frame_base : 0;
    return w.at<uint64_t>(in.operand[4])[lane] + static_cast<uint64_t>(in.immediate) + base;
  }
  [[gnu::noinline]] static located<uint64_t> find(warp& w, const instruction& in, access wanted) {
    const uint64_t* address = w.at<uint64_t>(in.operand[4]);
    uint64_t base = in.flags & access_flag::frame_relative ? w.frame_base : 0;
    uint64_t displacement = static_cast<uint64_t>(in.immediate) + base;
    uint64_t limit = uint64_t{w.stack_top} - wanted.bytes;
    address_summary summary =
        summarise(address, displacement, limit, uint64_t{wanted.bytes}, w.active);
    if (__builtin_expect(summary.wrong != 0, 0)) raise_local_fault(w, in, wanted, &offset_of);
    uint64_t* host = w.host_address.data();
    uint64_t stride = w.local_stride;
    for (int l = 0; l < warp_size; ++l) {
      host[l] = address[l] + displacement + static_cast<uint64_t>(l) * stride;
    }
    return {host, 0, reinterpret_cast<uint64_t>(w.local), false, false};
  }
};

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
