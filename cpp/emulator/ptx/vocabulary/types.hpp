// SPDX-License-Identifier: Apache-2.0
// Enumerates scalar types and state spaces of PTX, with spellings and sizes.
#pragma once

#include <cstdint>
#include <string_view>

namespace halfwarp::emulator::ptx {

enum class scalar_type : std::uint8_t {
  none,
  b1,
  b8,
  b16,
  b32,
  b64,
  b128,
  u2,
  u4,
  u8,
  u16,
  u32,
  u64,
  s2,
  s4,
  s8,
  s16,
  s32,
  s64,
  u8x4,
  s8x4,
  u16x2,
  s16x2,
  f16,
  f32,
  f64,
  bf16,
  tf32,
  e4m3,
  e5m2,
  e3m2,
  e2m3,
  e2m1,
  ue8m0,
  ue4m3,
  f16x2,
  f32x2,
  bf16x2,
  e4m3x2,
  e5m2x2,
  e3m2x2,
  e2m3x2,
  e2m1x2,
  ue8m0x2,
  s2f6x2,
  e4m3x4,
  e5m2x4,
  e3m2x4,
  e2m3x4,
  e2m1x4,
  b4x16,
  b4x16_p64,
  b6x16_p32,
  b8x16,
  b6p2x16,
  pred,
  texref,
  samplerref,
  surfref,
  count_
};

enum class type_class : std::uint8_t {
  none,
  bits,
  unsigned_,
  signed_,
  floating,
  predicate,
  opaque
};

struct type_info {
  std::string_view spelling;  // without the dot
  std::uint16_t bits;         // 0: no size (none, pred)
  type_class kind;
};

const type_info& info(scalar_type type) noexcept;
scalar_type find_type(std::string_view spelling) noexcept;  // none: not a type

inline std::string_view spelling(scalar_type type) noexcept { return info(type).spelling; }
// Returns the size of a variable of this type in bytes; 0 for none and pred.
inline std::uint32_t size_in_bytes(scalar_type type) noexcept {
  return (info(type).bits + 7u) / 8u;
}
inline bool is_signed(scalar_type type) noexcept { return info(type).kind == type_class::signed_; }
inline bool is_unsigned(scalar_type type) noexcept {
  return info(type).kind == type_class::unsigned_;
}
inline bool is_floating(scalar_type type) noexcept {
  return info(type).kind == type_class::floating;
}
inline bool is_bits(scalar_type type) noexcept { return info(type).kind == type_class::bits; }

enum class state_space : std::uint8_t {
  generic,  // no state space in the text
  reg,
  sreg,
  const_,
  global,
  local,
  shared,
  param,
  tex,
  shared_cta,
  shared_cluster,
  param_entry,
  param_func,
  count_
};

std::string_view spelling(state_space space) noexcept;       // "shared::cta"; "" for generic
state_space find_space(std::string_view spelling) noexcept;  // generic: not a space
// Returns shared for shared_cta and shared_cluster, param for param_entry and param_func, else
// `space`.
state_space without_sub_space(state_space space) noexcept;

}  // namespace halfwarp::emulator::ptx
