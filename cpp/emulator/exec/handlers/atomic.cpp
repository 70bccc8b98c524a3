// SPDX-License-Identifier: Apache-2.0
// Atomic operations. In global memory, each is a sequentially consistent atomic operation of the
// host, so that other threads of the process observe it.
#include "emulator/exec/lanes/half.hpp"
#include "emulator/exec/lanes/location.hpp"
#include "emulator/exec/lanes/operations.hpp"
#include "emulator/exec/watch/changes.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {
namespace {

struct sum {
  template <class T>
  static T of(T old, T b) {
    return old + b;
  }
};
struct flushed_sum {  // of f32 in global memory
  static float of(float old, float b) { return flushed(flushed(old) + flushed(b)); }
};

// Adds single or packed 16-bit floats.
template <class Format, class U>
struct half_sum {
  static U of(U old, U b) {
    U result = 0;
    for (unsigned shift = 0; shift < 8 * sizeof(U); shift += 16) {
      double x = Format::to_float(static_cast<u16>(old >> shift));
      double y = Format::to_float(static_cast<u16>(b >> shift));
      result =
          static_cast<U>(result | static_cast<U>(rounded_to<Format>(x + y, to_nearest)) << shift);
    }
    return result;
  }
};

template <int Bytes>
struct unsigned_of;
template <>
struct unsigned_of<2> {
  using type = u16;
};
template <>
struct unsigned_of<4> {
  using type = u32;
};
template <>
struct unsigned_of<8> {
  using type = u64;
};

// All blocks of a cluster run on the same host thread, so that plain accesses to shared memory are
// atomic.
template <class Location>
inline constexpr bool is_private = false;
template <class A>
inline constexpr bool is_private<shared_location<A>> = true;

// Operands: result, b, c (of cas), -, address. The result is the previous value.
template <class Operation, class T, class Location>
void update(warp& w, const instruction& instr) {
  using U = typename unsigned_of<sizeof(T)>::type;
  auto at = Location::find(w, instr, {report::access_kind::atomic, sizeof(T)});
  U* d = w.at<U>(instr.operand[0]);
  const T* b = w.at<T>(instr.operand[1]);
  for_active(w, [&](int l) {
    U* cell = reinterpret_cast<U*>(at.host(l));
    U old = __atomic_load_n(cell, __ATOMIC_RELAXED), changed;
    do {
      T value = Operation::of(__builtin_bit_cast(T, old), b[l]);
      changed = __builtin_bit_cast(U, value);
      if constexpr (is_private<Location>) {
        __atomic_store_n(cell, changed, __ATOMIC_RELAXED);
        break;
      }
    } while (!__atomic_compare_exchange_n(cell, &old, changed, true, __ATOMIC_SEQ_CST,
                                          __ATOMIC_RELAXED));
    d[l] = old;
  });
}

template <class U, class Location>
void add_integer(warp& w, const instruction& instr) {
  auto at = Location::find(w, instr, {report::access_kind::atomic, sizeof(U)});
  U* d = w.at<U>(instr.operand[0]);
  const U* b = w.at<U>(instr.operand[1]);
  for_active(w, [&](int l) {
    U* cell = reinterpret_cast<U*>(at.host(l));
    if constexpr (is_private<Location>) {
      const U old = __atomic_load_n(cell, __ATOMIC_RELAXED);
      __atomic_store_n(cell, static_cast<U>(old + b[l]), __ATOMIC_RELAXED);
      d[l] = old;
    } else {
      d[l] = __atomic_fetch_add(cell, b[l], __ATOMIC_SEQ_CST);
    }
  });
}

// Records the change: kernels acquire locks by exchange and compare-and-swap.
template <class U>
[[gnu::always_inline]] inline void record_if_changed(warp& w, const instruction& instr, int lane,
                                                     const U* cell, U before, U after,
                                                     bool is_cas) {
  if (!w.records_changes || before == after) return;
  record_change(w, instr, lane,
                {reinterpret_cast<uint64_t>(cell), before, after, sizeof(U), is_cas});
}

template <class U, class Location>
void exchange(warp& w, const instruction& instr) {
  auto at = Location::find(w, instr, {report::access_kind::atomic, sizeof(U)});
  U* d = w.at<U>(instr.operand[0]);
  const U* b = w.at<U>(instr.operand[1]);
  for_active(w, [&](int l) {
    U* cell = reinterpret_cast<U*>(at.host(l));
    U old = __atomic_exchange_n(cell, b[l], __ATOMIC_SEQ_CST);
    record_if_changed(w, instr, l, cell, old, b[l], false);
    d[l] = old;
  });
}

template <class U, class Location>
void compare_and_swap(warp& w, const instruction& instr) {
  auto at = Location::find(w, instr, {report::access_kind::atomic, sizeof(U)});
  U* d = w.at<U>(instr.operand[0]);
  const U *b = w.at<U>(instr.operand[1]), *c = w.at<U>(instr.operand[2]);
  for_active(w, [&](int l) {
    U* cell = reinterpret_cast<U*>(at.host(l));
    U expected = b[l], desired = c[l];
    bool is_equal = __atomic_compare_exchange_n(cell, &expected, desired, false, __ATOMIC_SEQ_CST,
                                                __ATOMIC_SEQ_CST);
    if (is_equal) record_if_changed(w, instr, l, cell, expected, desired, true);
    d[l] = expected;
  });
}

void fence(warp&, const instruction&) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// Checks the address of a vector. The target is the size of the vector in bytes.
void check_vector(warp& w, const instruction& instr) {
  global_location::find(w, instr, {report::access_kind::atomic, instr.target});
}

using in_global = global_location;
using in_shared = shared_location<uint64_t>;

constexpr handler_entry entries[] = {
    {"atom.global.add.b32", &add_integer<u32, in_global>},
    {"atom.global.add.b64", &add_integer<u64, in_global>},
    {"atom.global.add.bf16", &update<half_sum<bfloat, u16>, u16, in_global>},
    {"atom.global.add.bf16x2", &update<half_sum<bfloat, u32>, u32, in_global>},
    {"atom.global.add.f16", &update<half_sum<half, u16>, u16, in_global>},
    {"atom.global.add.f16x2", &update<half_sum<half, u32>, u32, in_global>},
    {"atom.global.add.f32", &update<flushed_sum, float, in_global>},
    {"atom.global.add.f64", &update<sum, double, in_global>},
    {"atom.global.and.b32", &update<conjunction, u32, in_global>},
    {"atom.global.and.b64", &update<conjunction, u64, in_global>},
    {"atom.global.cas.b16", &compare_and_swap<u16, in_global>},
    {"atom.global.cas.b32", &compare_and_swap<u32, in_global>},
    {"atom.global.cas.b64", &compare_and_swap<u64, in_global>},
    {"atom.global.dec.b32", &update<decrement, u32, in_global>},
    {"atom.global.exch.b32", &exchange<u32, in_global>},
    {"atom.global.exch.b64", &exchange<u64, in_global>},
    {"atom.global.inc.b32", &update<increment, u32, in_global>},
    {"atom.global.max.s32", &update<maximum, i32, in_global>},
    {"atom.global.max.s64", &update<maximum, i64, in_global>},
    {"atom.global.max.u32", &update<maximum, u32, in_global>},
    {"atom.global.max.u64", &update<maximum, u64, in_global>},
    {"atom.global.min.s32", &update<minimum, i32, in_global>},
    {"atom.global.min.s64", &update<minimum, i64, in_global>},
    {"atom.global.min.u32", &update<minimum, u32, in_global>},
    {"atom.global.min.u64", &update<minimum, u64, in_global>},
    {"atom.global.or.b32", &update<disjunction, u32, in_global>},
    {"atom.global.or.b64", &update<disjunction, u64, in_global>},
    {"atom.global.xor.b32", &update<exclusive_or, u32, in_global>},
    {"atom.global.xor.b64", &update<exclusive_or, u64, in_global>},
    {"atom.shared.add.b32", &add_integer<u32, in_shared>},
    {"atom.shared.add.b64", &add_integer<u64, in_shared>},
    {"atom.shared.add.bf16", &update<half_sum<bfloat, u16>, u16, in_shared>},
    {"atom.shared.add.bf16x2", &update<half_sum<bfloat, u32>, u32, in_shared>},
    {"atom.shared.add.f16", &update<half_sum<half, u16>, u16, in_shared>},
    {"atom.shared.add.f16x2", &update<half_sum<half, u32>, u32, in_shared>},
    {"atom.shared.add.f32", &update<sum, float, in_shared>},
    {"atom.shared.add.f64", &update<sum, double, in_shared>},
    {"atom.shared.and.b32", &update<conjunction, u32, in_shared>},
    {"atom.shared.and.b64", &update<conjunction, u64, in_shared>},
    {"atom.shared.cas.b16", &compare_and_swap<u16, in_shared>},
    {"atom.shared.cas.b32", &compare_and_swap<u32, in_shared>},
    {"atom.shared.cas.b64", &compare_and_swap<u64, in_shared>},
    {"atom.shared.dec.b32", &update<decrement, u32, in_shared>},
    {"atom.shared.exch.b32", &exchange<u32, in_shared>},
    {"atom.shared.exch.b64", &exchange<u64, in_shared>},
    {"atom.shared.inc.b32", &update<increment, u32, in_shared>},
    {"atom.shared.max.s32", &update<maximum, i32, in_shared>},
    {"atom.shared.max.s64", &update<maximum, i64, in_shared>},
    {"atom.shared.max.u32", &update<maximum, u32, in_shared>},
    {"atom.shared.max.u64", &update<maximum, u64, in_shared>},
    {"atom.shared.min.s32", &update<minimum, i32, in_shared>},
    {"atom.shared.min.s64", &update<minimum, i64, in_shared>},
    {"atom.shared.min.u32", &update<minimum, u32, in_shared>},
    {"atom.shared.min.u64", &update<minimum, u64, in_shared>},
    {"atom.shared.or.b32", &update<disjunction, u32, in_shared>},
    {"atom.shared.or.b64", &update<disjunction, u64, in_shared>},
    {"atom.shared.xor.b32", &update<exclusive_or, u32, in_shared>},
    {"atom.shared.xor.b64", &update<exclusive_or, u64, in_shared>},
    {"check.global", &check_vector},
    {"fence", &fence},
};
static_assert(is_sorted_by_name(entries));

}  // namespace

extern const handler_family atomic_handlers;
const handler_family atomic_handlers{entries};

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
