// SPDX-License-Identifier: Apache-2.0
// The handlers of mma for each instruction set against the general product.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>
#include <utility>

#include "emulator/exec/handler_table.hpp"
#include "emulator/exec/matrix/float_tile.hpp"
#include "emulator/exec/matrix/product.hpp"
#include "machine.hpp"

namespace halfwarp::tests {

// The linker replaces calls of two functions of the library by these.

static int general_products = 0, special_products = 0;

void count_general(exec::warp& w, const exec::instruction& instr, const exec::product_sources& from,
                   exec::product_results& d) asm("__wrap_" HALFWARP_MULTIPLY_TILE);
void multiply_really(exec::warp& w, const exec::instruction& instr,
                     const exec::product_sources& from,
                     exec::product_results& d) asm("__real_" HALFWARP_MULTIPLY_TILE);
bool count_special(const exec::matrix_site& site, const exec::product_sources& from,
                   const exec::float_tile& s, exec::finite_sources& finite,
                   exec::special_sums& sums) asm("__wrap_" HALFWARP_MOVE_SPECIALS);
bool move_really(const exec::matrix_site& site, const exec::product_sources& from,
                 const exec::float_tile& s, exec::finite_sources& finite,
                 exec::special_sums& sums) asm("__real_" HALFWARP_MOVE_SPECIALS);

void count_general(exec::warp& w, const exec::instruction& instr, const exec::product_sources& from,
                   exec::product_results& d) {
  ++general_products;
  multiply_really(w, instr, from, d);
}
bool count_special(const exec::matrix_site& site, const exec::product_sources& from,
                   const exec::float_tile& s, exec::finite_sources& finite,
                   exec::special_sums& sums) {
  const bool any = move_really(site, from, s, finite, sums);
  special_products += any;
  return any;
}

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
    {"m16n8k16.row.col.f16.f16.f16.f16", scalar_type::f16, scalar_type::f16, scalar_type::f16, 16,
     16},
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

// Forms with the same registers.
using form_list = std::vector<form>;

// A kernel that loads the words of each lane, multiplies by each form and stores each D.
std::string text_of(const form_list& list) {
  const form& f = list.front();
  const int words = f.words_of_lane(), results = f.d_count() * static_cast<int>(list.size());
  std::string text =
      ".version 8.4\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 from, .param .u64 to) { .reg .b64 p, q, o;"
      ".reg .b32 t, u, i<16>, d<4>; ld.param.u64 p, [from]; ld.param.u64 q, [to];"
      "mov.u32 t, %tid.x; mov.u32 u, %ctaid.x; mad.lo.u32 t, u, 32, t;"
      "mul.wide.u32 o, t, " +
      std::to_string(4 * words) + "; add.u64 p, p, o; mul.wide.u32 o, t, " +
      std::to_string(4 * results) + "; add.u64 q, q, o;\n";
  for (int n = 0; n < words; ++n) {
    const std::string number = std::to_string(n);
    text += "ld.global.b32 i" + number + ", [p+" + std::to_string(4 * n) + "];";
  }
  int to = 0;
  for (const form& each : list) {
    text += "mma.sync.aligned." + std::string{each.words} + " " + registers('d', 0, f.d_count()) +
            ", " + registers('i', 0, f.a_count()) + ", " +
            registers('i', f.a_count(), f.b_count()) + ", " +
            registers('i', f.a_count() + f.b_count(), f.d_count()) + ";";
    for (int n = 0; n < f.d_count(); ++n, to += 4) {
      text += "st.global.b32 [q+" + std::to_string(to) + "], d" + std::to_string(n) + ";";
    }
  }
  return text + " ret; }";
}

// Kinds of numbers: `near` ones have sums that are neither one term nor special.
enum class family { near, any, short_, sparse, special, count };

float short_number(std::mt19937& generator, int bits) {
  const auto limit = static_cast<int>(1u << bits);
  return static_cast<float>(static_cast<int>(generator() % (2u << bits)) - limit);
}

std::uint32_t half_bits(float value, scalar_type type) {
  const auto raw = std::bit_cast<std::uint32_t>(value);
  if (type == scalar_type::bf16) return raw >> 16;
  const std::uint32_t magnitude = raw & 0x7fff'ffff;
  return (raw >> 16 & 0x8000) | (magnitude ? (magnitude >> 13) - (112u << 10) : 0);
}

// Draws a number of few bits, as the type has it. Sums of C have up to 26 bits.
std::uint32_t draw_short(std::mt19937& generator, scalar_type type, int bits) {
  if (type == scalar_type::f16 || type == scalar_type::bf16) {
    const std::uint32_t low = half_bits(short_number(generator, bits), type);
    return low | half_bits(short_number(generator, bits), type) << 16;
  }
  const int c_bits = 2 * bits + static_cast<int>(generator() % 10);
  return std::bit_cast<std::uint32_t>(short_number(generator, c_bits));
}

std::uint32_t draw_near(std::mt19937& generator, scalar_type type) {
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

// Returns the bits of a register that has numbers of a family.
std::uint32_t draw(std::mt19937& generator, scalar_type type, family of, int tile) {
  constexpr std::uint32_t specials[] = {0x7c00'7c00, 0xfc00'7c00, 0x7f80'0000, 0xff80'0000,
                                        0x7e01'7fff, 0x8000'8000, 0x0001'8001, 0x7bff'7bff};
  const std::uint32_t near = draw_near(generator, type);
  switch (of) {
    case family::any:
      return static_cast<std::uint32_t>(generator());
    case family::short_:
      return draw_short(generator, type, tile % 9);
    case family::sparse:
      return generator() % 4 ? 0 : near;
    case family::special:
      if (generator() % 40) return near;
      // Each of the low bytes is a NaN or an infinity of a type of 8 bits.
      if (ptx::info(type).bits == 8) return (near & ~0xff'00ffu) | 0x7c'00ff;
      return specials[generator() % std::size(specials)];
    default:
      return near;
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

// The registers of a tile, in the order A, B, C.
struct tile {
  std::uint32_t words[16][32];

  tile() = default;
  tile(const form& f, std::mt19937& generator, int number) {
    const auto of = static_cast<family>(number % static_cast<int>(family::count));
    const family of_c = generator() % 4 ? of : static_cast<family>(generator() % 4);
    for (int n = 0; n < f.words_of_lane(); ++n) {
      const int c = f.a_count() + f.b_count();
      const scalar_type type = n < f.a_count() ? f.a : n < c ? f.b : f.d;
      const bool is_float = f.d != scalar_type::s32;
      const family each = is_float ? (n < c ? of : of_c) : family::near;
      for (auto& word : words[n]) word = draw(generator, type, each, number);
    }
  }
  // Repeats A or B of another tile, as loops do.
  void repeat(const form& f, const tile& other, int number) {
    for (int n = 0; n < f.a_count() + f.b_count(); ++n) {
      if (number / 3 % 3 == (n < f.a_count())) std::ranges::copy(other.words[n], words[n]);
    }
  }
  void multiply(const form& f, exec::product_results& d) const {
    exec::product_sources from{};
    for (int n = 0; n < f.a_count(); ++n) from.a[n] = words[n];
    for (int n = 0; n < f.b_count(); ++n) from.b[n] = words[f.a_count() + n];
    for (int n = 0; n < f.d_count(); ++n) from.c[n] = words[f.a_count() + f.b_count() + n];
    exec::multiply(site_of(f), from, d);
  }
};

// Compares the tiles of one launch. HALFWARP_TILES is their number.
void compare(const form_list& list, std::mt19937& generator, unsigned count) {
  const form& f = list.front();
  machine m;
  m.load(text_of(list));
  std::vector<tile> tiles;
  std::vector<std::uint32_t> words;
  for (unsigned n = 0; n < count; ++n) {
    const int number = static_cast<int>(n);
    tiles.emplace_back(f, generator, number);
    if (n) tiles[n].repeat(f, tiles[n - 1], number);
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < f.words_of_lane(); ++i) words.push_back(tiles.back().words[i][lane]);
    }
  }
  const auto forms_count = static_cast<unsigned>(list.size());
  const memory::address source = m.upload(words), target = m.allocate(512u * forms_count * count);
  const auto result = m.run("k", {count}, {32}, source, target);
  ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
  const auto registers = static_cast<unsigned>(f.d_count()), stride = registers * forms_count;
  const auto stored = m.download<std::uint32_t>(target, 32u * stride * count);
  for (unsigned i = 0; i < forms_count * count; ++i) {
    const unsigned number = i / forms_count, first = i % forms_count * registers;
    exec::product_results expected{};
    tiles[number].multiply(list[i % forms_count], expected);
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned n = 0; n < registers; ++n) {
        ASSERT_EQ(stored[(32 * number + lane) * stride + first + n], expected[n][lane])
            << list[i % forms_count].words << " tile " << number << " register " << n << " of lane "
            << lane;
      }
    }
  }
}

TEST_P(matrices, products_equal_the_general_product) {
  std::mt19937 generator{1};
  const char* const tiles = std::getenv("HALFWARP_TILES");
  const unsigned count = tiles ? static_cast<unsigned>(std::atoi(tiles)) : 90;
  for (const form& f : forms) compare({f}, generator, count);
}

// The matrices that an mma leaves serve no other types, and no other depth.
TEST_P(matrices, equal_registers_have_other_types) {
  constexpr scalar_type e4m3 = scalar_type::e4m3, e5m2 = scalar_type::e5m2;
  constexpr scalar_type f32 = scalar_type::f32, f16 = scalar_type::f16, bf16 = scalar_type::bf16;
  std::mt19937 generator{2};
  compare({{"m16n8k16.row.col.f32.f16.f16.f32", f16, f16, f32, 16, 16},
           {"m16n8k16.row.col.f32.bf16.bf16.f32", bf16, bf16, f32, 16, 16},
           {"m16n8k32.row.col.f32.e4m3.e5m2.f32", e4m3, e5m2, f32, 32, 8},
           {"m16n8k32.row.col.f32.e4m3.e4m3.f32", e4m3, e4m3, f32, 32, 8},
           {"m16n8k8.row.col.f32.tf32.tf32.f32", scalar_type::tf32, scalar_type::tf32, f32, 8, 32},
           {"m16n8k16.row.col.f32.f16.f16.f32", f16, f16, f32, 16, 16}},
          generator, 30);
}

// The least unit of a sum is 2^-158, however small its terms are.
TEST_P(matrices, sums_of_the_smallest_products_have_a_least_unit) {
  constexpr form f{"m16n8k16.row.col.f32.bf16.bf16.f32",
                   scalar_type::bf16,
                   scalar_type::bf16,
                   scalar_type::f32,
                   16,
                   16};
  const auto pair = [](double low, double high) {
    const auto bits = [](double x) { return std::bit_cast<std::uint32_t>(float(x)) >> 16; };
    return bits(low) | bits(high) << 16;
  };
  const auto sum = [&](std::uint32_t a, std::uint32_t b) {
    machine m;
    m.load(text_of({f}));
    std::vector<std::uint32_t> words(32 * static_cast<std::size_t>(f.words_of_lane()));
    words[0] = a;
    words[static_cast<std::size_t>(f.a_count())] = b;
    const memory::address source = m.upload(words), target = m.allocate(512);
    const auto result = m.run("k", {1}, {32}, source, target);
    EXPECT_FALSE(result.fault) << report::full_text(*result.fault);
    return m.download<std::uint32_t>(target, 1)[0];
  };
  // (2^9 - 1 + 1) units, and twice that with half a unit in both terms
  EXPECT_EQ(sum(pair(0x7p-80, 0x1p-80), pair(73 * 0x1p-78, 0x1p-78)), 1u);
  EXPECT_EQ(sum(pair(0x1fp-80, 0x1p-80), pair(33 * 0x1p-79, 0x1p-79)), 0u);
}

// Lanes that call a function at two places have their registers in two frames.
TEST_P(matrices, lanes_meet_from_two_calls) {
  constexpr form f{"m16n8k16.row.col.f32.f16.f16.f32",
                   scalar_type::f16,
                   scalar_type::f16,
                   scalar_type::f32,
                   16,
                   16};
  std::string text = text_of({f});
  const std::string entry = ".visible .entry k(.param .u64 from, .param .u64 to)";
  text.replace(text.find(entry), entry.size(), ".func f(.param .u64 from, .param .u64 to)");
  const std::string call =
      "{ .param .b64 x; .param .b64 y; st.param.b64 [x], a; st.param.b64 [y], b; "
      "call f, (x, y); }\n";
  text += "\n" + entry +
          " { .reg .b64 a, b; .reg .b32 i; .reg .pred p; ld.param.u64 a, [from];"
          "ld.param.u64 b, [to]; mov.u32 i, %tid.x; and.b32 i, i, 5; setp.eq.u32 p, i, 1;\n"
          "@p bra other;\n" +
          call + "bra end;\nother: " + call + "end: ret; }";
  std::mt19937 generator{3};
  const tile numbers{f, generator, 0};
  std::vector<std::uint32_t> words;
  for (int lane = 0; lane < 32; ++lane) {
    for (int n = 0; n < f.words_of_lane(); ++n) words.push_back(numbers.words[n][lane]);
  }
  machine m;
  m.load(text);
  const memory::address source = m.upload(words), target = m.allocate(512);
  const auto result = m.run("k", {1}, {32}, source, target);
  ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
  exec::product_results expected{};
  numbers.multiply(f, expected);
  const auto stored = m.download<std::uint32_t>(target, 128);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    for (std::size_t n = 0; n < 4; ++n) EXPECT_EQ(stored[4 * lane + n], expected[n][lane]) << lane;
  }
}

