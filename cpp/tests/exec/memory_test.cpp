// SPDX-License-Identifier: Apache-2.0
// Loads, stores and atomics of every width, in every space.
#include <gtest/gtest.h>

#include <cmath>

#include "emulator/exec/decode/kernel_decoder.hpp"
#include "emulator/exec/handler_table.hpp"
#include "emulator/exec/program.hpp"
#include "emulator/exec/schedule/cluster.hpp"
#include "machine.hpp"

namespace halfwarp::tests {
namespace {

// Thread i loads element i of `in` as TYPE into a register of WIDTH bits and stores the register.
std::string load_kernel(const std::string& type, int bits, int width) {
  std::string w = std::to_string(width);
  return ".visible .entry k(.param .u64 in, .param .u64 out) {\n"
         ".reg .b64 p, q, o; .reg .b32 i; .reg .b" +
         w +
         " v;\n"
         "mov.u32 i, %tid.x; mul.wide.u32 o, i, " +
         std::to_string(bits / 8) +
         ";\n"
         "ld.param.u64 p, [in]; add.u64 p, p, o; ld.global." +
         type +
         " v, [p];\n"
         "mul.wide.u32 o, i, " +
         std::to_string(width / 8) +
         ";\n"
         "ld.param.u64 q, [out]; add.u64 q, q, o; st.global.b" +
         w + " [q], v; ret; }\n";
}

std::uint64_t extended(std::uint64_t raw, int bits, int width, bool is_signed) {
  std::uint64_t value = bits == 64 ? raw : raw & ((1ull << bits) - 1);
  if (is_signed && bits < 64 && (value >> (bits - 1) & 1)) value |= ~0ull << bits;
  return width == 64 ? value : value & ((1ull << width) - 1);
}

TEST(memory, loads_extend_to_wider_registers_by_type) {
  for (int bits : {8, 16, 32, 64}) {
    for (char sign : {'u', 's', 'b'}) {
      for (int width : {16, 32, 64}) {
        if (width < bits) continue;
        machine m;
        std::string type = sign + std::to_string(bits);
        m.load(load_kernel(type, bits, width));
        std::vector<std::uint8_t> bytes(32 * bits / 8);
        for (std::size_t i = 0; i < bytes.size(); ++i)
          bytes[i] = static_cast<std::uint8_t>(i * 37 + 90);
        memory::address input = m.upload(bytes), out = m.allocate(32 * width / 8);
        ASSERT_FALSE(m.run("k", {1}, {32}, input, out).fault);
        auto got = m.download<std::uint8_t>(out, 32 * width / 8);
        for (int i = 0; i < 32; ++i) {
          std::uint64_t raw = 0, value = 0;
          std::memcpy(&raw, &bytes[i * bits / 8], bits / 8);
          std::memcpy(&value, &got[i * width / 8], width / 8);
          EXPECT_EQ(value, extended(raw, bits, width, sign == 's')) << type << " to " << width;
        }
      }
    }
  }
}

TEST(memory, stores_write_the_low_part_of_wider_registers) {
  for (int bits : {8, 16, 32}) {
    machine m;
    std::string n = std::to_string(bits);
    m.load(
        ".visible .entry k(.param .u64 out) { .reg .b64 p, o, v; .reg .b32 i;\n"
        "mov.u32 i, %tid.x; mul.wide.u32 o, i, " +
        std::to_string(bits / 8) +
        ";\n"
        "ld.param.u64 p, [out]; add.u64 p, p, o; cvt.u64.u32 v, i;\n"
        "mul.lo.u64 v, v, 0x123456789ab; st.global.b" +
        n + " [p], v; ret; }");
    memory::address out = m.allocate(32 * bits / 8);
    ASSERT_FALSE(m.run("k", {1}, {32}, out).fault);
    for (std::uint64_t i = 0; i < 32; ++i) {
      std::uint64_t got = 0;
      std::memcpy(&got, m.view<char>(out) + i * bits / 8, bits / 8);
      EXPECT_EQ(got, (i * 0x123456789ab) & ((1ull << bits) - 1));
    }
  }
}

TEST(memory, vector_accesses_may_overwrite_their_own_address) {
  machine m;
  m.load(
      ".visible .entry k(.param .u64 in, .param .u64 out) { .reg .b64 a<4>; .reg .b32 i, r<4>;\n"
      "mov.u32 i, %tid.x; mul.wide.u32 a0, i, 16; ld.param.u64 a1, [in]; add.u64 a2, a1, a0;\n"
      "ld.global.v2.u64 {a2, a3}, [a2];\n"
      "ld.param.u64 a1, [out]; add.u64 a1, a1, a0; st.global.v2.u64 [a1], {a3, a2};\n"
      "ld.param.u64 a1, [in]; add.u64 a1, a1, a0; ld.global.nc.v4.u32 {r0, r1, r2, r3}, [a1];\n"
      "ld.param.u64 a1, [out]; add.u64 a1, a1, a0; st.global.cs.v4.u32 [a1+512], {r3, r2, r1, "
      "r0};\n"
      "ret; }");
  std::vector<std::uint64_t> values(64);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i * 0x1'0000'0001 + 7;
  memory::address input = m.upload(values), out = m.allocate(1024);
  auto result = m.run("k", {1}, {32}, input, out);
  ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
  auto got = m.download<std::uint64_t>(out, 128);
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(got[2 * i], values[2 * i + 1]);
    EXPECT_EQ(got[2 * i + 1], values[2 * i]);
    auto swapped = [](std::uint64_t v) { return v << 32 | v >> 32; };
    EXPECT_EQ(got[64 + 2 * i], swapped(values[2 * i + 1]));
    EXPECT_EQ(got[64 + 2 * i + 1], swapped(values[2 * i]));
  }
}

TEST(memory, eight_registers_are_loaded_and_stored) {
  machine m;
  m.load(
      ".visible .entry k(.param .u64 in, .param .u64 out) { .reg .b64 p; .reg .b32 r<8>;\n"
      "ld.param.u64 p, [in]; ld.global.v8.b32 {r0, r1, r2, r3, r4, r5, r6, r7}, [p];\n"
      "ld.param.u64 p, [out]; st.global.v8.b32 [p], {r7, r6, r5, r4, r3, r2, r1, r0}; ret; }");
  memory::address input = m.upload<int>({1, 2, 3, 4, 5, 6, 7, 8}), out = m.allocate(32);
  ASSERT_FALSE(m.run("k", {1}, {1}, input, out).fault);
  EXPECT_EQ(m.download<int>(out, 8), (std::vector{8, 7, 6, 5, 4, 3, 2, 1}));
}

TEST(memory, generic_addresses_access_every_space) {
  machine m;
  m.load(
      ".shared .align 8 .b8 s[256];\n"
      ".visible .entry k(.param .u64 io) { .local .align 8 .b8 l[16]; .reg .pred p;\n"
      ".reg .b64 g, a, b, t; .reg .b32 i, v, w;\n"
      "mov.u32 i, %tid.x; ld.param.u64 g, [io]; mul.wide.u32 t, i, 4; add.u64 g, g, t;\n"
      "mov.u64 a, s; cvta.shared.u64 a, a; add.u64 a, a, t; mov.u64 b, l; cvta.local.u64 b, b;\n"
      "ld.u32 v, [g]; st.u32 [a], v; st.u32 [b+4], v;\n"
      "setp.lt.u32 p, i, 11; selp.b64 a, a, b, p; selp.b32 w, 0, 4, p; cvt.u64.u32 t, w; add.u64 "
      "a, a, t;\n"
      "ld.u32 w, [a]; add.u32 w, w, 1; st.u32 [g], w; ret; }");
  std::vector<int> values(32);
  for (int i = 0; i < 32; ++i) values[i] = 100 * i;
  memory::address io = m.upload(values);
  auto result = m.run("k", {1}, {32}, io);
  ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
  auto got = m.download<int>(io, 32);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(got[i], 100 * i + 1);
}

TEST(memory, isspacep_and_cvta_agree) {
  machine m;
  m.load(
      ".shared .b32 s; .global .b32 g;\n"
      ".visible .entry k(.param .u64 out) { .local .b32 l; .reg .pred p<4>; .reg .b64 a, o, z; "
      ".reg .b32 r, t;\n"
      "ld.param.u64 o, [out]; mov.u64 a, s; cvta.shared.u64 a, a;\n"
      "isspacep.shared p0, a; isspacep.local p1, a; isspacep.global p2, a; selp.u32 r, 1, 0, p0;\n"
      "selp.u32 t, 2, 0, p1; or.b32 r, r, t; selp.u32 t, 4, 0, p2; or.b32 r, r, t; st.global.u32 "
      "[o], r;\n"
      "mov.u64 a, l; cvta.local.u64 a, a;\n"
      "isspacep.shared p0, a; isspacep.local p1, a; isspacep.global p2, a; selp.u32 r, 1, 0, p0;\n"
      "selp.u32 t, 2, 0, p1; or.b32 r, r, t; selp.u32 t, 4, 0, p2; or.b32 r, r, t; st.global.u32 "
      "[o+4], r;\n"
      "mov.u64 a, g; cvta.global.u64 a, a;\n"
      "isspacep.shared p0, a; isspacep.local p1, a; isspacep.global p2, a; selp.u32 r, 1, 0, p0;\n"
      "selp.u32 t, 2, 0, p1; or.b32 r, r, t; selp.u32 t, 4, 0, p2; or.b32 r, r, t; st.global.u32 "
      "[o+8], r;\n"
      "mov.u64 z, s; cvta.shared.u64 a, z; cvta.to.shared.u64 a, a; sub.u64 a, a, z;\n"
      "st.global.u64 [o+16], a; ret; }");
  memory::address out = m.upload(std::vector<std::uint32_t>(6, 99));
  auto result = m.run("k", {1}, {1}, out);
  ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
  auto got = m.download<std::uint32_t>(out, 6);
  EXPECT_EQ(got, (std::vector<std::uint32_t>{1, 2, 4, 99, 0, 0}));
}

TEST(memory, initializers_hold_values_and_addresses) {
  machine m;
  auto& e = m.load(
      ".global .align 4 .b8 t[16] = {1, 0, 0, 0, 2, 0, 0, 0, 3};\n"
      ".const .f32 c[2] = {0f3F800000, 2.5};\n"
      ".global .u64 p = generic(t)+4; .global .u64 q[2] = {t, c};\n"
      ".visible .entry k(.param .u64 out) { .reg .b64 a, o; .reg .b32 v;\n"
      "ld.param.u64 o, [out]; ld.global.u64 a, [p]; ld.u32 v, [a]; st.global.u32 [o], v;\n"
      "ld.const.b32 v, [c+4]; st.global.b32 [o+4], v;\n"
      "ld.global.u64 a, [q+8]; ld.const.b32 v, [a]; st.global.b32 [o+8], v;\n"
      "ld.global.u32 v, [t+12]; st.global.b32 [o+12], v; ret; }");
  memory::address out = m.allocate(16);
  auto result = m.run("k", {1}, {1}, out);
  ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
  EXPECT_EQ(m.download<std::uint32_t>(out, 4),
            (std::vector<std::uint32_t>{2, 0x40200000, 0x3f800000, 0}));
  EXPECT_EQ(e.find_variable("t")->size, 16u);
  EXPECT_TRUE(e.find_variable("c")->is_constant);
  EXPECT_FALSE(e.find_variable("nothing"));
}

// PTX ISA, "Initializers": a mask of a byte selects this byte of the address.
TEST(memory, initializers_hold_bytes_of_addresses) {
  machine m;
  m.load(
      ".global .u32 t; .global .align 8 .b8 p[8] = {0xFF(t), 0xFF00(t), 0xFF0000(t), "
      "0xFF000000(t), "
      "0xFF00000000(t), 0xFF0000000000(t), 0xFF000000000000(t), 0xFF00000000000000(t)};\n"
      ".visible .entry k(.param .u64 out) { .reg .b64 a, o; ld.param.u64 o, [out];\n"
      "ld.global.u64 a, [p]; st.global.u64 [o], a; mov.u64 a, t; st.global.u64 [o+8], a; ret; }");
  const memory::address out = m.allocate(16);
  const auto result = m.run("k", {1}, {1}, out);
  ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
  const auto values = m.download<std::uint64_t>(out, 2);
  EXPECT_EQ(values[0], values[1]);
  EXPECT_NE(values[1], 0u);
}

// Each thread has its own bytes, whatever their number is.
TEST(memory, local_variables_of_every_size_belong_to_one_thread) {
  for (const std::uint32_t words : {1u, 3u, 4u, 63u, 64u, 67u, 256u, 1021u}) {
    machine m;
    const std::string first = "mov.u64 a, l; mov.u32 n, " + std::to_string(words) + ";\n";
    const auto each = [](const std::string& label, const std::string& body) {
      return label + ": " + body +
             "add.u64 a, a, 4; sub.u32 n, n, 1; setp.ne.u32 p, n, 0; @p bra " + label + ";\n";
    };
    m.load(".visible .entry k(.param .u64 out) { .local .align 4 .b8 l[" +
           std::to_string(4 * words) +
           "]; .reg .b64 o, a; .reg .b32 t, v, w, n; .reg .pred p; ld.param.u64 o, [out];\n"
           "mov.u32 t, %tid.x;\n" +
           first + each("fill", "st.local.u32 [a], t;") + "bar.sync 0; mov.u32 v, 0;\n" + first +
           each("read", "ld.local.u32 w, [a]; xor.b32 w, w, t; or.b32 v, v, w;") +
           "mad.wide.u32 o, t, 4, o; st.global.u32 [o], v; ret; }");
    const memory::address out = m.allocate(4 * 64);
    const auto result = m.run("k", {1}, {64}, out);
    ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
    const auto values = m.download<std::uint32_t>(out, 64);
    for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(values[i], 0u) << words << " " << i;
  }
}

TEST(memory, parameters_of_every_size_arrive) {
  machine m;
  m.load(
      ".visible .entry k(.param .u64 out, .param .u8 a, .param .s16 b, .param .f64 c,\n"
      "  .param .align 16 .b8 d[20]) { .reg .b64 o, v; .reg .b32 r; .reg .f64 f;\n"
      "ld.param.u64 o, [out]; ld.param.u8 r, [a]; st.global.u32 [o], r;\n"
      "ld.param.s16 r, [b]; st.global.u32 [o+4], r; ld.param.f64 f, [c]; st.global.f64 [o+8], f;\n"
      "ld.param.u32 r, [d+16]; st.global.u32 [o+16], r; ret; }");
  struct exact {
    char bytes[20];
  };
  exact d{};
  int last = 77;
  std::memcpy(d.bytes + 16, &last, 4);
  memory::address out = m.allocate(24);
  auto result = m.run("k", {1}, {1}, out, std::uint8_t{200}, std::int16_t{-5}, 2.25, d);
  ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
  EXPECT_EQ(m.view<std::int32_t>(out)[0], 200);
  EXPECT_EQ(m.view<std::int32_t>(out)[1], -5);
  EXPECT_EQ(m.view<double>(out)[1], 2.25);
  EXPECT_EQ(m.view<std::int32_t>(out)[4], 77);
}

TEST(memory, the_address_of_a_parameter_can_be_taken) {
  machine m;
  m.load(
      ".visible .entry k(.param .u64 out, .param .align 4 .b8 d[16]) { .reg .b64 o, a, t; .reg "
      ".b32 i, v;\n"
      "ld.param.u64 o, [out]; mov.u32 i, %tid.x; mul.wide.u32 t, i, 4; add.u64 o, o, t;\n"
      "mov.b64 a, d; cvta.param.u64 a, a; add.u64 a, a, t; ld.u32 v, [a]; st.global.u32 [o], v; "
      "ret; }");
  struct block {
    int value[4];
  };
  memory::address out = m.allocate(16);
  auto result = m.run("k", {1}, {4}, out, block{{5, 6, 7, 8}});
  ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
  EXPECT_EQ(m.download<int>(out, 4), (std::vector{5, 6, 7, 8}));
}

// ---- atomics

template <class T>
struct atomic_case {
  const char* text;  // operation and type
  T start;
  std::vector<T> operands;  // one per thread
  T end;
};

template <class T>
void check_atomics(const std::vector<atomic_case<T>>& cases) {
  std::string bits = std::to_string(8 * sizeof(T));
  for (const auto& c : cases) {
    for (bool is_shared : {false, true}) {
      machine m;
      std::string space = is_shared ? "shared" : "global";
      m.load(".shared .align 8 .b" + bits +
             " s;\n"
             ".visible .entry k(.param .u64 cell, .param .u64 in, .param .u64 old) {\n"
             ".reg .b64 a, p, q, o; .reg .b32 i; .reg .b" +
             bits +
             " v, r;\n"
             "mov.u32 i, %tid.x; mul.wide.u32 o, i, " +
             std::to_string(sizeof(T)) +
             ";\n"
             "ld.param.u64 a, [cell]; ld.param.u64 p, [in]; add.u64 p, p, o; ld.param.u64 q, "
             "[old]; add.u64 q, q, o;\n" +
             (is_shared ? "ld.global.b" + bits + " v, [a]; mov.u64 a, s; st.shared.b" + bits +
                              " [a], v;\n"
                        : "") +
             "ld.global.b" + bits + " v, [p]; atom." + space + "." + c.text +
             " r, [a], v;\n"
             "st.global.b" +
             bits + " [q], r; ld." + space + ".b" + bits +
             " v, [a];\n"
             "ld.param.u64 p, [cell]; st.global.b" +
             bits + " [p], v; ret; }");
      memory::address cell = m.upload<T>({c.start}), in = m.upload(c.operands);
      memory::address old = m.allocate(c.operands.size() * sizeof(T));
      auto result = m.run("k", {1}, {static_cast<std::uint32_t>(c.operands.size())}, cell, in, old);
      ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
      EXPECT_EQ(*m.view<T>(cell), c.end) << space << " " << c.text;
      EXPECT_EQ(*m.view<T>(old), c.start) << space << " " << c.text;
    }
  }
}

TEST(memory, atomics_of_32_bits_return_the_old_value_and_store_the_new) {
  check_atomics<std::uint32_t>({{"add.u32", 5, {1, 2, 3}, 11},
                                {"add.s32", 5, {~0u, 2, 3}, 9},
                                {"and.b32", 0xff, {0x3f, 0xf3}, 0x33},
                                {"or.b32", 1, {2, 4}, 7},
                                {"xor.b32", 1, {3, 4}, 6},
                                {"exch.b32", 1, {3, 4}, 4},
                                {"min.u32", 9, {~0u, 4, 6}, 4},
                                {"max.u32", 9, {~0u, 4, 6}, ~0u},
                                {"inc.u32", 1, {2, 2, 2}, 1},
                                {"dec.u32", 1, {7, 7, 7}, 6}});
  check_atomics<std::int32_t>({{"min.s32", 9, {-1, 4}, -1}, {"max.s32", -9, {-1, -4}, -1}});
  check_atomics<float>({{"add.f32", 1.5f, {1, 2.25f, -8}, -3.25f}});
}

TEST(memory, atomics_of_64_bits_return_the_old_value_and_store_the_new) {
  check_atomics<std::uint64_t>({{"add.u64", ~0ull, {1, 2}, 2},
                                {"and.b64", 0xff00'0000'0000, {0x3f00'0000'0000}, 0x3f00'0000'0000},
                                {"or.b64", 1, {1ull << 40}, 1 | 1ull << 40},
                                {"xor.b64", 1, {1ull << 40, 1}, 1ull << 40},
                                {"exch.b64", 1, {1ull << 40}, 1ull << 40},
                                {"min.u64", 9, {~0ull, 4}, 4},
                                {"max.u64", 9, {~0ull, 4}, ~0ull}});
  check_atomics<std::int64_t>({{"min.s64", 9, {-1, 4}, -1}, {"max.s64", -9, {-1, -4}, -1}});
  check_atomics<double>({{"add.f64", 1.5, {1, 2.25, -8}, -3.25}});
}

TEST(memory, compare_and_swap_changes_only_equal_values) {
  for (const char* type : {"b16", "b32", "b64"}) {
    machine m;
    std::string t = type;
    m.load(".visible .entry k(.param .u64 cell, .param .u64 out) { .reg .b64 a, o; .reg ." + t +
           " r, x, y, z;\n"
           "ld.param.u64 a, [cell]; ld.param.u64 o, [out]; mov." +
           t + " x, 5; mov." + t + " y, 9; mov." + t +
           " z, 3;\n"
           "atom.global.cas." +
           t + " r, [a], x, y; st.global." + t +
           " [o], r;\n"
           "atom.global.cas." +
           t + " r, [a], x, z; st.global." + t + " [o+8], r; ret; }");
    memory::address cell = m.upload<std::uint64_t>({5}), out = m.upload<std::uint64_t>({0, 0});
    ASSERT_FALSE(m.run("k", {1}, {1}, cell, out).fault);
    EXPECT_EQ(*m.view<std::uint64_t>(cell), 9u) << type;
    EXPECT_EQ(m.download<std::uint64_t>(out, 2), (std::vector<std::uint64_t>{5, 9})) << type;
  }
}

TEST(memory, packed_halves_are_added_part_by_part) {
  machine m;
  m.load(
      ".visible .entry k(.param .u64 cell) { .reg .b64 a; .reg .b32 v, r; .reg .b16 h, g;\n"
      "ld.param.u64 a, [cell]; mov.b32 v, 0x40003c00; atom.global.add.noftz.f16x2 r, [a], v;\n"
      "red.global.add.noftz.bf16x2 [a+4], 0x40003f80;\n"
      "mov.b16 h, 0x3c00; red.global.add.noftz.f16 [a+8], h; ret; }");
  memory::address cell = m.upload<std::uint32_t>({0x3c003c00, 0x3f803f80, 0x3c00});
  auto result = m.run("k", {1}, {1}, cell);
  ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
  EXPECT_EQ(m.download<std::uint32_t>(cell, 3),
            (std::vector<std::uint32_t>{0x42004000, 0x40404000, 0x4000}));
}

TEST(memory, atomic_sums_flush_in_global_memory_and_not_in_shared) {
  machine m;
  m.load(
      ".shared .b32 s;\n"
      ".visible .entry k(.param .u64 cell) { .reg .b64 a; .reg .b32 v, r;\n"
      "ld.param.u64 a, [cell]; mov.b32 v, 1; st.shared.b32 [s], v;\n"
      "red.shared.add.f32 [s], 0f00000002; ld.shared.b32 r, [s]; st.global.b32 [a+4], r;\n"
      "red.global.add.f32 [a], 0f00000002; ret; }");
  memory::address cell = m.upload<std::uint32_t>({1, 0});
  ASSERT_FALSE(m.run("k", {1}, {1}, cell).fault);
  EXPECT_EQ(m.download<std::uint32_t>(cell, 2), (std::vector<std::uint32_t>{0, 3}));
}

TEST(memory, acquiring_loads_and_releasing_stores_have_a_fence_beside_them) {
  machine m;
  const exec::kernel* k = m.load(
                               ".visible .entry k() { .reg .b64 a; .reg .b32 r;\n"
                               "st.release.gpu.global.u32 [a], r; ld.acquire.sys.u32 r, [a];\n"
                               "st.relaxed.gpu.u32 [a], r; ld.volatile.u32 r, [a]; ret; }")
                              .find_kernel("k");
  const exec::function_code& code = code_of(k->owner(), k->function()).functions[0];
  std::vector<bool> is_fence;
  for (const exec::instruction& instr : code.code) {
    is_fence.push_back(instr.run == exec::find_handler("fence"));
  }
  EXPECT_EQ(is_fence, (std::vector{true, false, false, true, false, false, false, false}));
}

TEST(memory, atomics_of_several_host_threads_lose_nothing) {
  machine m;
  m.options.threads = 2;
  m.load(
      ".visible .entry k(.param .u64 cell) { .reg .b64 a; ld.param.u64 a, [cell];\n"
      "red.global.add.u32 [a], 1; red.global.add.f64 [a+8], 0d3FF0000000000000; ret; }");
  memory::address cell = m.upload<std::uint64_t>({0, 0});
  ASSERT_FALSE(m.run("k", {500}, {96}, cell).fault);
  EXPECT_EQ(*m.view<std::uint32_t>(cell), 48000u);
  EXPECT_EQ(m.view<double>(cell)[1], 48000.0);
}

// Absolute addresses, and the bits of a float as a double.
TEST(memory, operands_may_have_no_register) {
  machine m;
  m.load(
      ".visible .entry k(.param .u64 out) { .reg .b64 a; .reg .b32 r, q; .reg .f64 d;\n"
      ".shared .align 16 .b8 s[32]; ld.param.u64 a, [out]; mov.u32 q, s; st.shared.u32 [q+8], 77;\n"
      "ld.shared.u32 r, [8]; st.global.u32 [a], r; mov.f64 d, 0d3FF0000000000000;\n"
      "add.f64 d, d, 0f3FC00000; st.global.f64 [a+8], d; ret; }");
  const memory::address out = m.allocate(16);
  ASSERT_FALSE(m.run("k", {1, 1, 1}, {1, 1, 1}, out).fault);
  EXPECT_EQ(*m.view<std::uint32_t>(out), 77u);
  EXPECT_EQ(*m.view<double>(out + 8), 2.5);
}

// The windows of shared and local memory are adjacent, and so are the parts of blocks in a cluster.
TEST(memory, isspacep_knows_the_windows) {
  machine m;
  m.load(
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 out, .param .u64 at) { .reg .b64 o, a; .reg .b32 r; .reg "
      ".pred "
      "p; ld.param.u64 o, [out]; ld.param.u64 a, [at];\n"
      "isspacep.global p, a; selp.u32 r, 1, 0, p; st.global.u32 [o], r;\n"
      "isspacep.shared p, a; selp.u32 r, 1, 0, p; st.global.u32 [o+4], r;\n"
      "isspacep.shared::cta p, a; selp.u32 r, 1, 0, p; st.global.u32 [o+8], r;\n"
      "isspacep.shared::cluster p, a; selp.u32 r, 1, 0, p; st.global.u32 [o+12], r;\n"
      "isspacep.local p, a; selp.u32 r, 1, 0, p; st.global.u32 [o+16], r; ret; }");
  const memory::address out = m.allocate(20);
  const auto answers = [&](std::uint64_t at) {
    EXPECT_FALSE(m.run("k", {1}, {1}, out, at).fault);
    return m.download<std::uint32_t>(out, 5);
  };
  using list = std::vector<std::uint32_t>;
  const std::uint64_t shared = m.space.shared_window(), local = m.space.local_window();
  const list of_global{1, 0, 0, 0, 0}, of_block{0, 1, 1, 1, 0}, of_cluster{0, 0, 0, 1, 0},
      of_local{0, 0, 0, 0, 1};
  EXPECT_EQ(answers(out), of_global);
  EXPECT_EQ(answers(shared - 1), of_global);
  EXPECT_EQ(answers(shared), of_block);
  EXPECT_EQ(answers(shared + exec::block_window_bytes - 1), of_block);
  EXPECT_EQ(answers(shared + exec::block_window_bytes), of_cluster);
  EXPECT_EQ(answers(shared + memory::window_bytes - 1), of_cluster);
  EXPECT_EQ(answers(local), of_local);
  EXPECT_EQ(answers(local + memory::window_bytes - 1), of_local);
  EXPECT_EQ(answers(std::max(shared, local) + memory::window_bytes), of_global);
}

}  // namespace
}  // namespace halfwarp::tests
