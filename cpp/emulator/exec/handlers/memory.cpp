// SPDX-License-Identifier: Apache-2.0
// Loads and stores of every state space.
#include "emulator/exec/lanes/location.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {
namespace {

template <class M>
[[gnu::always_inline]] inline M load_one(uint64_t at) {
  M value;
  __builtin_memcpy(&value, reinterpret_cast<const void*>(at), sizeof(M));
  return value;
}
template <class M>
[[gnu::always_inline]] inline void store_one(uint64_t at, M value) {
  __builtin_memcpy(reinterpret_cast<void*>(at), &value, sizeof(M));
}

// Copies the addresses, because a vector load may overwrite the registers that store them.
template <class A>
struct address_copy {
  alignas(64) A address[warp_size];
  explicit address_copy(located<A>& from) {
    for (int l = 0; l < warp_size; ++l) address[l] = from.address[l];
    from.address = address;
  }
};

// Loads an M from memory into a D register, extended by the signedness of M.
template <class M, class D, class A>
[[gnu::always_inline]] inline void load_half(D* d, const located<A>& from, int half) {
  int first = half * half_warp;
  if (sizeof(M) == sizeof(D) && from.is_contiguous) {
    const void* source = reinterpret_cast<const void*>(from.host(first));
    __builtin_memcpy(d + first, source, half_warp * sizeof(D));
  } else if (from.is_uniform) {
    D value = static_cast<D>(load_one<M>(from.host(first)));
    for (int l = first; l < first + half_warp; ++l) d[l] = value;
  } else {
#pragma GCC unroll 4  // full unrolling made these loops a quarter of the library's size
    for (int l = first; l < first + half_warp; ++l) {
      d[l] = static_cast<D>(load_one<M>(from.host(l)));
    }
  }
}

template <class M, class D, class A>
[[gnu::always_inline]] inline void load_lanes(warp& w, D* d, const located<A>& from) {
  if (w.active == all_lanes) {
#pragma GCC unroll 1
    for (int half = 0; half < 2; ++half) load_half<M>(d, from, half);
  } else {
    for_active(w, [&](int l) { d[l] = static_cast<D>(load_one<M>(from.host(l))); });
  }
}

template <class M, class D, class Location>
void load(warp& w, const instruction& instr) {
  uint32_t count = instr.flags & access_flag::count;
  access requested{report::access_kind::load, static_cast<uint32_t>(count * sizeof(M))};
  auto from = Location::find(w, instr, requested);
  if (count == 1) return load_lanes<M>(w, w.at<D>(instr.operand[0]), from);
  address_copy copy{from};
  from.is_contiguous = false;
  for (uint32_t i = 0; i < count; ++i, from.base += sizeof(M)) {
    load_lanes<M>(w, w.at<D>(instr.operand[i]), from);
  }
}

template <class M, class S, class A>
[[gnu::always_inline]] inline void store_half(const S* s, const located<A>& to, int half) {
  int first = half * half_warp;
  if (sizeof(M) == sizeof(S) && to.is_contiguous) {
    void* target = reinterpret_cast<void*>(to.host(first));
    __builtin_memcpy(target, s + first, half_warp * sizeof(S));
  } else {
#pragma GCC unroll 4
    for (int l = first; l < first + half_warp; ++l) store_one(to.host(l), static_cast<M>(s[l]));
  }
}

template <class M, class S, class Location>
void store(warp& w, const instruction& instr) {
  uint32_t count = instr.flags & access_flag::count;
  access requested{report::access_kind::store, static_cast<uint32_t>(count * sizeof(M))};
  auto to = Location::find(w, instr, requested);
  if (count > 1) to.is_contiguous = false;
  for (uint32_t i = 0; i < count; ++i, to.base += sizeof(M)) {
    const S* s = w.at<S>(instr.operand[i]);
    if (w.active == all_lanes) {
#pragma GCC unroll 1
      for (int half = 0; half < 2; ++half) store_half<M>(s, to, half);
    } else {
      for_active(w, [&](int l) { store_one(to.host(l), static_cast<M>(s[l])); });
    }
  }
}

// Kernel parameters are equal for all threads, and the decoder knows the offset.
template <class M, class D>
void load_parameter(warp& w, const instruction& instr) {
  uint32_t count = instr.flags & access_flag::count;
  uint64_t from = reinterpret_cast<uint64_t>(w.parameters) + static_cast<uint64_t>(instr.immediate);
  for (uint32_t i = 0; i < count; ++i) {
    D value = static_cast<D>(load_one<M>(from + i * sizeof(M)));
    assign(w, w.at<D>(instr.operand[i]), [=](int) { return value; });
  }
}

// Only checks the address: prefetch, discard.
void touch(warp& w, const instruction& instr) {
  global_location::find(w, instr, {report::access_kind::load, 1});
}

// d = a + first byte of the frame in local memory (a variable of a called function)
void local_address(warp& w, const instruction& instr) {
  uint64_t* d = w.at<uint64_t>(instr.operand[0]);
  uint64_t address = static_cast<uint64_t>(instr.immediate) + w.frame_base;
  assign(w, d, [=](int) { return address; });
}

using u8 = uint8_t;
using s8 = int8_t;
using u16 = uint16_t;
using s16 = int16_t;
using u32 = uint32_t;
using s32 = int32_t;
using u64 = uint64_t;
using s64 = int64_t;
using in_global = global_location;
using in_local = local_location;
using in_shared32 = shared_location<uint32_t>;
using in_shared64 = shared_location<uint64_t>;

// Names: ld.SPACE.MEMORY.REGISTER and st.SPACE.MEMORY.REGISTER, with the type in memory and the
// register's bits
constexpr handler_entry entries[] = {
    {"ld.global.s16.b32", &load<s16, s32, in_global>},
    {"ld.global.s16.b64", &load<s16, s64, in_global>},
    {"ld.global.s32.b64", &load<s32, s64, in_global>},
    {"ld.global.s8.b16", &load<s8, s16, in_global>},
    {"ld.global.s8.b32", &load<s8, s32, in_global>},
    {"ld.global.s8.b64", &load<s8, s64, in_global>},
    {"ld.global.u16.b16", &load<u16, u16, in_global>},
    {"ld.global.u16.b32", &load<u16, u32, in_global>},
    {"ld.global.u16.b64", &load<u16, u64, in_global>},
    {"ld.global.u32.b32", &load<u32, u32, in_global>},
    {"ld.global.u32.b64", &load<u32, u64, in_global>},
    {"ld.global.u64.b64", &load<u64, u64, in_global>},
    {"ld.global.u8.b16", &load<u8, u16, in_global>},
    {"ld.global.u8.b32", &load<u8, u32, in_global>},
    {"ld.global.u8.b64", &load<u8, u64, in_global>},
    {"ld.local.s16.b32", &load<s16, s32, in_local>},
    {"ld.local.s16.b64", &load<s16, s64, in_local>},
    {"ld.local.s32.b64", &load<s32, s64, in_local>},
    {"ld.local.s8.b16", &load<s8, s16, in_local>},
    {"ld.local.s8.b32", &load<s8, s32, in_local>},
    {"ld.local.s8.b64", &load<s8, s64, in_local>},
    {"ld.local.u16.b16", &load<u16, u16, in_local>},
    {"ld.local.u16.b32", &load<u16, u32, in_local>},
    {"ld.local.u16.b64", &load<u16, u64, in_local>},
    {"ld.local.u32.b32", &load<u32, u32, in_local>},
    {"ld.local.u32.b64", &load<u32, u64, in_local>},
    {"ld.local.u64.b64", &load<u64, u64, in_local>},
    {"ld.local.u8.b16", &load<u8, u16, in_local>},
    {"ld.local.u8.b32", &load<u8, u32, in_local>},
    {"ld.local.u8.b64", &load<u8, u64, in_local>},
    {"ld.param.s16.b32", &load_parameter<s16, s32>},
    {"ld.param.s16.b64", &load_parameter<s16, s64>},
    {"ld.param.s32.b64", &load_parameter<s32, s64>},
    {"ld.param.s8.b16", &load_parameter<s8, s16>},
    {"ld.param.s8.b32", &load_parameter<s8, s32>},
    {"ld.param.s8.b64", &load_parameter<s8, s64>},
    {"ld.param.u16.b16", &load_parameter<u16, u16>},
    {"ld.param.u16.b32", &load_parameter<u16, u32>},
    {"ld.param.u16.b64", &load_parameter<u16, u64>},
    {"ld.param.u32.b32", &load_parameter<u32, u32>},
    {"ld.param.u32.b64", &load_parameter<u32, u64>},
    {"ld.param.u64.b64", &load_parameter<u64, u64>},
    {"ld.param.u8.b16", &load_parameter<u8, u16>},
    {"ld.param.u8.b32", &load_parameter<u8, u32>},
    {"ld.param.u8.b64", &load_parameter<u8, u64>},
    {"ld.shared32.s16.b32", &load<s16, s32, in_shared32>},
    {"ld.shared32.s16.b64", &load<s16, s64, in_shared32>},
    {"ld.shared32.s32.b64", &load<s32, s64, in_shared32>},
    {"ld.shared32.s8.b16", &load<s8, s16, in_shared32>},
    {"ld.shared32.s8.b32", &load<s8, s32, in_shared32>},
    {"ld.shared32.s8.b64", &load<s8, s64, in_shared32>},
    {"ld.shared32.u16.b16", &load<u16, u16, in_shared32>},
    {"ld.shared32.u16.b32", &load<u16, u32, in_shared32>},
    {"ld.shared32.u16.b64", &load<u16, u64, in_shared32>},
    {"ld.shared32.u32.b32", &load<u32, u32, in_shared32>},
    {"ld.shared32.u32.b64", &load<u32, u64, in_shared32>},
    {"ld.shared32.u64.b64", &load<u64, u64, in_shared32>},
    {"ld.shared32.u8.b16", &load<u8, u16, in_shared32>},
    {"ld.shared32.u8.b32", &load<u8, u32, in_shared32>},
    {"ld.shared32.u8.b64", &load<u8, u64, in_shared32>},
    {"ld.shared64.s16.b32", &load<s16, s32, in_shared64>},
    {"ld.shared64.s16.b64", &load<s16, s64, in_shared64>},
    {"ld.shared64.s32.b64", &load<s32, s64, in_shared64>},
    {"ld.shared64.s8.b16", &load<s8, s16, in_shared64>},
    {"ld.shared64.s8.b32", &load<s8, s32, in_shared64>},
    {"ld.shared64.s8.b64", &load<s8, s64, in_shared64>},
    {"ld.shared64.u16.b16", &load<u16, u16, in_shared64>},
    {"ld.shared64.u16.b32", &load<u16, u32, in_shared64>},
    {"ld.shared64.u16.b64", &load<u16, u64, in_shared64>},
    {"ld.shared64.u32.b32", &load<u32, u32, in_shared64>},
    {"ld.shared64.u32.b64", &load<u32, u64, in_shared64>},
    {"ld.shared64.u64.b64", &load<u64, u64, in_shared64>},
    {"ld.shared64.u8.b16", &load<u8, u16, in_shared64>},
    {"ld.shared64.u8.b32", &load<u8, u32, in_shared64>},
    {"ld.shared64.u8.b64", &load<u8, u64, in_shared64>},
    {"local_address.b64", &local_address},
    {"st.global.u16.b16", &store<u16, u16, in_global>},
    {"st.global.u16.b32", &store<u16, u32, in_global>},
    {"st.global.u16.b64", &store<u16, u64, in_global>},
    {"st.global.u32.b32", &store<u32, u32, in_global>},
    {"st.global.u32.b64", &store<u32, u64, in_global>},
    {"st.global.u64.b64", &store<u64, u64, in_global>},
    {"st.global.u8.b16", &store<u8, u16, in_global>},
    {"st.global.u8.b32", &store<u8, u32, in_global>},
    {"st.global.u8.b64", &store<u8, u64, in_global>},
    {"st.local.u16.b16", &store<u16, u16, in_local>},
    {"st.local.u16.b32", &store<u16, u32, in_local>},
    {"st.local.u16.b64", &store<u16, u64, in_local>},
    {"st.local.u32.b32", &store<u32, u32, in_local>},
    {"st.local.u32.b64", &store<u32, u64, in_local>},
    {"st.local.u64.b64", &store<u64, u64, in_local>},
    {"st.local.u8.b16", &store<u8, u16, in_local>},
    {"st.local.u8.b32", &store<u8, u32, in_local>},
    {"st.local.u8.b64", &store<u8, u64, in_local>},
    {"st.shared32.u16.b16", &store<u16, u16, in_shared32>},
    {"st.shared32.u16.b32", &store<u16, u32, in_shared32>},
    {"st.shared32.u16.b64", &store<u16, u64, in_shared32>},
    {"st.shared32.u32.b32", &store<u32, u32, in_shared32>},
    {"st.shared32.u32.b64", &store<u32, u64, in_shared32>},
    {"st.shared32.u64.b64", &store<u64, u64, in_shared32>},
    {"st.shared32.u8.b16", &store<u8, u16, in_shared32>},
    {"st.shared32.u8.b32", &store<u8, u32, in_shared32>},
    {"st.shared32.u8.b64", &store<u8, u64, in_shared32>},
    {"st.shared64.u16.b16", &store<u16, u16, in_shared64>},
    {"st.shared64.u16.b32", &store<u16, u32, in_shared64>},
    {"st.shared64.u16.b64", &store<u16, u64, in_shared64>},
    {"st.shared64.u32.b32", &store<u32, u32, in_shared64>},
    {"st.shared64.u32.b64", &store<u32, u64, in_shared64>},
    {"st.shared64.u64.b64", &store<u64, u64, in_shared64>},
    {"st.shared64.u8.b16", &store<u8, u16, in_shared64>},
    {"st.shared64.u8.b32", &store<u8, u32, in_shared64>},
    {"st.shared64.u8.b64", &store<u8, u64, in_shared64>},
    {"touch.global", &touch},
};
static_assert(is_sorted_by_name(entries));

}  // namespace

extern const handler_family memory_handlers;
const handler_family memory_handlers{entries};

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
