// SPDX-License-Identifier: Apache-2.0
// Errors that the verifier finds, and valid code that it accepts.
#include "emulator/ptx/verification/verifier.hpp"

#include <gtest/gtest.h>

#include "sample.hpp"

namespace {

using namespace halfwarp::emulator::ptx;
using halfwarp::tests::kernel_with;
using halfwarp::tests::parsed;
using halfwarp::tests::sample_head;

// Returns the messages of all findings, one per line.
std::string findings(const std::string& declarations) {
  std::string text;
  for (const parse_error& e : verify(*parsed(declarations))) text += e.message + "\n";
  return text;
}
std::string findings_in(const std::string& body) { return findings(kernel_with(body)); }

TEST(Verifier, AcceptsTheOutputOfCompilers) {
  EXPECT_EQ(
      findings_in("ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1;\n"
                  "mov.u32 %r1, %tid.x; setp.ge.s32 %p1, %r1, 4; @%p1 bra L;\n"
                  "mul.wide.s32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3;\n"
                  "ld.global.s8 %h1, [%rd4]; ld.global.u16 %r2, [%rd4]; st.global.u8 [%rd4], %r2;\n"
                  "ld.global.v2.f32 {%f1, _}, [%rd4]; selp.b32 %r3, 1, %r1, %p1;\n"
                  "add.f16x2 %r1, %r2, %r3; and.pred %p1, %p2, !%p3; L: ret;"),
      "");
}

TEST(Verifier, FindsUnknownNames) {
  EXPECT_EQ(findings_in("add.s32 %r1, %r99, 1;"), "unknown symbol '%r99'\n");
  EXPECT_EQ(findings_in("bra nowhere;"), "unknown symbol 'nowhere'\n");
  EXPECT_EQ(findings_in("ld.global.v2.u32 {%r1, %x}, [%rd1];"), "unknown symbol '%x'\n");
  EXPECT_EQ(findings_in("t: .branchtargets a, b; a: ret;"), "unknown label 'b'\n");
  EXPECT_EQ(findings(".global .u64 x = missing;"),
            "unknown symbol 'missing' in the initializer of 'x'\n");
}

TEST(Verifier, FindsSecondDefinitions) {
  EXPECT_EQ(findings(".func f { ret; }\n.func f { ret; }"), "function 'f' is defined twice\n");
  EXPECT_EQ(findings(".global .u32 x;\n.global .u32 x;"), "variable 'x' is defined twice\n");
  EXPECT_EQ(findings(".func f;\n.global .u32 f;"), "variable 'f' is defined twice\n");
  EXPECT_EQ(findings(".extern .global .u32 x;\n.global .u32 x;\n.func f;\n.func f { ret; }"), "");
}

TEST(Verifier, ChecksPredicates) {
  EXPECT_EQ(findings_in("@%r1 ret;"), "guard '%r1' is not a predicate\n");
  EXPECT_EQ(findings_in("setp.eq.s32 %r1, %r2, 0;"),
            "'setp.eq.s32' needs a predicate as operand 1\n");
  EXPECT_EQ(findings_in("selp.b32 %r1, %r2, 0, %r3;"),
            "'selp.b32' needs a predicate as operand 4\n");
  EXPECT_EQ(findings_in("selp.b32 %r1, %r2, 0;"), "'selp.b32' has 3 operands\n");
}

TEST(Verifier, ChecksWidths) {
  EXPECT_EQ(findings_in("add.s32 %r1, %r2, %rd1;"),
            "register '%rd1' of type .b64 does not fit 'add.s32'\n");
  EXPECT_EQ(findings_in("ld.global.u64 %r1, [%rd1];"),
            "register '%r1' of type .b32 does not fit 'ld.global.u64'\n");
  EXPECT_EQ(findings_in("ld.global.u8 %p1, [%rd1];"),
            "register '%p1' of type .pred does not fit 'ld.global.u8'\n");
  EXPECT_EQ(findings_in("ld.global.v4.u32 {%r1, %r2}, [%rd1];"),
            "'ld.global.v4.u32' has a vector of 2 elements, not 4\n");
}

TEST(Verifier, ChecksSecondResults) {
  EXPECT_EQ(findings_in("add.s32 %r1|%p1, %r2, 1;"), "'add.s32' has no second result\n");
  EXPECT_EQ(findings_in("add.s32 %r1, _, 1;"), "'add.s32' has the sink in place of a value\n");
  EXPECT_EQ(findings_in("setp.eq.s32 %p1, %r1|%p2, 0;"),
            "'setp.eq.s32' needs a value of its type as operand 2\n");
  EXPECT_EQ(findings_in("setp.eq.s32 %p1|%p2, %r1, 0; setp.eq.s32 _|%p2, %r1, 0;"), "");
}

TEST(Verifier, ChecksBranchesAndCalls) {
  const std::string f = ".func (.param .b32 r) f(.param .b32 x);\n.func v(.param .b8 rest[]);\n";
  EXPECT_EQ(findings(f + kernel_with(".param .b32 a; call (a), f, (a); call v, (a, a);")), "");
  EXPECT_EQ(findings(f + kernel_with(".param .b32 a; call (a), f, (a, a);")),
            "call of 'f' has 2 arguments, the function has 1\n");
  EXPECT_EQ(findings(f + kernel_with(".param .b32 a; call f, (a);")),
            "call of 'f' has 0 results, the function has 1\n");
  EXPECT_EQ(findings_in("call p;"), "'call' needs a function or a register\n");
  EXPECT_EQ(findings_in("bra p;"), "'bra' needs a label\n");
}

TEST(Verifier, ChecksHeadsOfKernels) {
  EXPECT_EQ(
      findings(".entry k(.param .b8 x[40000]) { ret; }"),
      "function 'k' is a kernel with more than 4352 bytes of parameters, which needs .version "
      "8.1\n"
      "the parameters of kernel 'k' need 40000 bytes, the limit is 32764\n");
}

TEST(Verifier, ReportsUnknownInstructions) {
  EXPECT_EQ(findings_in("frobnicate %q, nothing; add.novel.s32 %rd1, %r1, %p1;"),
            "'frobnicate' is no instruction of PTX\n"
            "'add.novel.s32' has an unknown modifier '.novel'\n");
}

TEST(Verifier, KnowsTheTargetsWithAScaleOfD) {
  const std::string product = "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1, 3;";
  for (const auto& [target, problem] : {std::pair{"sm_100a", ""},
                                        {"sm_101a", "has no scale of D on sm_101a"},
                                        {"sm_103a", ""},
                                        {"sm_110a", "has no scale of D on sm_110a"}}) {
    const std::string head =
        std::string{".version 9.0\n.target "} + target + "\n.address_size 64\n";
    const std::string log = parse_verified(head + kernel_with(product)).log;
    EXPECT_EQ(log.empty(), !*problem) << target << log;
    EXPECT_NE(log.find(problem), std::string::npos) << log;
  }
}

TEST(Verifier, KnowsTheFirstVersionOfEachTarget) {
  constexpr std::pair<int, int> targets[] = {// target and version times ten, by the manual
                                             {70, 60},  {72, 61},  {75, 63},  {80, 70},  {86, 71},
                                             {87, 74},  {88, 90},  {89, 78},  {90, 78},  {100, 86},
                                             {101, 86}, {103, 88}, {110, 90}, {120, 87}, {121, 88}};
  const auto log_of = [](int target, int version) {
    return parse_verified(".version " + std::to_string(version / 10) + "." +
                          std::to_string(version % 10) + "\n.target sm_" + std::to_string(target) +
                          "\n.address_size 64\n.entry k { ret; }")
        .log;
  };
  for (const auto& [target, version] : targets) {
    EXPECT_EQ(log_of(target, version), "") << target;
    EXPECT_NE(log_of(target, version - 1), "") << target;
  }
}

TEST(Verifier, ChecksDirectivesOfFunctions) {
  constexpr struct {
    const char *declaration, *problem;
  } cases[] = {
      {".extern .func f { ret; }", "is .extern and has a body"},
      {".func f .maxntid 32 { ret; }", "is no kernel and has a size of blocks"},
      {".func f .reqntid 32 { ret; }", "is no kernel and has a size of blocks"},
      {".func f .minnctapersm 1 { ret; }", "is no kernel and has a size of blocks"},
      {".entry k .maxnctapersm 1 { ret; }", "has .maxnctapersm, which ended with PTX 2.0"},
      {".entry k .blocksareclusters { ret; }", "has .blocksareclusters, which needs .version 9.0"},
      {".entry k .maxntid 32 .reqntid 32 { ret; }", "has .maxntid and .reqntid"},
      {".entry k .reqnctapercluster 2 .maxclusterrank 2 { ret; }",
       "has .reqnctapercluster and .maxclusterrank"},
      {".entry k .noreturn { ret; }", "has .noreturn, and is a kernel or has a result"},
      {".func (.reg .b32 r) f .noreturn { ret; }",
       "has .noreturn, and is a kernel or has a result"},
      {".func f .nothing { ret; }", "has an unknown directive"},
      {".func f .noreturn { ret; }", ""},
      {".entry k .maxntid 32 .minnctapersm 1 { ret; }", ""},
      {".entry k .reqnctapercluster 2 { ret; }", ""},
  };
  for (const auto& [declaration, problem] : cases) {
    const std::string text = findings(declaration);
    EXPECT_EQ(text.empty(), !*problem) << declaration << text;
    EXPECT_NE(text.find(problem), std::string::npos) << declaration << text;
  }
}

TEST(Verifier, ChecksAddressesInInitializers) {
  EXPECT_EQ(findings(".global .u64 a; .global .u64 x = a;"), "");
  EXPECT_EQ(findings(".shared .u64 a; .global .u64 x = a;"),
            "the initializer of 'x' has the address of 'a', which is neither in .global nor in "
            ".const\n");
  EXPECT_EQ(findings_in(".global .u64 x = missing; ret;"),
            "unknown symbol 'missing' in the initializer of 'x'\n");
}

TEST(Verifier, StopsAfterSomeFindings) {
  std::string body;
  for (int i = 0; i < 100; ++i) body += "bra nowhere;\n";
  EXPECT_EQ(verify(*parsed(kernel_with(body)), 7).size(), 7u);
}

TEST(Verifier, WritesEveryFindingToTheLog) {
  const auto result = parse_verified(sample_head + ".entry k { bra a;\nbra b; }");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error.line, 4u);
  EXPECT_EQ(result.error.column, 12u);
  EXPECT_EQ(result.log,
            "ptx input, line 4; error: unknown symbol 'a'\n"
            "ptx input, line 5; error: unknown symbol 'b'\n");
  EXPECT_EQ(parse_verified(".version x").log,
            "ptx input, line 1; error: expected a version such as 8.5, found 'x'\n");
  EXPECT_TRUE(parse_verified(sample_head));
}

}  // namespace