// ---- the path of a tile

enum class path { integers, floats, specials, general };

constexpr scalar_type f16 = scalar_type::f16, bf16 = scalar_type::bf16, f32 = scalar_type::f32;
constexpr form of_f16{"m16n8k16.row.col.f32.f16.f16.f32", f16, f16, f32, 16, 16};
constexpr form of_bf16{"m16n8k16.row.col.f32.bf16.bf16.f32", bf16, bf16, f32, 16, 16};
constexpr form of_e5m2{
    "m16n8k32.row.col.f32.e5m2.e5m2.f32", scalar_type::e5m2, scalar_type::e5m2, f32, 32, 8};

// Runs a product whose matrices have the same word everywhere, or another word in one place.
// Checks the results.
struct product {
  form of;
  std::vector<std::uint32_t> words;  // by lane

  product(const form& f, std::uint32_t a, std::uint32_t b, float c) : of{f} {
    for (int lane = 0; lane < 32; ++lane) {
      words.insert(words.end(), static_cast<std::size_t>(f.a_count()), a);
      words.insert(words.end(), static_cast<std::size_t>(f.b_count()), b);
      words.insert(words.end(), 4, std::bit_cast<std::uint32_t>(c));
    }
  }
  product& set(int lane, int word, std::uint32_t value) {
    words.at(static_cast<std::size_t>(lane * of.words_of_lane() + word)) = value;
    return *this;
  }
  path run(bool keeps_tile = false) const {
    tile numbers;
    for (int lane = 0; lane < 32; ++lane) {
      for (int n = 0; n < of.words_of_lane(); ++n) {
        numbers.words[n][lane] = words[static_cast<std::size_t>(lane * of.words_of_lane() + n)];
      }
    }
    exec::product_results expected{};
    numbers.multiply(of, expected);
    if (!keeps_tile) exec::cached_tile().key = 0;
    general_products = special_products = 0;
    machine m;
    m.load(text_of({of}));
    const memory::address source = m.upload(words), target = m.allocate(512);
    EXPECT_FALSE(m.run("k", {1}, {32}, source, target).fault);
    const auto stored = m.download<std::uint32_t>(target, 128);
    for (std::size_t i = 0; i < 128; ++i) EXPECT_EQ(stored[i], expected[i % 4][i / 4]) << i;
    if (general_products) return path::general;
    if (special_products) return path::specials;
    return exec::cached_tile().valid_a & exec::float_part ? path::floats : path::integers;
  }
};

