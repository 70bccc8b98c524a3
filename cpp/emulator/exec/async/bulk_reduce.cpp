// SPDX-License-Identifier: Apache-2.0
// The reductions of bulk copies, element by element, each an atomic operation of the host.
#include <algorithm>
#include <bit>
#include <iterator>

#include "emulator/exec/async/bulk_reduce.hpp"
#include "emulator/exec/lanes/half.hpp"
#include "emulator/exec/lanes/operations.hpp"

namespace halfwarp::emulator::exec {
namespace {

using namespace HALFWARP_ISA;
using ptx::qualifier;
using ptx::scalar_type;

template <class U, U (*Operation)(U, U)>
void reduce(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += sizeof(U)) {
    U operand;
    __builtin_memcpy(&operand, from + at, sizeof(U));
    auto* const cell = reinterpret_cast<U*>(to + at);
    U old = __atomic_load_n(cell, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(cell, &old, Operation(old, operand), true, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED)) {
    }
  }
}

template <class U>
U add(U a, U b) {
  return static_cast<U>(a + b);
}
template <class U, class Operation, class T = U>
U apply(U a, U b) {
  return static_cast<U>(Operation::of(static_cast<T>(a), static_cast<T>(b)));
}

// Subnormal numbers stay, unlike in atom.add.f32 [H100].
u32 add_floats(u32 a, u32 b) {
  const float sum = from_bits(a) + from_bits(b);
  return sum == sum ? bits(sum) : 0x7fff'ffffu;
}
u32 add_flushed_floats(u32 a, u32 b) {
  return bits(
      flushed(from_bits(add_floats(bits(flushed(from_bits(a))), bits(flushed(from_bits(b)))))));
}
u64 add_doubles(u64 a, u64 b) {
  return std::bit_cast<u64>(std::bit_cast<double>(a) + std::bit_cast<double>(b));
}
template <class Format>
u16 add_halves(u16 a, u16 b) {
  return rounded_to<Format>(double{Format::to_float(a)} + Format::to_float(b), to_nearest);
}

// A NaN gives way to a number, and -0 is less than +0.
template <class Format, bool is_greatest>
u16 extreme_half(u16 a, u16 b) {
  const auto is_nan = [](u16 value) { return (value & 0x7fff) > Format::exponent_mask; };
  const auto rank = [](u16 value) { return value & 0x8000 ? -(value & 0x7fff) - 1 : value; };
  if (is_nan(a)) return is_nan(b) ? Format::nan : b;
  if (is_nan(b)) return a;
  return (rank(a) < rank(b)) == is_greatest ? b : a;
}

struct entry {
  qualifier operation;
  scalar_type type;
  element_operation run;
};
constexpr entry entries[] = {
    {qualifier::add, scalar_type::u32, &reduce<u32, add<u32>>},
    {qualifier::add, scalar_type::s32, &reduce<u32, add<u32>>},
    {qualifier::add, scalar_type::u64, &reduce<u64, add<u64>>},
    {qualifier::add, scalar_type::s64, &reduce<u64, add<u64>>},
    {qualifier::add, scalar_type::f16, &reduce<u16, add_halves<half>>},
    {qualifier::add, scalar_type::bf16, &reduce<u16, add_halves<bfloat>>},
    {qualifier::add, scalar_type::f32, &reduce<u32, add_floats>},
    {qualifier::add, scalar_type::f64, &reduce<u64, add_doubles>},
    {qualifier::min, scalar_type::u32, &reduce<u32, apply<u32, minimum>>},
    {qualifier::min, scalar_type::s32, &reduce<u32, apply<u32, minimum, i32>>},
    {qualifier::min, scalar_type::u64, &reduce<u64, apply<u64, minimum>>},
    {qualifier::min, scalar_type::s64, &reduce<u64, apply<u64, minimum, i64>>},
    {qualifier::min, scalar_type::f16, &reduce<u16, extreme_half<half, false>>},
    {qualifier::min, scalar_type::bf16, &reduce<u16, extreme_half<bfloat, false>>},
    {qualifier::max, scalar_type::u32, &reduce<u32, apply<u32, maximum>>},
    {qualifier::max, scalar_type::s32, &reduce<u32, apply<u32, maximum, i32>>},
    {qualifier::max, scalar_type::u64, &reduce<u64, apply<u64, maximum>>},
    {qualifier::max, scalar_type::s64, &reduce<u64, apply<u64, maximum, i64>>},
    {qualifier::max, scalar_type::f16, &reduce<u16, extreme_half<half, true>>},
    {qualifier::max, scalar_type::bf16, &reduce<u16, extreme_half<bfloat, true>>},
    {qualifier::inc, scalar_type::u32, &reduce<u32, increment::of>},
    {qualifier::dec, scalar_type::u32, &reduce<u32, decrement::of>},
    {qualifier::and_, scalar_type::b32, &reduce<u32, apply<u32, conjunction>>},
    {qualifier::or_, scalar_type::b32, &reduce<u32, apply<u32, disjunction>>},
    {qualifier::xor_, scalar_type::b32, &reduce<u32, apply<u32, exclusive_or>>},
    {qualifier::and_, scalar_type::b64, &reduce<u64, apply<u64, conjunction>>},
    {qualifier::or_, scalar_type::b64, &reduce<u64, apply<u64, disjunction>>},
    {qualifier::xor_, scalar_type::b64, &reduce<u64, apply<u64, exclusive_or>>},
};

}  // namespace

void add_flushed(std::byte* to, const std::byte* from, std::size_t bytes) {
  reduce<u32, add_flushed_floats>(to, from, bytes);
}

element_operation find_reduction(qualifier operation, scalar_type type) noexcept {
  const auto* const match = std::ranges::find_if(
      entries, [&](const entry& each) { return each.operation == operation && each.type == type; });
  return match == std::end(entries) ? nullptr : match->run;
}

}  // namespace halfwarp::emulator::exec
