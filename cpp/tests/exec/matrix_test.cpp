// SPDX-License-Identifier: Apache-2.0
// The handlers of mma for each instruction set against the general product.
#include <gtest/gtest.h>

#include <random>

#include "emulator/exec/handler_table.hpp"
#include "emulator/exec/matrix/product.hpp"
#include "machine.hpp"

namespace halfwarp::tests {
namespace {

using exec::instruction_set;
using ptx::scalar_type;

struct form {
  const char* words;  // of the mnemonic, after .aligned
  scalar_type a, b, d;
  int depth, width;
  bool is_saturating = false;
  int a_count() const { return 16 * depth * width / 1024; }
  int b_count() const { return a_count() / 2; }
  int d_count() const { return d == scalar_type::f16 ? 2 : 4; }
  int words_of_lane() const { return a_count() + b_count() + d_count(); }
};
constexpr form forms[] = {
    {"m16n8k16.row.col.f32.f16.f16.f32", scalar_type::f16, scalar_type::f16, scalar_type::f32, 16,
     16},
    {"m16n8k8.row.col.f16.f16.f16.f16", scalar_type::f16, scalar_type::f16, scalar_type::f16, 8,
     16},
    {"m16n8k16.row.col.f32.bf16.bf16.f32", scalar_type::bf16, scalar_type::bf16, scalar_type::f32,
     16, 16},
    {"m16n8k8.row.col.f32.tf32.tf32.f32", scalar_type::tf32, scalar_type::tf32, scalar_type::f32, 8,
     32},
    {"m16n8k32.row.col.f32.e4m3.e5m2.f32", scalar_type::e4m3, scalar_type::e5m2, scalar_type::f32,
     32, 8},
    {"m16n8k32.row.col.f16.e5m2.e4m3.f16", scalar_type::e5m2, scalar_type::e4m3, scalar_type::f16,
     32, 8},
    {"m16n8k32.row.col.satfinite.s32.s8.u8.s32", scalar_type::s8, scalar_type::u8, scalar_type::s32,
     32, 8, true},
    {"m16n8k64.row.col.s32.u4.s4.s32", scalar_type::u4, scalar_type::s4, scalar_type::s32, 64, 4},
};

std::string registers(char letter, int first, int count) {
  std::string list = "{";
  for (int n = 0; n < count; ++n) {
    list += (n ? ", " : "") + std::string{letter} + std::to_string(first + n);
  }
  return list + "}";
}

// A kernel that loads the words of each lane, multiplies and stores D.
std::string text_of(const form& f) {
  const int words = f.words_of_lane();
  std::string text =
      ".version 8.4\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 from, .param .u64 to) { .reg .b64 p, q, o;"
      ".reg .b32 t, i<16>, d<4>; ld.param.u64 p, [from]; ld.param.u64 q, [to]; mov.u32 t, %tid.x;"
      "mul.wide.u32 o, t, " +
      std::to_string(4 * words) + "; add.u64 p, p, o; mul.wide.u32 o, t, " +
      std::to_string(4 * f.d_count()) + "; add.u64 q, q, o;\n";
  for (int n = 0; n < words; ++n) {
    const std::string number = std::to_string(n);
    text += "ld.global.b32 i" + number + ", [p+" + std::to_string(4 * n) + "];";
  }
  text += "mma.sync.aligned." + std::string{f.words} + " " + registers('d', 0, f.d_count()) + ", " +
          registers('i', 0, f.a_count()) + ", " + registers('i', f.a_count(), f.b_count()) + ", " +
          registers('i', f.a_count() + f.b_count(), f.d_count()) + ";";
  for (int n = 0; n < f.d_count(); ++n) {
    text += "st.global.b32 [q+" + std::to_string(4 * n) + "], d" + std::to_string(n) + ";";
  }
  return text + " ret; }";
}

// Draws bits whose exponents are near one another, so that sums are neither one term nor special.
std::uint32_t draw(std::mt19937& generator, scalar_type type) {
  const auto bits = static_cast<std::uint32_t>(generator());
  switch (type) {
    case scalar_type::f16:
      return (bits & 0x8fff'8fff) | 0x3000'3000;
    case scalar_type::bf16:
      return (bits & 0x83ff'83ff) | 0x3c00'3c00;
    case scalar_type::f32:
    case scalar_type::tf32:
      return (bits & 0x87ff'ffff) | 0x3800'0000;
    case scalar_type::e4m3:
    case scalar_type::e5m2:
      return bits & 0xbfbf'bfbf;
    default:
      return bits;
  }
}

exec::matrix_site site_of(const form& f) {
  exec::matrix_site site;
  site.a_type = f.a;
  site.b_type = f.b;
  site.c_type = site.d_type = f.d;
  site.depth = static_cast<std::uint16_t>(f.depth);
  site.width = static_cast<std::uint8_t>(f.width);
  site.is_saturating = f.is_saturating;
  const bool is_small = f.width == 8 && f.d != scalar_type::s32;
  site.sums = is_small ? exec::addition::two_steps : exec::addition::one_step;
  return site;
}

class matrices : public testing::TestWithParam<instruction_set> {
 protected:
  void SetUp() override {
    if (!exec::is_available(GetParam())) GTEST_SKIP() << "not available on this processor";
    exec::use_instruction_set(GetParam());
  }
  void TearDown() override { exec::use_instruction_set(exec::detected_instruction_set()); }
};

TEST_P(matrices, products_equal_the_general_product) {
  std::mt19937 generator{1};
  for (const form& f : forms) {
    machine m;
    m.load(text_of(f));
    const int count = f.words_of_lane();
    for (int repetition = 0; repetition < 8; ++repetition) {
      std::uint32_t by_register[16][32];
      std::vector<std::uint32_t> words(32u * static_cast<unsigned>(count));
      for (int n = 0; n < count; ++n) {
        const scalar_type type = n < f.a_count() ? f.a : n < f.a_count() + f.b_count() ? f.b : f.d;
        for (int lane = 0; lane < 32; ++lane) {
          by_register[n][lane] = draw(generator, type);
          words[static_cast<unsigned>(lane * count + n)] = by_register[n][lane];
        }
      }
      exec::product_sources from{};
      for (int n = 0; n < f.a_count(); ++n) from.a[n] = by_register[n];
      for (int n = 0; n < f.b_count(); ++n) from.b[n] = by_register[f.a_count() + n];
      for (int n = 0; n < f.d_count(); ++n) {
        from.c[n] = by_register[f.a_count() + f.b_count() + n];
      }
      exec::product_results expected{};
      exec::multiply(site_of(f), from, expected);
      const memory::address source = m.upload(words), target = m.allocate(512);
      const auto result = m.run("k", {1}, {32}, source, target);
      ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
      const auto stored = m.download<std::uint32_t>(target, 32u * unsigned(f.d_count()));
      for (int lane = 0; lane < 32; ++lane) {
        for (int n = 0; n < f.d_count(); ++n) {
          EXPECT_EQ(stored[static_cast<unsigned>(lane * f.d_count() + n)], expected[n][lane])
              << f.words << " register " << n << " of lane " << lane;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(sets, matrices,
                         testing::Values(instruction_set::baseline, instruction_set::x86_64_v3,
                                         instruction_set::x86_64_v4));

}  // namespace
}  // namespace halfwarp::tests