// A pair of the same bits.
constexpr std::uint32_t both(std::uint32_t half) { return half * 0x10001; }
// Pairs of f16 and bf16: one and a power of two, or twice the power.
std::uint32_t f16_range(int power) { return 0x3c00u | (0x3c00u + 0x400u * power) << 16; }
std::uint32_t bf16_power(int power) { return both(static_cast<std::uint32_t>(127 + power) << 7); }
std::uint32_t e5m2_range(int power) { return 0x3cu | (0x3cu + 4u * power) << 8; }
constexpr std::uint32_t one = both(0x3c00), two = both(0x4000), half = both(0x3800);

class paths : public matrices {
 protected:
  // The baseline of this host has no integers.
  path integers() const {
    return GetParam() == instruction_set::baseline ? path::floats : path::integers;
  }
};

TEST_P(paths, numbers_of_few_bits_are_integers) {
  EXPECT_EQ(product(of_f16, one, one, 3).run(), integers());
  EXPECT_EQ(product(of_f16, 0, 0, 3).run(), integers());
  // numbers of at most 15 bits, and products of 26
  EXPECT_EQ(product(of_f16, f16_range(14), f16_range(10), 0).run(), integers());
  EXPECT_EQ(product(of_f16, f16_range(10), f16_range(14), 0).run(), integers());
  EXPECT_EQ(product(of_f16, f16_range(12), f16_range(12), 0).run(), integers());
  EXPECT_EQ(product(of_f16, f16_range(15), one, 0).run(), path::floats);
  EXPECT_EQ(product(of_f16, one, f16_range(15), 0).run(), path::floats);
  EXPECT_EQ(product(of_f16, f16_range(13), f16_range(12), 0).run(), path::floats);
  EXPECT_EQ(product(of_f16, f16_range(14), f16_range(11), 0).run(), path::floats);
  // products of 8-bit floats have 27
  const auto path_of_one = [](int a, int b) {
    return product(of_e5m2, 0, e5m2_range(b), 0).set(0, 0, e5m2_range(a)).run();
  };
  EXPECT_EQ(path_of_one(13, 12), integers());
  EXPECT_EQ(path_of_one(12, 13), integers());
  EXPECT_EQ(path_of_one(13, 13), path::floats);
}

