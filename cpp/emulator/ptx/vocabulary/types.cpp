// SPDX-License-Identifier: Apache-2.0
// Defines the tables of scalar types and state spaces.
#include "emulator/ptx/vocabulary/types.hpp"

#include <array>
#include <cstddef>

namespace halfwarp::emulator::ptx {
namespace {

using enum type_class;

// In the order of scalar_type.
constexpr std::array types = {
    type_info{"", 0, none},
    type_info{"b1", 1, bits},
    type_info{"b8", 8, bits},
    type_info{"b16", 16, bits},
    type_info{"b32", 32, bits},
    type_info{"b64", 64, bits},
    type_info{"b128", 128, bits},
    type_info{"u2", 2, unsigned_},
    type_info{"u4", 4, unsigned_},
    type_info{"u8", 8, unsigned_},
    type_info{"u16", 16, unsigned_},
    type_info{"u32", 32, unsigned_},
    type_info{"u64", 64, unsigned_},
    type_info{"s2", 2, signed_},
    type_info{"s4", 4, signed_},
    type_info{"s8", 8, signed_},
    type_info{"s16", 16, signed_},
    type_info{"s32", 32, signed_},
    type_info{"s64", 64, signed_},
    type_info{"u8x4", 32, unsigned_},
    type_info{"s8x4", 32, signed_},
    type_info{"u16x2", 32, unsigned_},
    type_info{"s16x2", 32, signed_},
    type_info{"f16", 16, floating},
    type_info{"f32", 32, floating},
    type_info{"f64", 64, floating},
    type_info{"bf16", 16, floating},
    type_info{"tf32", 32, floating},
    type_info{"e4m3", 8, floating},
    type_info{"e5m2", 8, floating},
    type_info{"e3m2", 6, floating},
    type_info{"e2m3", 6, floating},
    type_info{"e2m1", 4, floating},
    type_info{"ue8m0", 8, floating},
    type_info{"ue4m3", 8, floating},
    type_info{"f16x2", 32, floating},
    type_info{"f32x2", 64, floating},
    type_info{"bf16x2", 32, floating},
    type_info{"e4m3x2", 16, floating},
    type_info{"e5m2x2", 16, floating},
    type_info{"e3m2x2", 16, floating},
    type_info{"e2m3x2", 16, floating},
    type_info{"e2m1x2", 8, floating},
    type_info{"ue8m0x2", 16, floating},
    type_info{"s2f6x2", 16, floating},
    type_info{"e4m3x4", 32, floating},
    type_info{"e5m2x4", 32, floating},
    type_info{"e3m2x4", 32, floating},
    type_info{"e2m3x4", 32, floating},
    type_info{"e2m1x4", 16, floating},
    type_info{"b4x16", 64, bits},
    type_info{"b4x16_p64", 128, bits},
    type_info{"b6x16_p32", 128, bits},
    type_info{"b8x16", 128, bits},
    type_info{"b6p2x16", 128, bits},
    type_info{"pred", 0, predicate},
    type_info{"texref", 64, opaque},
    type_info{"samplerref", 64, opaque},
    type_info{"surfref", 64, opaque},
};
static_assert(types.size() == static_cast<std::size_t>(scalar_type::count_));
static_assert(types[static_cast<std::size_t>(scalar_type::f32)].spelling == "f32");
static_assert(types[static_cast<std::size_t>(scalar_type::pred)].spelling == "pred");

// In the order of state_space.
constexpr std::array<std::string_view, static_cast<std::size_t>(state_space::count_)> spaces = {
    "",      "reg", "sreg",        "const",           "global",       "local",      "shared",
    "param", "tex", "shared::cta", "shared::cluster", "param::entry", "param::func"};

}  // namespace

const type_info& info(scalar_type type) noexcept { return types[static_cast<std::size_t>(type)]; }

scalar_type find_type(std::string_view spelling) noexcept {
  for (std::size_t i = 1; i < types.size(); ++i) {
    if (types[i].spelling == spelling) return static_cast<scalar_type>(i);
  }
  return scalar_type::none;
}

std::string_view spelling(state_space space) noexcept {
  return spaces[static_cast<std::size_t>(space)];
}

state_space find_space(std::string_view spelling) noexcept {
  for (std::size_t i = 1; i < spaces.size(); ++i) {
    if (spaces[i] == spelling) return static_cast<state_space>(i);
  }
  return state_space::generic;
}

state_space without_sub_space(state_space space) noexcept {
  switch (space) {
    case state_space::shared_cta:
    case state_space::shared_cluster:
      return state_space::shared;
    case state_space::param_entry:
    case state_space::param_func:
      return state_space::param;
    default:
      return space;
  }
}

}  // namespace halfwarp::emulator::ptx
