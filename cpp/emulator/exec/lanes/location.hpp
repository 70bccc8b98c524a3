// SPDX-License-Identifier: Apache-2.0
// Converts the address operand of an access to host addresses and checks it: the fast path.
#pragma once

#include "emulator/exec/access.hpp"
#include "emulator/exec/lanes/lanes.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {

// Host addresses of the lanes' bytes. 32-bit addresses wrap as on a device, so the sum is computed
// before it is widened.
template <class A>
struct located {
  const A* address = nullptr;
  A displacement = 0;
  uint64_t base = 0;
  // Properties of each half of a fully active warp, because tiles are often 16 wide.
  bool is_contiguous = false;  // consecutive addresses
  bool is_uniform = false;     // equal addresses

  [[gnu::always_inline]] uint64_t host(int lane) const {
    return base + static_cast<A>(address[lane] + displacement);
  }
};

inline constexpr int half_warp = warp_size / 2;

// Common properties of the lanes' addresses. A nonzero `wrong` means that a check failed.
struct address_summary {
  uint64_t wrong = 0;
  bool is_contiguous = false, is_uniform = false;
};

template <class A>
struct full_summary {
  A wrong = 0, gaps = 0, differences = 0;
};

// The loops have no other control flow and few reductions, so that the compiler vectorizes them.
template <class A>
[[gnu::always_inline]] inline full_summary<A> summarize_all(const A* address, A displacement,
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

// Checks accesses of `bytes` bytes at address[l] + displacement, which must lie in [0, limit].
// Differences are compared by their signs, since vector units have no unsigned 64-bit comparison.
template <class A>
[[gnu::always_inline]] inline address_summary summarize(const A* address, A displacement, A limit,
                                                        A bytes, lane_mask active) {
  if (active == all_lanes) {
    full_summary<A> all = summarize_all(address, displacement, limit, bytes);
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
  [[gnu::noinline]] static located<uint64_t> find(warp& w, const instruction& instr,
                                                  access requested) {
    const uint64_t* address = w.at<uint64_t>(instr.operand[4]);
    const range_cache& cached = w.ranges[instr.cache];
    uint64_t bytes = requested.bytes;
    // The base of a cached range is aligned, so offsets and addresses have the same alignment.
    uint64_t displacement = static_cast<uint64_t>(instr.immediate) - cached.first;
    uint64_t limit = cached.last - cached.first - bytes;
    address_summary summary = summarize(address, displacement, limit, bytes, w.active);
    if (__builtin_expect(summary.wrong != 0, 0)) {
      lane_view view = find_lanes(w, instr, address, requested);
      return {view.address, 0, view.offset, false, false};
    }
    uint64_t offset =
        cached.is_shared ? reinterpret_cast<uint64_t>(w.shared) - cached.first : cached.view_offset;
    return {address, 0, offset + static_cast<uint64_t>(instr.immediate), summary.is_contiguous,
            summary.is_uniform};
  }
};

template <class A>
struct shared_location {
  static uint64_t offset_of(warp& w, const instruction& instr, int lane) {
    return static_cast<A>(w.at<A>(instr.operand[4])[lane] + static_cast<A>(instr.immediate));
  }
  [[gnu::noinline]] static located<A> find(warp& w, const instruction& instr, access requested) {
    const A* address = w.at<A>(instr.operand[4]);
    A displacement = static_cast<A>(instr.immediate);
    A limit = static_cast<A>(w.shared_bytes) - static_cast<A>(requested.bytes);
    address_summary summary =
        summarize(address, displacement, limit, static_cast<A>(requested.bytes), w.active);
    if (__builtin_expect(summary.wrong != 0, 0))
      raise_shared_fault(w, instr, requested, &offset_of);
    return {address, displacement, reinterpret_cast<uint64_t>(w.shared), summary.is_contiguous,
            summary.is_uniform};
  }
};

struct local_location {
  static uint64_t offset_of(warp& w, const instruction& instr, int lane) {
    uint64_t base = instr.flags & access_flag::frame_relative ? w.frame_base : 0;
    return w.at<uint64_t>(instr.operand[4])[lane] + static_cast<uint64_t>(instr.immediate) + base;
  }
  [[gnu::noinline]] static located<uint64_t> find(warp& w, const instruction& instr,
                                                  access requested) {
    const uint64_t* address = w.at<uint64_t>(instr.operand[4]);
    uint64_t base = instr.flags & access_flag::frame_relative ? w.frame_base : 0;
    uint64_t displacement = static_cast<uint64_t>(instr.immediate) + base;
    uint64_t limit = uint64_t{w.stack_top} - requested.bytes;
    address_summary summary =
        summarize(address, displacement, limit, uint64_t{requested.bytes}, w.active);
    if (__builtin_expect(summary.wrong != 0, 0)) raise_local_fault(w, instr, requested, &offset_of);
    uint64_t* host = w.host_address.data();
    uint64_t stride = w.local_stride;
    for (int l = 0; l < warp_size; ++l) {
      host[l] = address[l] + displacement + static_cast<uint64_t>(l) * stride;
    }
    return {host, 0, reinterpret_cast<uint64_t>(w.local), false, false};
  }
};

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
