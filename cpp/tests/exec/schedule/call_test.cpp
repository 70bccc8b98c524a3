// SPDX-License-Identifier: Apache-2.0
// Functions: parameters, results, recursion, and local memory per activation.
#include <gtest/gtest.h>

#include "../machine.hpp"
#include "emulator/exec/decode/kernel_decoder.hpp"

namespace halfwarp::tests {
namespace {

TEST(call, each_lane_recurses_to_its_own_depth) {
  machine m;
  m.load(
      ".func (.param .b32 r) fib(.param .b32 n) { .reg .b32 x, a, b; .reg .pred p;\n"
      "ld.param.b32 x, [n]; setp.lt.u32 p, x, 2; @p bra out;\n"
      "{ .param .b32 in; .param .b32 back; sub.u32 a, x, 1; st.param.b32 [in], a; call (back), "
      "fib, (in); ld.param.b32 a, [back]; }\n"
      "{ .param .b32 in; .param .b32 back; sub.u32 b, x, 2; st.param.b32 [in], b; call (back), "
      "fib, (in); ld.param.b32 b, [back]; }\n"
      "add.u32 x, a, b; out: st.param.b32 [r], x; ret; }\n"
      ".visible .entry k(.param .u64 io) { .reg .b64 p, o; .reg .b32 i, v; .param .b32 in; .param "
      ".b32 back;\n"
      "mov.u32 i, %tid.x; ld.param.u64 p, [io]; mul.wide.u32 o, i, 4; add.u64 p, p, o; rem.u32 i, "
      "i, 17;\n"
      "st.param.b32 [in], i; call.uni (back), fib, (in); ld.param.b32 v, [back]; st.global.u32 "
      "[p], v; ret; }");
  memory::address io = m.allocate(400);
  auto result = m.run("k", {1}, {100}, io);
  ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
  std::uint32_t fib[17] = {0, 1};
  for (int i = 2; i < 17; ++i) fib[i] = fib[i - 1] + fib[i - 2];
  for (int i = 0; i < 100; ++i) EXPECT_EQ(m.view<std::uint32_t>(io)[i], fib[i % 17]);
}

TEST(call, aggregates_and_several_parameters_pass_through_memory) {
  machine m;
  m.load(
      ".func (.param .align 16 .b8 r[16]) swap(.param .align 16 .b8 v[16], .param .b32 k) { .reg "
      ".b64 a, b, w; .reg .b32 n;\n"
      "ld.param.b64 a, [v]; ld.param.b64 b, [v+8]; ld.param.b32 n, [k]; cvt.u64.u32 w, n; add.u64 "
      "a, a, w;\n"
      "st.param.v2.b64 [r], {b, a}; ret; }\n"
      ".visible .entry k(.param .u64 io) { .reg .b64 p, o, x, y; .reg .b32 i; .param .align 16 .b8 "
      "in[16]; .param .b32 add; .param .align 16 .b8 back[16];\n"
      "mov.u32 i, %tid.x; ld.param.u64 p, [io]; mul.wide.u32 o, i, 16; add.u64 p, p, o; "
      "ld.global.v2.u64 {x, y}, [p];\n"
      "st.param.b64 [in], x; st.param.b64 [in+8], y; st.param.b32 [add], i;\n"
      "call (back), swap, (in, add); ld.param.v2.b64 {x, y}, [back]; st.global.v2.u64 [p], {x, y}; "
      "ret; }");
  std::vector<std::uint64_t> values(80);
  for (std::size_t i = 0; i < 80; ++i) values[i] = i * 1000;
  memory::address io = m.upload(values);
  auto result = m.run("k", {1}, {40}, io);
  ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
  for (std::uint64_t i = 0; i < 40; ++i) {
    EXPECT_EQ(m.view<std::uint64_t>(io)[2 * i], (2 * i + 1) * 1000);
    EXPECT_EQ(m.view<std::uint64_t>(io)[2 * i + 1], 2 * i * 1000 + i);
  }
}

TEST(call, a_callee_uses_its_own_and_its_callers_local_memory) {
  machine m;
  m.load(
      ".func add(.param .b64 to, .param .b32 v) { .local .align 4 .b8 mine[64]; .reg .b64 a, b; "
      ".reg .b32 x, y;\n"
      "ld.param.b64 a, [to]; ld.param.b32 x, [v]; mov.u64 b, mine; st.local.u32 [b+60], x; "
      "cvta.local.u64 b, b;\n"
      "ld.u32 x, [b+60]; ld.u32 y, [a]; add.u32 y, y, x; st.u32 [a], y; ret; }\n"
      ".visible .entry k(.param .u64 io) { .local .align 4 .b8 sum[8]; .reg .b64 p, o, l; .reg "
      ".b32 i, v; .param .b64 at; .param .b32 n;\n"
      "mov.u32 i, %tid.x; ld.param.u64 p, [io]; mul.wide.u32 o, i, 4; add.u64 p, p, o;\n"
      "mov.u64 l, sum; st.local.u32 [l+4], i; cvta.local.u64 l, l; add.u64 l, l, 4;\n"
      "st.param.b64 [at], l; st.param.b32 [n], 1000; call add, (at, n); st.param.b32 [n], i; call "
      "add, (at, n);\n"
      "ld.u32 v, [l]; st.global.u32 [p], v; ret; }");
  memory::address io = m.allocate(128);
  auto result = m.run("k", {1}, {32}, io);
  ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(m.view<std::uint32_t>(io)[i], 1000 + 2 * i);
}

TEST(call, lanes_call_different_functions_under_a_guard) {
  machine m;
  m.load(
      ".func (.param .b32 r) one(.param .b32 n) { .reg .b32 x; ld.param.b32 x, [n]; add.u32 x, x, "
      "1; st.param.b32 [r], x; ret; }\n"
      ".func (.param .b32 r) two(.param .b32 n) { .reg .b32 x; .reg .pred p; ld.param.b32 x, [n]; "
      "setp.gt.u32 p, x, 20; @p bra big;\n"
      "st.param.b32 [r], 7; ret; big: st.param.b32 [r], 9; ret; }\n"
      ".visible .entry k(.param .u64 io) { .reg .b64 p, o; .reg .b32 i, v; .reg .pred q; .param "
      ".b32 in; .param .b32 back;\n"
      "mov.u32 i, %tid.x; ld.param.u64 p, [io]; mul.wide.u32 o, i, 4; add.u64 p, p, o; and.b32 v, "
      "i, 1; setp.eq.u32 q, v, 0;\n"
      "st.param.b32 [in], i; @q call (back), one, (in); @!q call (back), two, (in); ld.param.b32 "
      "v, [back]; st.global.u32 [p], v; ret; }");
  memory::address io = m.allocate(128);
  auto result = m.run("k", {1}, {32}, io);
  ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(m.view<std::uint32_t>(io)[i], i % 2 == 0 ? i + 1 : i > 20 ? 9 : 7);
  }
}

const std::string table_of_functions =
    ".func (.param .b32 r) one(.param .b32 n) { .reg .b32 x; ld.param.b32 x, [n]; add.u32 x, x, 1; "
    "st.param.b32 [r], x; ret; }\n"
    ".func (.param .b32 r) two(.param .b32 n) { .reg .b32 x; ld.param.b32 x, [n]; mul.lo.u32 x, x, "
    "2; st.param.b32 [r], x; ret; }\n"
    ".func other(.param .b64 n) { ret; }\n"
    ".global .align 8 .u64 table[4] = {one, two, 0, other};\n"
    ".visible .entry k(.param .u64 io, .param .u32 which) { .reg .b64 p, o, f; .reg .b32 i, v, w; "
    ".param .b32 in; .param .b32 back;\n"
    "mov.u32 i, %tid.x; ld.param.u64 p, [io]; mul.wide.u32 o, i, 4; add.u64 p, p, o; and.b32 v, i, "
    "1; ld.param.u32 w, [which]; add.u32 v, v, w;\n"
    "mul.wide.u32 o, v, 8; mov.u64 f, table; add.u64 f, f, o; ld.global.u64 f, [f]; st.param.b32 "
    "[in], i;\n"
    "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
    "call (back), f, (in), proto; ld.param.b32 v, [back]; st.global.u32 [p], v; ret; }";

TEST(call, lanes_call_through_their_own_pointers) {
  machine m;
  m.load(table_of_functions);
  memory::address io = m.allocate(128);
  auto result = m.run("k", {1}, {32}, io, 0u);
  ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(m.view<std::uint32_t>(io)[i], i % 2 ? 2 * i : i + 1);
  }
}

