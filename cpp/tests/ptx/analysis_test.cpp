// SPDX-License-Identifier: Apache-2.0
// Blocks, register use, calls and register demand.
#include "emulator/ptx/analysis.hpp"

#include <gtest/gtest.h>

#include "sample.hpp"

namespace {

using namespace halfwarp::emulator::ptx;
using halfwarp::tests::kernel_with;
using halfwarp::tests::parsed;
using halfwarp::tests::parsed_body;

using indices = std::vector<std::uint32_t>;

TEST(Blocks, BeginAtNamedLabelsAndAfterBranches) {
  const auto m = parsed_body(
      "mov.u32 %r1, 0;\n"  // 0
      "unused: add.s32 %r1, %r1, 1;\n"
      "loop: setp.lt.s32 %p1, %r1, 9;\n"  // 2
      "@%p1 bra loop;\n"
      "@%p1 ret;\n"     // 4
      "bra.uni end;\n"  // 5
      "trap;\n"         // 6
      "end: ret;");     // 7
  const control_flow flow = find_blocks(m->functions[0]);
  indices firsts;
  for (const basic_block& b : flow.blocks) firsts.push_back(b.first);
  EXPECT_EQ(firsts, (indices{0, 2, 4, 5, 6, 7}));
  EXPECT_EQ(flow.blocks[0].successors, (indices{1}));
  EXPECT_EQ(flow.blocks[1].successors, (indices{1, 2}));
  EXPECT_EQ(flow.blocks[2].successors, (indices{3}));
  EXPECT_EQ(flow.blocks[3].successors, (indices{5}));
  EXPECT_TRUE(flow.blocks[4].successors.empty());
  EXPECT_TRUE(flow.blocks[5].successors.empty());
  EXPECT_EQ(flow.block_of, (indices{0, 0, 1, 1, 2, 3, 4, 5}));
  EXPECT_TRUE(flow.is_leader(2));
  EXPECT_FALSE(flow.is_leader(1));
}

TEST(Blocks, FollowBranchTables) {
  const auto m = parsed_body("t: .branchtargets a, b, a; brx.idx %r1, t; a: ret; b: ret;");
  EXPECT_EQ(find_blocks(m->functions[0]).blocks[0].successors, (indices{1, 2}));
}

TEST(Blocks, MayBranchToTheEndOrBeMissing) {
  const auto m = parsed_body("bra end; end:");
  EXPECT_TRUE(find_blocks(m->functions[0]).blocks[0].successors.empty());
  EXPECT_TRUE(find_blocks(parsed(".entry k { }")->functions[0]).blocks.empty());
}

struct names {
  std::vector<std::string> reads, writes;
};

names access_of(const std::string& text) {
  const auto m = parsed(".func f; .global .texref t;\n" + kernel_with(text));
  const function& f = m->functions.back();
  register_access access;
  find_register_access(*m, f, f.instructions.back(), access);
  names result;
  for (const auto r : access.reads) result.reads.emplace_back(f.registers[r].name);
  for (const auto r : access.writes) result.writes.emplace_back(f.registers[r].name);
  return result;
}

using strings = std::vector<std::string>;

TEST(RegisterAccess, DistinguishesResultsFromSources) {
  EXPECT_EQ(access_of("@%p1 add.s32 %r1, %r2, 3;").reads, (strings{"%p1", "%r2"}));
  EXPECT_EQ(access_of("@%p1 add.s32 %r1, %r2, 3;").writes, (strings{"%r1"}));
  EXPECT_EQ(access_of("ld.global.v2.u32 {%r1, %r2}, [%rd1+4];").writes, (strings{"%r1", "%r2"}));
  EXPECT_EQ(access_of("ld.global.v2.u32 {%r1, %r2}, [%rd1+4];").reads, (strings{"%rd1"}));
  EXPECT_EQ(access_of("setp.lt.s32 %p1|%p2, %r1, %r2;").writes, (strings{"%p1", "%p2"}));
  EXPECT_EQ(access_of("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f5, %f6}];").reads,
            (strings{"%f5", "%f6"}));
}

TEST(RegisterAccess, KnowsInstructionsWithoutResult) {
  EXPECT_EQ(access_of("st.global.u32 [%rd1], %r1;").reads, (strings{"%rd1", "%r1"}));
  EXPECT_TRUE(access_of("st.global.u32 [%rd1], %r1;").writes.empty());
  EXPECT_TRUE(access_of("bar.sync %r1, %r2;").writes.empty());
  EXPECT_EQ(access_of("bar.red.popc.u32 %r1, 0, %p1;").writes, (strings{"%r1"}));
  EXPECT_EQ(access_of("atom.global.add.u32 %r1, [%rd1], %r2;").writes, (strings{"%r1"}));
  EXPECT_TRUE(access_of("red.global.add.u32 [%rd1], %r2;").writes.empty());
  EXPECT_EQ(access_of("call (%r1), f, (%r2);").writes, (strings{"%r1"}));
  EXPECT_EQ(access_of("call (%r1), %rd1, (%r2);").reads, (strings{"%rd1", "%r2"}));
  EXPECT_TRUE(access_of("nanosleep.u32 %r1;").writes.empty());
  EXPECT_EQ(access_of("mbarrier.arrive.shared.b64 %rd1, [%r1];").writes, (strings{"%rd1"}));
  EXPECT_TRUE(access_of("mbarrier.init.shared.b64 [%r1], %r2;").writes.empty());
}

TEST(CalledFunctions, AreListedOnce) {
  const auto m = parsed(".func f { ret; }\n.func g { ret; }\n.func h { ret; }\n" +
                        kernel_with("call g; call f; call g; c: .calltargets h; mov.u64 %rd1, g;"));
  EXPECT_EQ(called_functions(m->functions[3]), (indices{0, 1, 2}));
}

// Loads n values of a type and then adds them, so that all are live at once.
std::string sum_of(int n, const std::string& type, const std::string& prefix) {
  std::string loads, adds;
  for (int i = 1; i <= n; ++i) {
    const std::string r = prefix + std::to_string(i);
    loads += "ld.global." + type + " " + r + ", [" + std::to_string(16 * i) + "];\n";
    adds += "add." + type + " " + prefix + "0, " + prefix + "0, " + r + ";\n";
  }
  return "mov." + type + " " + prefix + "0, 0;\n" + loads + adds + "st.global." + type + " [0], " +
         prefix + "0;\nret;";
}

TEST(RegisterEstimate, HasAFloorAndSteps) {
  EXPECT_EQ(estimate_registers(*parsed_body("ret;")), (indices{16}));
  EXPECT_EQ(estimate_registers(*parsed_body(sum_of(20, "u32", "%r"))), (indices{24}));
  EXPECT_EQ(estimate_registers(*parsed_body(sum_of(20, "u64", "%rd"))), (indices{48}));
}

TEST(RegisterEstimate, CountsNoUnusedRegister) {
  for (const auto& [live, expected] : {std::pair{15, 16u}, {16, 24u}, {23, 24u}, {24, 32u}}) {
    const std::string body = "mov.u64 %unused, 1;\n" + sum_of(live, "u32", "%r");
    EXPECT_EQ(estimate_registers(
                  *parsed(".entry k { .reg .b64 %unused; .reg .b32 %r<40>;\n" + body + "}\n")),
              (indices{expected}))
        << live;
  }
}

TEST(RegisterEstimate, CountsRegistersThatAreLiveAroundALoop) {
  std::string loads, uses;
  for (int i = 1; i < 25; ++i) {
    const std::string r = "%r" + std::to_string(i);
    loads += "ld.global.u32 " + r + ", [%rd1+" + std::to_string(4 * i) + "];\n";
    uses += "add.s32 %r0, %r0, " + r + ";\n";
  }
  const std::string loop = "L: setp.lt.s32 %p1, %r0, 100;\n" + uses + "@%p1 bra L;\n";
  EXPECT_EQ(estimate_registers(*parsed_body(loads + loop + "st.global.u32 [%rd1], %r0;")),
            (indices{32}));
}

TEST(RegisterEstimate, IncludesCallsAndRespectsMaxnreg) {
  const std::string heavy = ".func f { .reg .b32 %r<40>;\n" + sum_of(30, "u32", "%r") + "}\n";
  EXPECT_EQ(estimate_registers(*parsed(heavy + kernel_with("call f; ret;"))), (indices{32, 32}));
  EXPECT_EQ(estimate_registers(*parsed(heavy + ".entry k .maxnreg 24 { call f; }")),
            (indices{32, 24}));
}

}  // namespace
