// SPDX-License-Identifier: Apache-2.0
// Short names of integer types, double-width types, and bit casts of floating-point numbers.
#pragma once

#include "emulator/exec/lanes/lanes.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {

// Short names for the tables of handlers, which name a type in each row.
using i8 = int8_t;
using i16 = int16_t;
using i32 = int32_t;
using i64 = int64_t;
using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

template <class T>
struct doubled;
template <>
struct doubled<uint16_t> {
  using type = uint32_t;
};
template <>
struct doubled<int16_t> {
  using type = int32_t;
};
template <>
struct doubled<uint32_t> {
  using type = uint64_t;
};
template <>
struct doubled<int32_t> {
  using type = int64_t;
};
template <>
struct doubled<uint64_t> {
  using type = uint128;
};
template <>
struct doubled<int64_t> {
  using type = int128;
};
template <class T>
using wide_of = typename doubled<T>::type;

template <class T>
inline constexpr int bits_of = 8 * static_cast<int>(sizeof(T));
template <class T>
inline constexpr bool is_signed_type = T(-1) < T(0);

template <class T>
struct unsigned_twin;
template <>
struct unsigned_twin<int16_t> {
  using type = uint16_t;
};
template <>
struct unsigned_twin<int32_t> {
  using type = uint32_t;
};
template <>
struct unsigned_twin<int64_t> {
  using type = uint64_t;
};
template <>
struct unsigned_twin<uint16_t> {
  using type = uint16_t;
};
template <>
struct unsigned_twin<uint32_t> {
  using type = uint32_t;
};
template <>
struct unsigned_twin<uint64_t> {
  using type = uint64_t;
};
template <>
struct unsigned_twin<float> {
  using type = uint32_t;
};
template <>
struct unsigned_twin<double> {
  using type = uint64_t;
};
template <class T>
using bits_type = typename unsigned_twin<T>::type;

template <class T>
inline constexpr T lowest_of =
    is_signed_type<T> ? static_cast<T>(bits_type<T>(1) << (bits_of<T> - 1)) : T(0);
template <class T>
inline constexpr T highest_of = static_cast<T>(~static_cast<bits_type<T>>(lowest_of<T>));

[[gnu::always_inline]] constexpr uint32_t bits(float value) noexcept {
  return __builtin_bit_cast(uint32_t, value);
}
[[gnu::always_inline]] constexpr uint64_t bits(double value) noexcept {
  return __builtin_bit_cast(uint64_t, value);
}
[[gnu::always_inline]] inline float from_bits(uint32_t value) noexcept {
  return __builtin_bit_cast(float, value);
}
[[gnu::always_inline]] inline double from_bits(uint64_t value) noexcept {
  return __builtin_bit_cast(double, value);
}

// Returns `a` or `b`. A conditional expression may become a branch, which prevents vectorization.
template <class T>
[[gnu::always_inline]] inline T blended(bool condition, T a, T b) noexcept {
  T mask = static_cast<T>(-static_cast<T>(condition));
  return static_cast<T>(b ^ ((a ^ b) & mask));
}

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
