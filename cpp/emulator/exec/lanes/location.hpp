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

// The widest vectors of the instruction set.
#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif
template <class A>
struct vector_of {
  typedef A type __attribute__((vector_size(vector_bytes)));
};

// Returns true if any bit is set. A test to a mask has a fraction of the latency of a reduction.
template <class V>
[[gnu::always_inline]] inline bool has_bits(V v) {
#if defined(__AVX512F__)
  return _mm512_test_epi64_mask(__m512i(v), __m512i(v)) != 0;
#elif defined(__AVX2__)
  return !_mm256_testz_si256(__m256i(v), __m256i(v));
#else
  const auto words = __builtin_bit_cast(vector_of<uint64_t>::type, v);
  return (words[0] | words[1]) != 0;
#endif
}

template <class A>
struct lane_numbers {
  alignas(64) A number[half_warp];
};
template <class A>
inline constexpr lane_numbers<A> numbers = [] {
  lane_numbers<A> list{};
  for (int l = 0; l < half_warp; ++l) list.number[l] = static_cast<A>(l);
  return list;
}();

// Summarizes the addresses of all lanes, which GCC reduces one by one if the loop is scalar.
template <class A>
[[gnu::always_inline]] inline address_summary summarize_all(const A* address, A displacement,
                                                            A limit, A bytes) {
  using vector = typename vector_of<A>::type;
  constexpr int lanes_per_vector = vector_bytes / static_cast<int>(sizeof(A));
  constexpr A sign = A(1) << (8 * sizeof(A) - 1);
  const A* upper = address + half_warp;
  const A low_first = address[0], high_first = upper[0], low_bits = bytes - 1;
  const int shift = __builtin_ctzll(bytes);
  vector wrong{}, gaps{}, differences{};
  for (int l = 0; l < half_warp; l += lanes_per_vector) {
    vector low, high, number;
    __builtin_memcpy(&low, address + l, sizeof(low));
    __builtin_memcpy(&high, upper + l, sizeof(high));
    __builtin_memcpy(&number, numbers<A>.number + l, sizeof(number));
    const vector low_at = low + displacement, high_at = high + displacement;
    const vector outside = low_at | (limit - low_at) | high_at | (limit - high_at);
    wrong |= (outside & sign) | ((low_at | high_at) & low_bits);
    const vector low_offset = low - low_first, high_offset = high - high_first;
    differences |= low_offset | high_offset;
    const vector expected = number << shift;
    gaps |= (low_offset ^ expected) | (high_offset ^ expected);
  }
  return {has_bits(wrong), !has_bits(gaps), !has_bits(differences)};
}

// Checks accesses of `bytes` bytes at address[l] + displacement, which must lie in [0, limit].
// Differences are compared by their signs, since vector units have no unsigned 64-bit comparison.
template <class A>
[[gnu::always_inline]] inline address_summary summarize(const A* address, A displacement, A limit,
                                                        A bytes, lane_mask active) {
  if (active == all_lanes) {
    return summarize_all(address, displacement, limit, bytes);
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

// Records the shape of accesses that are `extent` bytes apart at most, if all are valid. `first` is
// the smallest displacement, and `host` is added to the sum.
template <class A>
[[gnu::always_inline]] inline void record_shape(lane_shape& shape, const A* address, A displacement,
                                                A limit, A bytes, uint64_t host) {
  const address_summary all = summarize_all(address, displacement, limit, bytes);
  shape.low = host + static_cast<A>(address[0] + displacement);
  shape.high = host + static_cast<A>(address[half_warp] + displacement);
  using form = lane_shape::form;
  shape.lanes = all.wrong           ? form::unknown
                : all.is_contiguous ? form::consecutive
                : all.is_uniform    ? form::equal
                                    : form::unknown;
}

struct global_location {
  // A warp executes a loop alone, and each iteration may read other lines. They are requested some
  // iterations before, since a line from memory takes longer than an iteration.
  static constexpr uint64_t iterations_ahead = 4;
  [[gnu::always_inline]] static void prefetch(const lane_shape& shape, uint64_t at) {
    __builtin_prefetch(reinterpret_cast<const void*>(at + shape.ahead));
  }
  // Checks half a warp's bytes of a store against the range that a store found: an instruction that
  // loads may have found the shape.
  [[gnu::always_inline]] static bool may_store(warp& w, const instruction& instr, uint64_t host,
                                               uint64_t bytes) {
    const range_cache& cached = w.ranges[instr.cache];
    const uint64_t offset = host - cached.view_offset - cached.first;
    const uint64_t size = cached.last - cached.first;
    return !cached.is_shared && offset <= size && size - offset >= bytes && cached.last;
  }
  // Finds the shape for this instruction and those that follow with the same addresses. `extent` is
  // the distance from the smallest displacement to the largest, and `own` that to its own.
  [[gnu::always_inline]] static void find_shape(warp& w, const instruction& instr,
                                                lane_shape& shape, uint64_t bytes, uint64_t own,
                                                uint64_t extent) {
    const range_cache& cached = w.ranges[instr.cache];
    const uint64_t first = static_cast<uint64_t>(instr.immediate) - own;
    const uint64_t host =
        cached.is_shared ? reinterpret_cast<uint64_t>(w.shared) : cached.first + cached.view_offset;
    const uint64_t before = shape.low;
    record_shape(shape, w.at<uint64_t>(instr.operand[4]), first - cached.first,
                 cached.last - cached.first - bytes - extent, bytes, host);
    shape.ahead = iterations_ahead * (shape.low - before);
  }
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
  static void prefetch(const lane_shape&, uint64_t) {}
  static bool may_store(warp&, const instruction&, uint64_t, uint64_t) { return true; }
  [[gnu::always_inline]] static void find_shape(warp& w, const instruction& instr,
                                                lane_shape& shape, A bytes, A own, A extent) {
    record_shape(shape, w.at<A>(instr.operand[4]), static_cast<A>(instr.immediate) - own,
                 static_cast<A>(w.shared_bytes - bytes - extent), bytes,
                 reinterpret_cast<uint64_t>(w.shared));
  }
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
