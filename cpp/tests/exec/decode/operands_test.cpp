// SPDX-License-Identifier: Apache-2.0
// Operands of calls and accesses in each kind of place.
#include <cuda.h>
#include <gtest/gtest.h>

#include "../machine.hpp"

namespace halfwarp::tests {
namespace {

// A kernel that leaves an address for each lane in a.
std::string kernel(const std::string& before, const std::string& body) {
  return before +
         "\n.visible .entry k(.param .u64 out) { .reg .b64 a, d<9>; .reg .b32 t, r<9>;"
         ".reg .b128 q<3>; .shared .align 16 .b8 s[128];\n"
         "ld.param.u64 a, [out]; mov.u32 t, %tid.x; mul.wide.u32 d0, t, 16; add.u64 a, a, d0;\n" +
         body + " ret; }";
}

// Runs a warp, and returns four words of each lane.
std::vector<std::uint32_t> run(const std::string& text) {
  machine m;
  m.load(text);
  const memory::address out = m.allocate(512);
  const auto result = m.run("k", {1}, {32}, out);
  EXPECT_FALSE(result.fault) << report::full_text(*result.fault);
  return m.download<std::uint32_t>(out, 128);
}

std::string fault_of(const std::string& text) {
  machine m;
  m.load(text);
  const auto result = m.run("k", {1}, {32}, m.allocate(512));
  return result.fault ? result.fault->detail : "";
}

TEST(operands, functions_of_the_device_take_registers) {
  const auto words = run(kernel(".extern .func (.reg .b32 e) cudaRuntimeGetVersion(.reg .b64 p);",
                                "mov.u32 r0, 7; call (r0), cudaRuntimeGetVersion, (a);"
                                "add.u64 a, a, 4; st.global.u32 [a], r0;"));
  for (std::size_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(words[4 * lane], std::uint32_t{CUDA_VERSION});
    EXPECT_EQ(words[4 * lane + 1], 0u);
  }
}

TEST(operands, functions_of_the_device_have_their_own_parameters) {
  const auto reason = [](const std::string& result, const std::string& parameter,
                         const std::string& call) {
    return fault_of(kernel(".extern .func " + result + " cudaRuntimeGetVersion(" + parameter + ");",
                           "call " + call + ";"));
  };
  const std::string other = "'cudaRuntimeGetVersion' declared with other parameters";
  EXPECT_EQ(reason("(.reg .b32 e)", ".reg .b64 p", "(r0), cudaRuntimeGetVersion, (a)"), "");
  EXPECT_EQ(reason("(.reg .b32 e)", ".reg .b32 p", "(r0), cudaRuntimeGetVersion, (t)"), other);
  EXPECT_EQ(reason("(.reg .b64 e)", ".reg .b64 p", "(d1), cudaRuntimeGetVersion, (a)"), other);
  EXPECT_EQ(reason("", ".reg .b64 p", "cudaRuntimeGetVersion, (a)"), other);
  EXPECT_EQ(reason("(.reg .b32 e)", "", "(r0), cudaRuntimeGetVersion, ()"), other);
  std::string seven = ".reg .b64 p0", arguments = "a";
  for (int n = 1; n < 7; ++n) {
    seven += ", .reg .b64 p" + std::to_string(n);
    arguments += ", a";
  }
  EXPECT_EQ(reason("(.reg .b32 e)", seven, "(r0), cudaRuntimeGetVersion, (" + arguments + ")"),
            other);
}

TEST(operands, atomics_on_shared_memory_take_addresses_of_32_bits) {
  const auto words =
      run(kernel("",
                 "mov.u32 r0, s; shl.b32 r1, t, 2; add.u32 r0, r0, r1; st.shared.u32 [r0], t;"
                 "atom.shared.add.u32 r2, [r0], 5; ld.shared.u32 r3, [r0];"
                 "atom.shared::cta.exch.b32 r4, [r0], 9; ld.shared.u32 r5, [r0];"
                 "st.global.v4.u32 [a], {r2, r3, r4, r5};"));
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(words[4 * lane], lane);
    EXPECT_EQ(words[4 * lane + 1], lane + 5);
    EXPECT_EQ(words[4 * lane + 2], lane + 5);
    EXPECT_EQ(words[4 * lane + 3], 9u);
  }
}

TEST(operands, registers_of_128_bits_have_two_halves) {
  const auto words = run(kernel(
      "",
      "cvt.u64.u32 d1, t; add.u64 d2, d1, 4294967296000; mov.b128 q0, {d1, d2};"
      "mov.b128 q1, {d2, d1}; mov.b128 {d3, d4}, q0; mov.b128 {d5, d6}, q1; sub.u64 d3, d6, d3;"
      "add.u64 d4, d4, d5; st.global.v2.u64 [a], {d3, d4}; st.global.b128 [a], q1;"
      "ld.global.v2.u64 {d7, d8}, [a]; add.u64 d8, d8, d3; st.global.v2.u64 [a], {d7, d4};"));
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(words[4 * lane], lane);
    EXPECT_EQ(words[4 * lane + 1], 1000u);
    EXPECT_EQ(words[4 * lane + 2], 2 * lane);
    EXPECT_EQ(words[4 * lane + 3], 2000u);
  }
}

TEST(operands, literals_have_the_type_of_the_instruction) {
  const auto words =
      run(kernel("",
                 ".reg .f32 x; .reg .f64 y; .reg .b16 h; add.f32 x, 0d3FF8000000000000, 0f3F800000;"
                 "add.f64 y, 0f3FC00000, 0d3FF0000000000000; mov.b32 r0, x; mov.b64 d1, y;"
                 "st.global.u32 [a], r0; st.global.u64 [a+8], d1; mov.u16 h, 0x12345;"
                 "cvt.u32.u16 r1, h; st.global.u32 [a+4], r1;"));
  EXPECT_EQ(words[0], 0x4020'0000u);  // 2.5
  EXPECT_EQ(words[1], 0x2345u);
  EXPECT_EQ(words[2], 0u);
  EXPECT_EQ(words[3], 0x4004'0000u);
}

}  // namespace
}  // namespace halfwarp::tests
