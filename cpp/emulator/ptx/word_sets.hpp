// SPDX-License-Identifier: Apache-2.0
// Sets of modifiers that several tables of instructions name.
#pragma once

#include <algorithm>

#include "emulator/ptx/instruction_table.hpp"

namespace halfwarp::emulator::ptx {

constexpr words scopes{qualifier::cta, qualifier::cluster, qualifier::gpu, qualifier::sys};
constexpr words reductions{qualifier::add, qualifier::min,  qualifier::max, qualifier::inc,
                           qualifier::dec, qualifier::and_, qualifier::or_, qualifier::xor_};
constexpr words roundings{qualifier::rn, qualifier::rz, qualifier::rm, qualifier::rp};
constexpr words proxies{qualifier::alias,
                        qualifier::async,
                        qualifier::async_global,
                        qualifier::async_shared_cta,
                        qualifier::async_shared_cluster,
                        qualifier::async_generic,
                        qualifier::tensormap_generic};
constexpr words comparisons{
    qualifier::eq,  qualifier::ne,  qualifier::lt,  qualifier::le,  qualifier::gt,  qualifier::ge,
    qualifier::lo,  qualifier::ls,  qualifier::hi,  qualifier::hs,  qualifier::equ, qualifier::neu,
    qualifier::ltu, qualifier::leu, qualifier::gtu, qualifier::geu, qualifier::num, qualifier::nan};
constexpr words unscaled_kinds{qualifier::kind_f16, qualifier::kind_tf32, qualifier::kind_f8f6f4,
                               qualifier::kind_i8};
constexpr words narrow_kinds{qualifier::kind_mxf4, qualifier::kind_mxf4nvf4};
constexpr words tensor_kinds = unscaled_kinds | narrow_kinds | words{qualifier::kind_mxf8f6f4};
// The buffers that keep a matrix for the next product.
constexpr words a_collectors{qualifier::collector_a_discard, qualifier::collector_a_fill,
                             qualifier::collector_a_lastuse, qualifier::collector_a_use};
constexpr words b_collectors{qualifier::collector_b0_discard, qualifier::collector_b0_fill,
                             qualifier::collector_b0_lastuse, qualifier::collector_b0_use,
                             qualifier::collector_b1_discard, qualifier::collector_b1_fill,
                             qualifier::collector_b1_lastuse, qualifier::collector_b1_use,
                             qualifier::collector_b2_discard, qualifier::collector_b2_fill,
                             qualifier::collector_b2_lastuse, qualifier::collector_b2_use,
                             qualifier::collector_b3_discard, qualifier::collector_b3_fill,
                             qualifier::collector_b3_lastuse, qualifier::collector_b3_use};

inline bool has_one_of(const mnemonic& word, const words& set) noexcept {
  return std::ranges::any_of(word.qualifiers(), [&](qualifier each) { return set.has(each); });
}

}  // namespace halfwarp::emulator::ptx
