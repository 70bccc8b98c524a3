// SPDX-License-Identifier: Apache-2.0
// mma.m8n8k4 of halves: four products, each of 8 lanes, in the lower and the upper half of the
// warp.
//
// An H100 has no such instruction. Its assembler emits additions of floats in this order.
#include <bit>
#include <cstring>

#include "emulator/exec/lanes/half.hpp"
#include "emulator/exec/matrix/matrix_site.hpp"
#include "emulator/exec/matrix/rounding.hpp"

namespace halfwarp::emulator::exec {
namespace {

using baseline::half;
using ptx::scalar_type;

constexpr int size = 8, depth = 4;

// An element of a lane: its index counts the elements of the registers.
struct element_place {
  int lane, index;
};

element_place place_of_a(const matrix_site& site, int product, int row, int k) {
  const int first = 16 * (row / 4) + 4 * product;
  if (site.transposes_a) return {first + k, row % 4};
  return {first + row % 4, k};
}
element_place place_of_b(const matrix_site& site, int product, int k, int column) {
  const int first = 16 * (column / 4) + 4 * product;
  if (site.transposes_b) return {first + k, column % 4};
  return {first + column % 4, k};
}
element_place place_of_c(scalar_type type, int product, int row, int column) {
  const int first = 16 * (row / 4) + 4 * product;
  if (type == scalar_type::f16) return {first + row % 4, column};
  return {first + (row & 1) + (column & 2), (column & 4) + (row & 2) + (column & 1)};
}

float half_at(const source_list& sources, int first, element_place at) {
  const auto n = static_cast<std::size_t>(first + at.index / 2);
  const auto* words = static_cast<const std::uint32_t*>(sources[n]);
  return half::to_float(static_cast<std::uint16_t>(words[at.lane] >> 16 * (at.index % 2)));
}

float accumulator_at(const matrix_site& site, const source_list& sources, element_place at) {
  constexpr int first = 4;
  if (site.c_type == scalar_type::f16) return half_at(sources, first, at);
  const auto* words =
      static_cast<const std::uint32_t*>(sources[static_cast<std::size_t>(first + at.index)]);
  return std::bit_cast<float>(words[at.lane]);
}

float sum(float a, float b) {
  return std::bit_cast<float>(
      sum_of_floats(std::bit_cast<std::uint32_t>(a), std::bit_cast<std::uint32_t>(b)));
}

std::uint32_t element(const matrix_site& site, const source_list& sources, int product, int row,
                      int column) {
  const auto term = [&](int k) {
    return half_at(sources, 0, place_of_a(site, product, row, k)) *
           half_at(sources, 2, place_of_b(site, product, k, column));
  };
  const float c = accumulator_at(site, sources, place_of_c(site.c_type, product, row, column));
  if (site.d_type == scalar_type::f16) {
    const float products = sum(sum(term(0), term(1)), sum(term(2), term(3)));
    return baseline::rounded_to<half>(double{sum(products, c)}, baseline::to_nearest);
  }
  float products = 0;
  for (int k = 0; k < depth; ++k) products = sum(products, term(k));
  return std::bit_cast<std::uint32_t>(sum(products, c));
}

}  // namespace

void run_quad_product(warp& w, const instruction& instr) {
  const matrix_site& site = matrix_of(w, instr);
  source_list sources;
  if (!find_sources(w, site, 4, sources)) return;
  require_whole_warp(w, instr);
  std::uint32_t results[size][warp_size] = {};
  const bool is_half = site.d_type == scalar_type::f16;
  for (int product = 0; product < 4; ++product) {
    for (int row = 0; row < size; ++row) {
      for (int column = 0; column < size; ++column) {
        const element_place at = place_of_c(site.d_type, product, row, column);
        const std::uint32_t bits = element(site, sources, product, row, column);
        results[is_half ? at.index / 2 : at.index][at.lane] |=
            is_half ? bits << 16 * (at.index % 2) : bits;
      }
    }
  }
  for (std::size_t n = 0; n < site.accumulators.size(); ++n) {
    auto* to = w.at<std::uint32_t>(site.accumulators[n]);
    for (lane_mask remaining = w.active; remaining; remaining &= remaining - 1) {
      const int lane = std::countr_zero(remaining);
      to[lane] = results[n][lane];
    }
  }
}

}  // namespace halfwarp::emulator::exec
