// SPDX-License-Identifier: Apache-2.0
// Sets of modifiers that several tables of instructions name.
#pragma once

#include <algorithm>

#include "emulator/ptx/instruction_table.hpp"

namespace halfwarp::emulator::ptx {

constexpr words scopes{qualifier::cta, qualifier::cluster, qualifier::gpu, qualifier::sys};
constexpr words reductions{qualifier::add, qualifier::min,  qualifier::max, qualifier::inc,
                           qualifier::dec, qualifier::and_, qualifier::or_, qualifier::xor_};
constexpr words comparisons{
    qualifier::eq,  qualifier::ne,  qualifier::lt,  qualifier::le,  qualifier::gt,  qualifier::ge,
    qualifier::lo,  qualifier::ls,  qualifier::hi,  qualifier::hs,  qualifier::equ, qualifier::neu,
    qualifier::ltu, qualifier::leu, qualifier::gtu, qualifier::geu, qualifier::num, qualifier::nan};

inline bool has_one_of(const mnemonic& word, const words& set) noexcept {
  return std::ranges::any_of(word.qualifiers(), [&](qualifier each) { return set.has(each); });
}

}  // namespace halfwarp::emulator::ptx