TEST(call, a_pointer_that_is_no_function_of_this_form_is_a_bad_target) {
  machine m;
  m.load(table_of_functions);
  memory::address io = m.allocate(128);
  auto result = m.run("k", {1}, {32}, io, 1u);
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, report::fault_kind::bad_call_target);
  EXPECT_EQ(report::code(result.fault->kind), CUDA_ERROR_INVALID_PC);
  EXPECT_EQ(result.fault->thread[0], 1u);
  EXPECT_EQ(result.fault->other_threads, 15u);
  EXPECT_EQ(result.fault->detail, "0x0 is no function");
  result = m.run("k", {1}, {1}, io, 3u);
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->other_threads, 0u);
  EXPECT_NE(result.fault->detail.find("other parameters"), std::string::npos);
}

TEST(call, a_thread_may_exit_inside_a_function) {
  machine m;
  m.load(
      ".func leave(.param .b32 n) { .reg .b32 x; .reg .pred p; ld.param.b32 x, [n]; setp.gt.u32 p, "
      "x, 9; @p exit; ret; }\n"
      ".visible .entry k(.param .u64 io) { .reg .b64 p, o; .reg .b32 i; .param .b32 in;\n"
      "mov.u32 i, %tid.x; ld.param.u64 p, [io]; mul.wide.u32 o, i, 4; add.u64 p, p, o;\n"
      "st.param.b32 [in], i; call leave, (in); st.global.u32 [p], 5; ret; }");
  memory::address io = m.upload(std::vector<std::uint32_t>(64, 1));
  auto result = m.run("k", {1}, {64}, io);
  ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(m.view<std::uint32_t>(io)[i], i < 10 ? 5u : 1u);
}

