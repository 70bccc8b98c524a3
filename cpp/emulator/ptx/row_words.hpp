// SPDX-License-Identifier: Apache-2.0
// The sets of modifiers that rows of the instruction table allow.
#pragma once

#include "emulator/ptx/word_sets.hpp"

namespace halfwarp::emulator::ptx::row_words {

using q = qualifier;

constexpr words atomic =
    scopes | words{q::add,     q::and_,    q::cas,     q::dec,     q::exch,
                   q::inc,     q::max,     q::min,     q::or_,     q::xor_,
                   q::relaxed, q::acquire, q::release, q::acq_rel, q::L2_cache_hint};
constexpr words first_evictions{q::L1_evict_first, q::L1_evict_last, q::L1_evict_normal,
                                q::L1_evict_unchanged, q::L1_no_allocate};
constexpr words priorities =
    first_evictions | words{q::L2_128B,        q::L2_256B,        q::L2_64B,
                            q::L2_cache_hint,  q::L2_evict_first, q::L2_evict_last,
                            q::L2_evict_normal};
constexpr words access_words =
    scopes | priorities | words{q::weak, q::volatile_, q::relaxed, q::acquire, q::release,
                                q::mmio, q::ca,        q::cg,      q::cs,      q::lu,
                                q::cv,   q::wb,        q::wt,      q::nc};
constexpr words barrier{q::cta,  q::sync, q::arrive, q::red,    q::popc,
                        q::and_, q::or_,  q::all,    q::aligned};
constexpr words fence_words = scopes | proxies | words{q::proxy} |
                              words{q::acquire,
                                    q::release,
                                    q::acq_rel,
                                    q::sc,
                                    q::gl,
                                    q::mbarrier_init,
                                    q::sync_restrict_shared_cta,
                                    q::sync_restrict_shared_cluster};
constexpr words arrival{q::noComplete, q::expect_tx, q::release, q::relaxed, q::cta, q::cluster};
constexpr words waiting{q::parity, q::acquire, q::relaxed, q::cta, q::cluster};
constexpr words matrix_shapes{q::m8n8k4,   q::m8n8k16,   q::m8n8k32,  q::m8n8k128,
                              q::m16n8k4,  q::m16n8k8,   q::m16n8k16, q::m16n8k32,
                              q::m16n8k64, q::m16n8k128, q::m16n8k256};
constexpr words product_words =
    matrix_shapes | words{q::sync, q::aligned, q::row,  q::col,        q::satfinite,
                          q::xor_, q::and_,    q::popc, q::kind_f8f6f4};
constexpr words wmma_shapes{q::m16n16k16, q::m16n16k8, q::m32n8k16, q::m8n8k4,
                            q::m8n32k16,  q::m8n8k32,  q::m8n8k128};
constexpr words wmma_words = wmma_shapes | words{q::sync, q::aligned, q::row, q::col};
constexpr words in_step{q::sync, q::aligned};
constexpr words tensor_words{q::cta_group_1, q::cta_group_2};
constexpr words repeats{q::sync, q::aligned, q::x2, q::x4, q::x8, q::x16, q::x32, q::x64, q::x128};
constexpr words tensor_shapes =
    repeats | words{q::x32x32b, q::x16x64b, q::x16x128b, q::x16x256b, q::x16x32bx2, q::x1};
constexpr words product_kinds = unscaled_kinds | words{q::mma};
constexpr words block_scales =
    narrow_kinds | words{q::kind_mxf8f6f4, q::block_scale, q::scale_vec_1X, q::scale_vec_2X,
                         q::scale_vec_4X,  q::block16,     q::block32};
constexpr words ranks{q::x1d, q::x2d, q::x3d, q::x4d, q::x5d};
constexpr words bulk_words =
    ranks | words{q::mbarrier_complete_tx_bytes, q::bulk_group, q::L2_cache_hint};
constexpr words tensor_copy_words =
    bulk_words | words{q::async, q::bulk,        q::prefetch,    q::tensor,
                       q::L2,    q::cta_group_1, q::cta_group_2, q::multicast_cluster};
constexpr words multimem_words = scopes | words{q::add,  q::min,     q::max,     q::and_,   q::or_,
                                                q::xor_, q::relaxed, q::acc_f16, q::acc_f32};
constexpr words video_second{q::add, q::min, q::max};
constexpr words min_max{q::ftz, q::NaN, q::xorsign, q::abs, q::relu};
constexpr words geometries{q::x1d, q::x2d, q::x3d, q::a1d, q::a2d, q::cube, q::acube};
constexpr words surface_access = geometries | words{q::b, q::trap, q::clamp, q::zero};
constexpr words sizes{q::width, q::height, q::depth, q::array_size, q::level};
constexpr words queries = sizes | words{q::channel_data_type, q::channel_order,
                                        q::normalized_coords, q::num_mipmap_levels};
constexpr words predicate_words = comparisons | words{q::and_, q::or_, q::xor_, q::ftz};

}  // namespace halfwarp::emulator::ptx::row_words
