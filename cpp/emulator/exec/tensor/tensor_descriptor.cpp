// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/tensor/tensor_descriptor.hpp"

#include <algorithm>
#include <iterator>

namespace halfwarp::emulator::exec {
namespace {

using ptx::scalar_type;

std::uint32_t field(std::uint64_t word, int first, int bits) {
  return static_cast<std::uint32_t>(word >> first & ((std::uint64_t{1} << bits) - 1));
}

struct format {
  tensor_kind kind;
  std::uint32_t code;
  scalar_type type;
};
constexpr format formats[] = {
    {tensor_kind::f16, 0, scalar_type::f16},     {tensor_kind::f16, 1, scalar_type::bf16},
    {tensor_kind::tf32, 2, scalar_type::tf32},   {tensor_kind::f8f6f4, 0, scalar_type::e4m3},
    {tensor_kind::f8f6f4, 1, scalar_type::e5m2}, {tensor_kind::f8f6f4, 3, scalar_type::e2m3},
    {tensor_kind::f8f6f4, 4, scalar_type::e3m2}, {tensor_kind::f8f6f4, 5, scalar_type::e2m1},
    {tensor_kind::i8, 0, scalar_type::u8},       {tensor_kind::i8, 1, scalar_type::s8},
    {tensor_kind::mxf4, 1, scalar_type::e2m1},
};

scalar_type type_of(tensor_kind kind, std::uint32_t code) {
  if (kind == tensor_kind::mxf8f6f4) kind = tensor_kind::f8f6f4;
  if (kind == tensor_kind::mxf4nvf4) kind = tensor_kind::mxf4;
  const auto* const match =
      std::find_if(std::begin(formats), std::end(formats),
                   [&](const format& f) { return f.kind == kind && f.code == code; });
  return match == std::end(formats) ? scalar_type::none : match->type;
}

bool is_packed(tensor_kind kind) {
  return kind == tensor_kind::mxf4 || kind == tensor_kind::mxf4nvf4;
}

std::string stationary_size_problem(const tensor_product& p) {
  if (p.rows != 32 && p.rows != 64 && p.rows != 128) {
    return "M is " + std::to_string(p.rows) + ", not 32, 64 or 128";
  }
  if (p.columns == 64 || p.columns == 128 || p.columns == 256) return {};
  return "N is " + std::to_string(p.columns) + ", not 64, 128 or 256";
}

std::string size_problem(const tensor_site& site, const tensor_product& p) {
  if (site.is_stationary) return stationary_size_problem(p);
  const int most = site.is_pair ? 256 : 128, least = site.vector ? most : most / 2;
  if (p.rows != most && p.rows != least) {
    return "M is " + std::to_string(p.rows) + ", not " + std::to_string(most) +
           (least == most ? "" : " or " + std::to_string(least));
  }
  const bool is_integer = site.kind == tensor_kind::i8;
  const int step = (site.is_pair ? 16 : 8) * (is_integer && p.columns > 32 ? 2 : 1);
  if (p.columns >= step && p.columns <= 256 && p.columns % step == 0) return {};
  return "N is " + std::to_string(p.columns) + ", which is no multiple of " + std::to_string(step) +
         " up to 256";
}

void read_scales(std::uint32_t descriptor, tensor_product& p) {
  p.scale_type = field(descriptor, 23, 1) ? scalar_type::ue8m0 : scalar_type::ue4m3;
  p.scale_byte_b = static_cast<int>(field(descriptor, 4, 2));
  p.scale_byte_a = static_cast<int>(field(descriptor, 29, 2));
  p.d_type = scalar_type::f32;
}

std::string scale_problem(const tensor_site& site, std::uint32_t descriptor,
                          const tensor_product& p) {
  if (descriptor >> 31) return "it selects K = 96, which the emulator does not support";
  const bool may_have_e4m3 = site.kind == tensor_kind::mxf4nvf4 && site.vector == 4;
  if (p.scale_type == scalar_type::ue4m3 && !may_have_e4m3) {
    return "its scales are ue4m3, not ue8m0";
  }
  if (p.scale_byte_a % site.vector || p.scale_byte_b % site.vector) {
    return "the number of a scale is no multiple of the scales of a row";
  }
  return {};
}

std::string accumulator_problem(const tensor_site& site, std::uint32_t descriptor,
                                tensor_product& p) {
  const std::uint32_t code = field(descriptor, 4, 2);
  p.is_saturating = field(descriptor, 3, 1);
  p.d_type = site.kind == tensor_kind::i8 ? scalar_type::s32 : scalar_type::f32;
  if (code == (site.kind == tensor_kind::i8 ? 2u : 1u)) return {};
  const bool may_be_half = site.kind == tensor_kind::f16 ? p.a_type == scalar_type::f16
                                                         : site.kind == tensor_kind::f8f6f4;
  if (code == 0 && may_be_half) {
    p.d_type = scalar_type::f16;
    return {};
  }
  return "the type of D has the number " + std::to_string(code);
}

}  // namespace

std::string read_product(const tensor_site& site, std::uint32_t descriptor, tensor_product& p) {
  const int b_bits = is_packed(site.kind) ? 2 : 3;
  p.a_type = type_of(site.kind, field(descriptor, 7, 3));
  p.b_type = type_of(site.kind, field(descriptor, 10, b_bits));
  if (p.a_type == scalar_type::none || p.b_type == scalar_type::none) {
    return "it names types that the kind does not have";
  }
  if (site.kind == tensor_kind::f16 && p.a_type != p.b_type) return "A and B have different types";
  if (field(descriptor, 2, 1) != site.is_sparse) {
    return site.is_sparse ? "it is for a dense A, and the instruction is sparse"
                          : "it is for a sparse A, and the instruction is dense";
  }
  if (site.is_sparse && field(descriptor, 0, 2)) {
    return "its sparsity selector is not 0, which the emulator does not support";
  }
  p.negates_a = field(descriptor, 13, 1);
  p.negates_b = field(descriptor, 14, 1);
  p.transposes_a = field(descriptor, 15, 1);
  p.transposes_b = field(descriptor, 16, 1);
  p.columns = static_cast<int>(8 * field(descriptor, 17, 6));
  p.rows = static_cast<int>(16 * field(descriptor, 24, 5));
  p.block_rows = site.is_pair ? p.rows / 2 : p.rows;
  const bool is_folded = site.is_stationary || (site.is_pair && !site.is_sparse);
  if (is_folded && p.block_rows) p.folds = 128 / p.block_rows;
  const int bits = ptx::info(p.a_type).bits;
  p.width = is_packed(site.kind) ? 4 : bits < 8 ? 8 : bits;
  const int b_type_bits = ptx::info(p.b_type).bits;
  if ((p.transposes_a && bits < 8) || (p.transposes_b && b_type_bits < 8)) {
    return "a matrix of elements below 8 bits is MN-major";
  }
  if (site.is_sparse && site.is_stationary && p.rows != 128) {
    return "A is sparse and M is " + std::to_string(p.rows) +
           ", which the emulator does not support";
  }
  if (p.transposes_a && site.has_tensor_a) return "A is in tensor memory and MN-major";
  if (auto problem = size_problem(site, p); !problem.empty()) return problem;
  if (!site.vector) return accumulator_problem(site, descriptor, p);
  read_scales(descriptor, p);
  return scale_problem(site, descriptor, p);
}

operand_layout tensor_layout(std::uint64_t descriptor, int bits, bool is_transposed) noexcept {
  constexpr int row_bytes[] = {0, 128, 128, 0, 64, 0, 32, 0};
  const std::uint64_t swizzle = descriptor >> 61;
  operand_layout layout = warpgroup_layout(descriptor, bits, is_transposed);
  layout.row_bytes = row_bytes[swizzle];
  layout.has_wide_atoms = swizzle == 1;
  return layout;
}

std::string layout_problem(std::uint64_t descriptor, bool is_transposed) {
  const std::uint64_t swizzle = descriptor >> 61;
  if ((descriptor >> 46 & 7) != 1) return "bits 46 to 48 are not 0b001";
  if (descriptor >> 52 & 1) return "its leading dimension is an address, which is for sm_103a";
  if (swizzle == 3 || swizzle == 5 || swizzle == 7) return "its swizzle is no mode";
  if (swizzle == 1 && !is_transposed)
    return "a swizzle with 32-byte atoms needs an MN-major matrix";
  return {};
}

}  // namespace halfwarp::emulator::exec
