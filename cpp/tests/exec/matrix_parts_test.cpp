// SPDX-License-Identifier: Apache-2.0
// Parts of products of matrices: rounding, matrices in shared memory, and the lanes of results.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "emulator/exec/handler_table.hpp"
#include "emulator/exec/matrix/rounding.hpp"
#include "emulator/exec/matrix/shared_operand.hpp"
#include "instructions/exact.hpp"
#include "machine.hpp"

namespace halfwarp::tests {
namespace {

// Calls `check` with sums around each power of two, and units from below the least to above the
// largest number.
template <class Check>
void for_each_sum(Check&& check) {
  for (const int unit :
       {-180, -160, -150, -149, -148, -40, -34, -25, -24, -23, -10, -1, 0, 1, 90}) {
    for (int power = 0; power < 40; ++power) {
      for (const std::int64_t part : {-3, -2, -1, 0, 1, 2, 3}) {
        for (const std::int64_t low : {0, 1 << 4, 1 << 12, 3 << 12}) {
          const std::int64_t sum = (std::int64_t{1} << power) + part + low;
          check(sum, unit);
          check(-sum, unit);
        }
      }
    }
  }
}

TEST(rounding, of_halves_is_to_nearest_even) {
  for_each_sum([](std::int64_t sum, int unit) {
    const double value = std::ldexp(static_cast<double>(sum), unit);
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const std::uint64_t expected = exact_convert(binary16, binary64, bits, rounding::nearest);
    EXPECT_EQ(exec::half_of(sum, unit), binary16.is_zero(expected) ? 0 : expected)
        << sum << " * 2^" << unit;
  });
  EXPECT_EQ(exec::half_of(65519, 0), 0x7bffu);
  EXPECT_EQ(exec::half_of(65520, 0), 0x7c00u);
  EXPECT_EQ(exec::half_of(98304, 0), 0x7c00u);
  EXPECT_EQ(exec::half_of(-131072, 0), 0xfc00u);
}

TEST(rounding, of_floats_is_toward_zero_below_infinity) {
  for_each_sum([](std::int64_t sum, int unit) {
    const double value = std::ldexp(static_cast<double>(sum), unit);
    const auto bits = std::bit_cast<std::uint64_t>(value);
    std::uint64_t expected = exact_convert(binary32, binary64, bits, rounding::zero);
    if (std::abs(value) >= 0x1p128) expected = binary32.infinity() | (sum < 0 ? 1u << 31 : 0);
    EXPECT_EQ(exec::float_of(sum, unit), binary32.is_zero(expected) ? 0 : expected)
        << sum << " * 2^" << unit;
  });
  EXPECT_EQ(exec::float_of(1, 127), 0x7f00'0000u);
  EXPECT_EQ(exec::float_of(1, 128), 0x7f80'0000u);
  EXPECT_EQ(exec::float_of(-1, 128), 0xff80'0000u);
}

// Without a swizzle, eight rows of 16 bytes follow each other.
TEST(shared_operand, is_inside_of_the_memory) {
  std::vector<std::byte> data(4096, std::byte{7});
  const auto fits = [&](std::uint64_t start, std::uint64_t bytes, int bits, bool is_transposed) {
    exec::operand_layout layout;
    layout.start = start;
    layout.bits = bits;
    layout.is_transposed = is_transposed;
    layout.stride = layout.leading = 128;
    std::uint32_t words[32];
    return exec::shared_operand{layout}.read({data.data(), bytes}, 0, 0, words);
  };
  for (const int bits : {8, 16, 32}) {
    for (const bool is_transposed : {false, true}) {
      // Elements of 32 bits have their eight lines in two units, and of 8 bits 16 rows.
      const std::uint64_t needed = !is_transposed || bits == 16 ? 128 : bits == 8 ? 256 : 192;
      EXPECT_TRUE(fits(0, needed, bits, is_transposed)) << bits << is_transposed;
      EXPECT_FALSE(fits(0, needed - 1, bits, is_transposed)) << bits << is_transposed;
      EXPECT_FALSE(fits(16, needed, bits, is_transposed)) << bits << is_transposed;
      EXPECT_TRUE(fits(16, needed + 16, bits, is_transposed)) << bits << is_transposed;
    }
  }
}

// The lanes that do not execute a product keep their registers.
TEST(matrix_products, write_the_active_lanes) {
  machine m;
  m.options.check_sync = false;
  for (const std::string product :
       {"m16n8k8.row.col.f16.f16.f16.f16 {r4, r5}, {r0, r0}, {r0}, {r0, r0};",
        "m8n8k4.row.col.f16.f16.f16.f16 {r4, r5, r6, r7}, {r0, r0}, {r0, r0}, {r0, r0, r0, r0};",
        "m8n8k16.row.col.s32.s8.s8.s32 {r4, r5}, {r0}, {r0}, {r0, r0};",
        "m8n8k128.row.col.s32.b1.b1.s32.xor.popc {r4, r5}, {r0}, {r0}, {r0, r0};"}) {
    m.load(
        ".version 8.4\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 out, .param .u32 lanes) { .reg .b32 r<8>, i, n; .reg .b64 "
        "a, "
        "o; .reg .pred p; mov.u32 i, %tid.x; ld.param.u32 n, [lanes]; ld.param.u64 a, [out];\n"
        "mul.wide.u32 o, i, 4; add.u64 a, a, o; setp.lt.u32 p, i, n; mov.u32 r4, 77; mov.u32 r5, "
        "77; mov.u32 r0, 0; @p mma.sync.aligned." +
        product + " st.global.u32 [a], r4; ret; }");
    const memory::address out = m.allocate(128);
    for (const std::uint32_t lanes : {0u, 1u, 16u, 31u, 32u}) {
      ASSERT_FALSE(m.run("k", {1}, {32}, out, lanes).fault);
      std::vector<std::uint32_t> expected(32, 77);
      std::fill_n(expected.begin(), lanes, 0);
      EXPECT_EQ(m.download<std::uint32_t>(out, 32), expected) << product << lanes;
    }
  }
}

// A product of integers whose matrices have the same element everywhere.
struct integer_form {
  const char *shape, *kind;
  int rows, depth, width;
  int a_count() const { return rows * depth * width / 1024; }
  int b_count() const { return depth * width / 128; }
  int d_count() const { return rows / 4; }
};
constexpr integer_form integer_forms[] = {
    {"m8n8k16", "8", 8, 16, 8}, {"m16n8k16", "8", 16, 16, 8}, {"m16n8k32", "8", 16, 32, 8},
    {"m8n8k32", "4", 8, 32, 4}, {"m16n8k32", "4", 16, 32, 4}, {"m16n8k64", "4", 16, 64, 4},
};

std::string repeated_register(const std::string& name, int count) {
  std::string list = "{" + name;
  for (int n = 1; n < count; ++n) list += ", " + name;
  return list + "}";
}

std::string numbered_registers(const std::string& name, int count) {
  std::string list = "{" + name + "0";
  for (int n = 1; n < count; ++n) list += ", " + name + std::to_string(n);
  return list + "}";
}

// A kernel that replaces C by D in memory: a word of each lane for each register.
std::string text_of(const integer_form& f, const std::string& types, bool is_saturating) {
  const std::string d = numbered_registers("d", f.d_count());
  std::string loads, stores;
  for (int n = 0; n < f.d_count(); ++n) {
    const std::string place = "[p+" + std::to_string(128 * n) + "]", name = std::to_string(n);
    loads += "ld.global.b32 d" + name + ", " + place + ";";
    stores += "st.global.b32 " + place + ", d" + name + ";";
  }
  return ".version 8.4\n.target sm_90\n.address_size 64\n"
         ".visible .entry k(.param .u64 c, .param .u32 of_a, .param .u32 of_b) { .reg .b64 p, o;"
         ".reg .b32 i, a, b, d<4>; ld.param.u64 p, [c]; ld.param.u32 a, [of_a];"
         "ld.param.u32 b, [of_b]; mov.u32 i, %tid.x; mul.wide.u32 o, i, 4; add.u64 p, p, o;" +
         loads + "mma.sync.aligned." + f.shape + ".row.col" + (is_saturating ? ".satfinite" : "") +
         ".s32." + types + ".s32 " + d + ", " + repeated_register("a", f.a_count()) + ", " +
         repeated_register("b", f.b_count()) + ", " + d + ";" + stores + "ret; }";
}

// Repeats the low bits of an element in a register.
std::uint32_t repeated_element(int element, int width) {
  const std::uint32_t low = static_cast<std::uint32_t>(element) & ((1u << width) - 1);
  return low * (width == 8 ? 0x0101'0101u : 0x1111'1111u);
}

class integer_products : public testing::TestWithParam<exec::instruction_set> {
 protected:
  void SetUp() override {
    if (!exec::is_available(GetParam())) GTEST_SKIP() << "not available on this processor";
    exec::use_instruction_set(GetParam());
  }
  void TearDown() override { exec::use_instruction_set(exec::detected_instruction_set()); }

  // Compares D with limited or wrapped sums, for accumulators around both limits.
  static void compare(machine& m, const integer_form& f, int a, int b, bool is_saturating) {
    using limits = std::numeric_limits<std::int32_t>;
    const std::int64_t products = std::int64_t{a} * b * f.depth;
    std::vector<std::uint32_t> words(static_cast<std::size_t>(32 * f.d_count())), expected;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::int64_t near = static_cast<std::int64_t>(i % 8) - 4;
      const std::int64_t base = i / 8 % 4 == 0   ? limits::min() - products
                                : i / 8 % 4 == 1 ? limits::max() - products
                                : i / 8 % 4 == 2 ? limits::min()
                                                 : limits::max();
      const std::int64_t c = std::clamp<std::int64_t>(base + near, limits::min(), limits::max());
      const std::int64_t sum = c + products;
      const std::int64_t limited = std::clamp<std::int64_t>(sum, limits::min(), limits::max());
      words[i] = static_cast<std::uint32_t>(c);
      expected.push_back(static_cast<std::uint32_t>(is_saturating ? limited : sum));
    }
    const memory::address c = m.upload(words);
    const auto result =
        m.run("k", {1}, {32}, c, repeated_element(a, f.width), repeated_element(b, f.width));
    ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
    EXPECT_EQ(m.download<std::uint32_t>(c, words.size()), expected)
        << f.shape << " " << a << " * " << b << (is_saturating ? " limited" : "");
  }
};

TEST_P(integer_products, are_limited_to_words_or_wrap) {
  for (const integer_form& f : integer_forms) {
    for (const std::string type_of_a : {"s", "u"}) {
      for (const std::string type_of_b : {"s", "u"}) {
        for (const bool is_saturating : {false, true}) {
          machine m;
          m.load(text_of(f, type_of_a + f.kind + "." + type_of_b + f.kind, is_saturating));
          const auto extremes = [&](const std::string& type) {
            const int half = 1 << (f.width - 1);
            return type == "s" ? std::array{-half, half - 1} : std::array{1, 2 * half - 1};
          };
          for (const int a : extremes(type_of_a)) {
            for (const int b : extremes(type_of_b)) compare(m, f, a, b, is_saturating);
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(sets, integer_products,
                         testing::Values(exec::instruction_set::baseline,
                                         exec::instruction_set::x86_64_v3,
                                         exec::instruction_set::x86_64_v4));

}  // namespace
}  // namespace halfwarp::tests
