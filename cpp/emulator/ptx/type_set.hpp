// SPDX-License-Identifier: Apache-2.0
// Sets of types that the rules of instructions name.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "emulator/ptx/vocabulary/types.hpp"

namespace halfwarp::emulator::ptx {

class type_set {
 public:
  constexpr type_set(std::initializer_list<scalar_type> list) {
    for (scalar_type type : list) bits_ |= std::uint64_t{1} << static_cast<int>(type);
  }
  constexpr type_set operator|(type_set other) const {
    type_set both = *this;
    both.bits_ |= other.bits_;
    return both;
  }
  constexpr bool is_empty() const { return bits_ == 0; }
  constexpr bool has(scalar_type type) const { return bits_ >> static_cast<int>(type) & 1; }

 private:
  std::uint64_t bits_ = 0;
};
static_assert(static_cast<int>(scalar_type::count_) <= 64);

constexpr type_set integers{scalar_type::u16, scalar_type::u32, scalar_type::u64,
                            scalar_type::s16, scalar_type::s32, scalar_type::s64};
constexpr type_set halves{scalar_type::f16, scalar_type::f16x2, scalar_type::bf16,
                          scalar_type::bf16x2};

}  // namespace halfwarp::emulator::ptx
