// SPDX-License-Identifier: Apache-2.0
// Descriptors of tcgen05: what they select, and the rules that they break.
#include "emulator/exec/tensor/tensor_descriptor.hpp"

#include <gtest/gtest.h>

#include <array>

namespace halfwarp::tests {
namespace {

namespace exec = emulator::exec;
namespace ptx = emulator::ptx;
using exec::tensor_kind;
using exec::tensor_product;
using exec::tensor_site;
using ptx::scalar_type;

// The fields of an instruction descriptor, in the order of their bits.
struct fields {
  std::uint32_t selector = 0, sparse = 0, saturate = 0, d = 1, a = 0, b = 0, negate_a = 0,
                negate_b = 0, transpose_a = 0, transpose_b = 0, n = 64, scale = 0, m = 128,
                byte_a = 0, byte_b = 0, k = 0;

  std::uint32_t bits(bool has_scales = false) const {
    return selector | sparse << 2 | saturate << 3 | (has_scales ? byte_b : d) << 4 | a << 7 |
           b << 10 | negate_a << 13 | negate_b << 14 | transpose_a << 15 | transpose_b << 16 |
           n / 8 << 17 | scale << 23 | m / 16 << 24 | byte_a << 29 | k << 31;
  }
};

class descriptors : public testing::Test {
 protected:
  std::string problem(const fields& f) {
    product = {};
    return exec::read_product(site, f.bits(site.vector != 0), product);
  }
  void use(tensor_kind kind, int vector = 0) {
    site = {};
    site.kind = kind;
    site.vector = vector;
  }
  tensor_site site;
  tensor_product product;
};

TEST_F(descriptors, select_types_by_kind) {
  struct row {
    tensor_kind kind;
    std::uint32_t code;
    scalar_type type;
  };
  constexpr scalar_type none = scalar_type::none;
  for (const row& each :
       {row{tensor_kind::f16, 0, scalar_type::f16}, row{tensor_kind::f16, 1, scalar_type::bf16},
        row{tensor_kind::f16, 2, none}, row{tensor_kind::tf32, 2, scalar_type::tf32},
        row{tensor_kind::tf32, 0, none}, row{tensor_kind::f8f6f4, 0, scalar_type::e4m3},
        row{tensor_kind::f8f6f4, 1, scalar_type::e5m2}, row{tensor_kind::f8f6f4, 2, none},
        row{tensor_kind::f8f6f4, 3, scalar_type::e2m3},
        row{tensor_kind::f8f6f4, 4, scalar_type::e3m2},
        row{tensor_kind::f8f6f4, 5, scalar_type::e2m1}, row{tensor_kind::f8f6f4, 6, none}}) {
    use(each.kind);
    const std::string text = problem({.a = each.code, .b = each.code});
    EXPECT_EQ(text, each.type == none ? "it names types that the kind does not have" : "");
    EXPECT_EQ(product.a_type, each.type);
    EXPECT_EQ(product.b_type, each.type);
  }
  use(tensor_kind::i8);
  EXPECT_EQ(problem({.d = 2, .a = 0, .b = 1}), "");
  EXPECT_EQ(product.a_type, scalar_type::u8);
  EXPECT_EQ(product.b_type, scalar_type::s8);
  EXPECT_EQ(product.d_type, scalar_type::s32);
  EXPECT_EQ(problem({.d = 1}), "the type of D has the number 1");
  use(tensor_kind::f16);
  EXPECT_EQ(problem({.a = 0, .b = 1}), "A and B have different types");
}

TEST_F(descriptors, select_the_type_of_the_sum) {
  use(tensor_kind::f16);
  EXPECT_EQ(problem({}), "");
  EXPECT_EQ(product.d_type, scalar_type::f32);
  EXPECT_EQ(problem({.d = 0}), "");
  EXPECT_EQ(product.d_type, scalar_type::f16);
  EXPECT_EQ(problem({.d = 0, .a = 1, .b = 1}), "the type of D has the number 0");
  EXPECT_EQ(problem({.d = 2}), "the type of D has the number 2");
  use(tensor_kind::f8f6f4);
  EXPECT_EQ(problem({.d = 0, .a = 1}), "");
  use(tensor_kind::tf32);
  EXPECT_EQ(problem({.d = 0, .a = 2, .b = 2}), "the type of D has the number 0");
}

TEST_F(descriptors, have_flags_for_each_matrix) {
  const auto flags = [&](const fields& f) {
    EXPECT_EQ(problem(f), "");
    return std::array{product.is_saturating, product.negates_a, product.negates_b,
                      product.transposes_a, product.transposes_b};
  };
  EXPECT_EQ(flags({}), (std::array{false, false, false, false, false}));
  EXPECT_EQ(flags({.saturate = 1}), (std::array{true, false, false, false, false}));
  EXPECT_EQ(flags({.negate_a = 1}), (std::array{false, true, false, false, false}));
  EXPECT_EQ(flags({.negate_b = 1}), (std::array{false, false, true, false, false}));
  EXPECT_EQ(flags({.transpose_a = 1}), (std::array{false, false, false, true, false}));
  EXPECT_EQ(flags({.transpose_b = 1}), (std::array{false, false, false, false, true}));
  site.has_tensor_a = true;
  EXPECT_EQ(problem({.transpose_a = 1}), "A is in tensor memory and MN-major");
  use(tensor_kind::f8f6f4);
  for (const fields& f : {fields{.a = 3, .transpose_a = 1}, fields{.b = 5, .transpose_b = 1}}) {
    EXPECT_EQ(problem(f), "a matrix of elements below 8 bits is MN-major");
  }
  EXPECT_EQ(problem({.b = 5, .transpose_a = 1}), "");
}

TEST_F(descriptors, are_dense_or_sparse_as_the_instruction) {
  EXPECT_EQ(problem({.sparse = 1}), "it is for a sparse A, and the instruction is dense");
  site.is_sparse = true;
  EXPECT_EQ(problem({}), "it is for a dense A, and the instruction is sparse");
  EXPECT_EQ(problem({.sparse = 1}), "");
  for (const std::uint32_t selector : {1u, 2u, 3u}) {
    EXPECT_EQ(problem({.selector = selector, .sparse = 1}),
              "its sparsity selector is not 0, which the emulator does not support");
  }
  site.is_stationary = true;
  EXPECT_EQ(problem({.sparse = 1}), "");
  EXPECT_EQ(problem({.sparse = 1, .m = 64}),
            "A is sparse and M is 64, which the emulator does not support");
}

TEST_F(descriptors, have_sizes_of_the_form) {
  EXPECT_EQ(problem({.n = 8, .m = 64}), "");
  EXPECT_EQ(product.rows, 64);
  EXPECT_EQ(product.columns, 8);
  EXPECT_EQ(product.width, 16);
  EXPECT_EQ(product.block_rows, 64);
  EXPECT_EQ(product.folds, 1);
  EXPECT_EQ(problem({.n = 256}), "");
  EXPECT_EQ(problem({.m = 32}), "M is 32, not 128 or 64");
  EXPECT_EQ(problem({.m = 256}), "M is 256, not 128 or 64");
  EXPECT_EQ(problem({.n = 0}), "N is 0, which is no multiple of 8 up to 256");
  EXPECT_EQ(problem({.n = 264}), "N is 264, which is no multiple of 8 up to 256");
  site.is_pair = true;
  EXPECT_EQ(problem({.n = 16, .m = 256}), "");
  EXPECT_EQ(product.block_rows, 128);
  EXPECT_EQ(product.folds, 1);
  EXPECT_EQ(problem({.n = 24, .m = 256}), "N is 24, which is no multiple of 16 up to 256");
  EXPECT_EQ(problem({.m = 128}), "");
  EXPECT_EQ(product.block_rows, 64);
  EXPECT_EQ(product.folds, 2);
  EXPECT_EQ(problem({.m = 64}), "M is 64, not 256 or 128");
  use(tensor_kind::i8);
  EXPECT_EQ(problem({.d = 2, .n = 24}), "");
  EXPECT_EQ(problem({.d = 2, .n = 32}), "");
  EXPECT_EQ(problem({.d = 2, .n = 40}), "N is 40, which is no multiple of 16 up to 256");
  EXPECT_EQ(problem({.d = 2, .n = 48}), "");
}

TEST_F(descriptors, of_a_stationary_matrix_have_other_sizes) {
  site.is_stationary = true;
  for (const std::uint32_t m : {32u, 64u, 128u}) {
    EXPECT_EQ(problem({.m = m}), "");
    EXPECT_EQ(product.folds, static_cast<int>(128 / m));
  }
  EXPECT_EQ(problem({.m = 16}), "M is 16, not 32, 64 or 128");
  EXPECT_EQ(problem({.n = 128}), "");
  EXPECT_EQ(problem({.n = 256}), "");
  EXPECT_EQ(problem({.n = 32}), "N is 32, not 64, 128 or 256");
}

TEST_F(descriptors, have_scales_by_kind) {
  use(tensor_kind::mxf8f6f4, 1);
  EXPECT_EQ(problem({.scale = 1, .byte_a = 2, .byte_b = 3}), "");
  EXPECT_EQ(product.scale_type, scalar_type::ue8m0);
  EXPECT_EQ(product.scale_byte_a, 2);
  EXPECT_EQ(product.scale_byte_b, 3);
  EXPECT_EQ(product.d_type, scalar_type::f32);
  EXPECT_EQ(product.width, 8);
  EXPECT_EQ(problem({.scale = 0}), "its scales are ue4m3, not ue8m0");
  EXPECT_EQ(problem({.scale = 1, .m = 64}), "M is 64, not 128");
  EXPECT_EQ(problem({.scale = 1, .k = 1}),
            "it selects K = 96, which the emulator does not support");
  use(tensor_kind::mxf4, 2);
  EXPECT_EQ(problem({.a = 1, .b = 1, .scale = 1, .byte_a = 2, .byte_b = 2}), "");
  EXPECT_EQ(product.width, 4);
  EXPECT_EQ(product.a_type, scalar_type::e2m1);
  for (const fields& f : {fields{.a = 1, .b = 1, .scale = 1, .byte_a = 1},
                          fields{.a = 1, .b = 1, .scale = 1, .byte_b = 1}}) {
    EXPECT_EQ(problem(f), "the number of a scale is no multiple of the scales of a row");
  }
  use(tensor_kind::mxf4nvf4, 4);
  EXPECT_EQ(problem({.a = 1, .b = 1, .scale = 0}), "");
  EXPECT_EQ(product.scale_type, scalar_type::ue4m3);
  use(tensor_kind::mxf4nvf4, 2);
  EXPECT_EQ(problem({.a = 1, .b = 1, .scale = 0}), "its scales are ue4m3, not ue8m0");
}

TEST(matrix_descriptors, follow_their_rules) {
  constexpr std::uint64_t mark = std::uint64_t{1} << 46;
  const auto swizzled = [](std::uint64_t mode) { return mark | mode << 61; };
  for (const std::uint64_t mode : {0, 2, 4, 6}) {
    EXPECT_EQ(exec::layout_problem(swizzled(mode), false), "") << mode;
    EXPECT_EQ(exec::layout_problem(swizzled(mode), true), "") << mode;
  }
  for (const std::uint64_t mode : {3, 5, 7}) {
    EXPECT_EQ(exec::layout_problem(swizzled(mode), true), "its swizzle is no mode") << mode;
  }
  EXPECT_EQ(exec::layout_problem(swizzled(1), true), "");
  EXPECT_EQ(exec::layout_problem(swizzled(1), false),
            "a swizzle with 32-byte atoms needs an MN-major matrix");
  for (const std::uint64_t bits : {0, 2, 3, 5, 7}) {
    EXPECT_EQ(exec::layout_problem(bits << 46, false), "bits 46 to 48 are not 0b001") << bits;
  }
  EXPECT_EQ(exec::layout_problem(mark | std::uint64_t{1} << 52, false),
            "its leading dimension is an address, which is for sm_103a");
}

TEST(matrix_descriptors, select_a_swizzle) {
  constexpr int bytes[] = {0, 128, 128, 0, 64, 0, 32};
  for (const std::uint64_t mode : {0, 1, 2, 4, 6}) {
    const auto layout = exec::tensor_layout(mode << 61, 16, true);
    EXPECT_EQ(layout.row_bytes, bytes[mode]) << mode;
    EXPECT_EQ(layout.has_wide_atoms, mode == 1) << mode;
  }
}

}  // namespace
}  // namespace halfwarp::tests