TEST_P(paths, the_unit_of_integers_is_a_fraction) {
  EXPECT_EQ(product(of_f16, two, half, 0).run(), integers());
  EXPECT_EQ(product(of_f16, two, one, 0).run(), path::floats);
  EXPECT_EQ(product(of_f16, both(0x3e00), two, 0).run(), integers());  // 1.5
  EXPECT_EQ(product(of_f16, both(0x3e00), both(0x4400), 0).run(), path::floats);
  EXPECT_EQ(product(of_f16, both(0x0008), one, 0).run(), integers());  // a subnormal number
  EXPECT_EQ(product(of_bf16, bf16_power(-30), bf16_power(-30), 0).run(), integers());
  EXPECT_EQ(product(of_bf16, bf16_power(-30), bf16_power(-31), 0).run(), path::floats);
}

TEST_P(paths, accumulators_are_integers_of_the_unit) {
  constexpr float limit = 0x1p26f;
  EXPECT_EQ(product(of_f16, one, one, limit - 4).run(), integers());
  EXPECT_EQ(product(of_f16, one, one, 4 - limit).run(), integers());
  EXPECT_EQ(product(of_f16, one, one, limit).run(), path::floats);
  EXPECT_EQ(product(of_f16, one, one, -limit).run(), path::floats);
  EXPECT_EQ(product(of_f16, one, one, 0.5f).run(), path::floats);
  EXPECT_EQ(product(of_f16, half, one, 0.5f).run(), integers());
  EXPECT_EQ(product(of_f16, half, half, 0.25f).run(), integers());
}