// A function that ends without `ret` returns, and that return belongs to its last instruction.
TEST(call, the_end_of_a_function_returns) {
  machine m;
  const exec::kernel& kernel =
      *m.load(
            ".func empty() { }\n.func f(.param .u64 a) { .reg .b64 p; .reg .b32 t;\n"
            "ld.param.u64 p, [a]; mov.u32 t, 6; st.global.u32 [p], t; }\n"
            ".visible .entry k(.param .u64 io) { .reg .b64 p; .param .b64 a; call empty;\n"
            "ld.param.u64 p, [io]; st.param.b64 [a], p; call f, (a); }")
           .find_kernel("k");
  const memory::address io = m.upload<std::uint32_t>({0});
  ASSERT_FALSE(m.run("k", {1}, {32}, io).fault);
  EXPECT_EQ(*m.view<std::uint32_t>(io), 6u);
  std::map<std::string_view, std::uint32_t> places;
  for (const auto& f : code_of(kernel.owner(), kernel.function()).functions) {
    EXPECT_EQ(f.code.back().kind, exec::flow::ret);
    places[f.source->name] = f.code.back().source;
  }
  EXPECT_EQ(places, (std::map<std::string_view, std::uint32_t>{{"empty", 0}, {"f", 2}, {"k", 3}}));
}

TEST(call, parameters_in_registers_have_8_to_64_bits) {
  machine m;
  const auto refusal = [&](const std::string& type) {
    m.load(".func g(.reg " + type + " y) { ret; }\n.visible .entry k() { .reg " + type +
           " x; call g, (x); ret; }");
    const auto result = m.run("k", {1}, {1});
    return result.fault ? result.fault->detail : "";
  };
  EXPECT_EQ(refusal(".b16"), "");
  EXPECT_EQ(refusal(".b64"), "");
  EXPECT_EQ(refusal(".b128"), "a parameter in a register of 128 bits");
}

TEST(call, a_barrier_inside_a_function_applies_to_the_block) {
  machine m;
  m.load(
      ".func sync() { bar.sync 0; ret; }\n.shared .align 4 .b8 s[512];\n"
      ".visible .entry k(.param .u64 io) { .reg .b64 p, o, S; .reg .b32 i, v;\n"
      "mov.u32 i, %tid.x; ld.param.u64 p, [io]; mul.wide.u32 o, i, 4; add.u64 p, p, o; mov.u64 S, "
      "s; add.u64 S, S, o;\n"
      "st.shared.u32 [S], i; call sync, (); xor.b32 i, i, 96; mul.wide.u32 o, i, 4; mov.u64 S, s; "
      "add.u64 S, S, o;\n"
      "ld.shared.u32 v, [S]; st.global.u32 [p], v; ret; }");
  memory::address io = m.allocate(512);
  auto result = m.run("k", {1}, {128}, io);
  ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
  for (std::uint32_t i = 0; i < 128; ++i) EXPECT_EQ(m.view<std::uint32_t>(io)[i], i ^ 96);
}

}  // namespace
}  // namespace halfwarp::tests