// Some of the lowest bits decide that numbers are not few.
TEST_P(paths, low_bits_exclude_integers) {
  for (const std::uint32_t bit : {1u, 2u, 4u, 1u << 16, 2u << 16, 4u << 16}) {
    EXPECT_EQ(product(of_f16, one, one, 0).set(0, 0, one | bit).run(), path::floats) << bit;
    EXPECT_EQ(product(of_f16, one, one, 0).set(5, 0, one | bit).run(), path::floats) << bit;
    EXPECT_EQ(product(of_f16, one, one, 0).set(2, 4, one | bit).run(), path::floats) << bit;
    EXPECT_EQ(product(of_f16, one, one, 0).set(1, 0, one | bit).run(), integers()) << bit;
  }
  EXPECT_EQ(product(of_f16, both(0x3c08), one, 0).run(), integers());
  EXPECT_EQ(product(of_e5m2, both(0x3d3d), both(0x3c3c), 0).run(), integers());
}

TEST_P(paths, exponents_near_the_limits_take_the_general_path) {
  EXPECT_EQ(product(of_bf16, bf16_power(45), bf16_power(45), 0).run(), path::floats);
  EXPECT_EQ(product(of_bf16, bf16_power(46), bf16_power(45), 0).run(), path::general);
  EXPECT_EQ(product(of_bf16, bf16_power(-50), bf16_power(-50), 0).run(), path::floats);
  EXPECT_EQ(product(of_bf16, bf16_power(-51), bf16_power(-50), 0).run(), path::general);
  EXPECT_EQ(product(of_bf16, 0, 0, 0x1p90f).run(), path::floats);
  EXPECT_EQ(product(of_bf16, 0, 0, 0x1p91f).run(), path::general);
  EXPECT_EQ(product(of_bf16, 0, 0, 0x1p-100f).run(), path::floats);
  EXPECT_EQ(product(of_bf16, 0, 0, 0x1p-101f).run(), path::general);
}

// 16 products of 1.9677 or 1.9697 in units of 2^-25
TEST_P(paths, sums_of_more_than_32_bits_take_the_general_path) {
  for (const std::uint32_t sign : {0u, both(0x8000)}) {
    EXPECT_EQ(product(of_f16, both(0x3fdf) | sign, both(0x3fdf), 0).run(), path::floats);
    EXPECT_EQ(product(of_f16, both(0x3fe1) | sign, both(0x3fe1), 0).run(), path::general);
  }
}

TEST_P(paths, infinities_are_added_apart) {
  EXPECT_EQ(product(of_f16, both(0x3c01), one, INFINITY).run(), path::specials);
  EXPECT_EQ(product(of_f16, both(0x3c01), one, 1).set(0, 0, 0x7c00'3c01).run(), path::specials);
  EXPECT_EQ(product(of_f16, both(0x3c01), one, 1).set(7, 4, 0x7c00'3c01).run(), path::specials);
  EXPECT_EQ(product(of_f16, both(0x7bff), half, 1).run(), path::floats);
}

// The types whose numbers are no halves, and 8-bit floats in two steps.
TEST_P(paths, types_of_other_widths_have_infinities_too) {
  constexpr form of_tf32{
      "m16n8k8.row.col.f32.tf32.tf32.f32", scalar_type::tf32, scalar_type::tf32, f32, 8, 32};
  constexpr form of_e4m3{
      "m16n8k32.row.col.f32.e4m3.e4m3.f32", scalar_type::e4m3, scalar_type::e4m3, f32, 32, 8};
  constexpr std::uint32_t word = 0x3f80'2000, infinity = 0x7f80'0000, bytes = 0x7839'3908;
  constexpr std::uint32_t quiet = 0x3939'397f, e5m2_infinity = 0x3d3d'3d7c, wide = 0x3d3d'3d01;
  EXPECT_EQ(product(of_tf32, word, word, 1).run(), path::floats);
  EXPECT_EQ(product(of_tf32, word, word, 1).set(3, 0, infinity - 0x2000).run(), path::general);
  EXPECT_EQ(product(of_tf32, word, word, 1).set(3, 0, infinity).run(), path::specials);
  EXPECT_EQ(product(of_tf32, word, word, 1).set(3, 5, infinity | 1u << 31).run(), path::specials);
  EXPECT_EQ(product(of_e4m3, bytes, bytes, 1).run(), path::floats);
  EXPECT_EQ(product(of_e4m3, bytes, bytes, 1).set(3, 0, quiet).run(), path::specials);
  EXPECT_EQ(product(of_e4m3, bytes, bytes, 1).set(3, 5, quiet << 8).run(), path::specials);
  EXPECT_EQ(product(of_e5m2, wide, wide, 1).run(), path::floats);
  EXPECT_EQ(product(of_e5m2, wide, wide, 1).set(3, 0, e5m2_infinity).run(), path::specials);
}

// Loops repeat A or B, whose numbers are read once.
TEST_P(paths, repeated_matrices_are_read_once) {
  const product first{of_f16, both(0x3c01), both(0x3c01), 1};
  const auto after = [&](bool& is_special, const product& second) {
    EXPECT_EQ(first.run(), path::floats);
    EXPECT_FALSE(is_special);
    is_special = true;  // stays unless the numbers are read again
    second.run(true);
    return std::exchange(is_special, false);
  };
  auto& cache = exec::cached_tile();
  product other_a = first, other_b = first;
  other_a.set(31, 3, both(0x3c02));
  other_b.set(31, 5, both(0x3c02));
  EXPECT_TRUE(after(cache.is_special_a, first));
  EXPECT_TRUE(after(cache.is_special_b, first));
  EXPECT_TRUE(after(cache.is_special_a, other_b));
  EXPECT_TRUE(after(cache.is_special_b, other_a));
  EXPECT_FALSE(after(cache.is_special_a, other_a));
  EXPECT_FALSE(after(cache.is_special_b, other_b));
}

INSTANTIATE_TEST_SUITE_P(sets, matrices,
                         testing::Values(instruction_set::baseline, instruction_set::x86_64_v3,
                                         instruction_set::x86_64_v4));
INSTANTIATE_TEST_SUITE_P(sets, paths,
                         testing::Values(instruction_set::baseline, instruction_set::x86_64_v3,
                                         instruction_set::x86_64_v4));

}  // namespace
}  // namespace halfwarp::tests
