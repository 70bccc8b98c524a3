// SPDX-License-Identifier: Apache-2.0
// Errors that the verifier finds, and valid code that it accepts.
#include "emulator/ptx/verification/verifier.hpp"

#include <gtest/gtest.h>

#include "../sample.hpp"

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

struct judged {
  int version;
  const char *target, *statement, *problem;  // problem: "" for a statement that loads
};
// An assembler of CUDA 13.5 accepts and refuses the same statements.
constexpr judged statements[] = {
    {90, "sm_90", "cp.async.cg.shared.global [%r0], %rd0, 16;",
     "needs an address in brackets as operand 2"},
    {90, "sm_90", "cp.async.wait_group %r0;", "needs an integer constant as operand 1"},
    {90, "sm_90", "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd1];",
     "needs an address with the coordinates of an element as operand 1"},
    {90, "sm_90", "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd1, {%r1, %r2, %r3}];",
     "needs an address with the coordinates of an element as operand 1"},
    {90, "sm_90",
     "cp.async.bulk.prefetch.tensor.3d.L2.global.im2col [%rd1, {%r1, %r2, %r3}], {%h1, %h2};",
     "needs a vector of offsets in 16 bits as operand 2"},
    {90, "sm_90", "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1}, [%r2];",
     "needs another vector of registers as operand 1"},
    {90, "sm_90",
     "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1, %r2, %r3}, {%r3, %r4, %r5, %r6}, "
     "{%r7, %r8}, {%r1, %r2};",
     "needs another vector of registers as operand 1"},
    {90, "sm_90",
     "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r3, %r4, %r5}, {%r7, %r8}, "
     "{%r1, %r2};",
     "needs another vector of registers as operand 2"},
    {90, "sm_90",
     "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r3, %r4, %r5, %r6}, {%r7}, "
     "{%r1, %r2};",
     "needs another vector of registers as operand 3"},
    {90, "sm_90",
     "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r3, %r4, %r5, %r6}, {%r7, "
     "%r8}, {%r1};",
     "needs another vector of registers as operand 4"},
    {90, "sm_90", "nanosleep.u32 %rd0;", "needs an integer of 32 bits as operand 1"},
    {90, "sm_90", "fns.b32 %r0, %rd1, 0, 1;", "needs 32 bits as operand 2"},
    {90, "sm_90", "createpolicy.fractional.L2::evict_last.b64 %rd0, %rd1;",
     "needs 32 bits as operand 2"},
    {90, "sm_90",
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r0], "
     "[%rd1], 256, [%r2], %r3;",
     "needs 16 bits as operand 5"},
    {90, "sm_90", "selp.u32 %r0, 1, 0, %r1;", "needs a predicate as operand 4"},
    {90, "sm_90", "match.any.sync.b32 %r0, %rd1, %r2;", "needs a value of its type as operand 2"},
    {90, "sm_90", "set.lt.u32.s32 %r0, [%r1], %r2;", "needs a value of its type as operand 2"},
    {90, "sm_90", "shfl.sync.up.b32 %rd0, %r1, 1, 0, -1;",
     "needs a value of its type as operand 1"},
    {90, "sm_90", "atom.global.add.u32 5, [%rd0], %r1;", "needs a value of its type as operand 1"},
    {90, "sm_90", "mbarrier.test_wait.shared.b64 %p0, [%r0], %r1;",
     "needs an integer of 64 bits as operand 3"},
    {90, "sm_90", "mapa.u64 %rd0, %p1, %r0;", "needs an integer of 64 bits as operand 2"},
    {90, "sm_90", "isspacep.local %p0, %h0;", "needs an integer of 64 bits as operand 2"},
    {90, "sm_90", "createpolicy.fractional.L2::evict_last.b64 %rd0, 0.0;",
     "needs a part above 0, at most 1"},
    {90, "sm_90", "createpolicy.fractional.L2::evict_last.b64 %rd0, 1.0;", ""},
    {90, "sm_90", "createpolicy.fractional.L2::evict_last.b64 %rd0, 1.0000001;",
     "needs a part above 0, at most 1"},
    {90, "sm_90", "createpolicy.fractional.L2::evict_last.b64 %rd0, 0f3F800001;",
     "needs a part above 0, at most 1"},
    {90, "sm_90", "createpolicy.fractional.L2::evict_last.b64 %rd0, 0f3F800000;", ""},
    {90, "sm_90", "createpolicy.fractional.L2::evict_last.b64 %rd0, 0f00000000;",
     "needs a part above 0, at most 1"},
    {90, "sm_90",
     "mma.sync.aligned.m8n8k4.row.row.row.f16.f16.f16.f16 {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r6, "
     "%r7}, {%r0, %r1, %r2, %r3};",
     "needs the layouts of A and B"},
    {90, "sm_90",
     "mma.sync.aligned.m8n8k4.row.f16.f16.f16.f16 {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r6, %r7}, "
     "{%r0, %r1, %r2, %r3};",
     "needs the layouts of A and B"},
    {90, "sm_90",
     "mma.sync.aligned.m8n8k4.col.col.f16.f16.f16.f16 {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r6, "
     "%r7}, {%r0, %r1, %r2, %r3};",
     ""},
    {90, "sm_90",
     "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32.xor {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, "
     "%r8}, {%r9, %r10}, {%r1, %r2, %r3, %r4};",
     "has a Boolean operation for types of few bits alone"},
    {90, "sm_90", "red.global.cas.b32 [%rd0], %r0, %r1;",
     "needs one of .add, .and, .dec, .inc, .max, .min, .or, .xor"},
    {90, "sm_90", "red.global.exch.b32 [%rd0], %r0;",
     "needs one of .add, .and, .dec, .inc, .max, .min, .or, .xor"},
    {90, "sm_90", "ld.global.L2::cache_hint.b32 %r0, [%rd0], %r1;", "needs a cache policy"},
    {90, "sm_90", "atom.global.add.L2::cache_hint.u32 %r0, [%rd0], %r1;",
     "has 3 operands instead of 4"},
    {90, "sm_90", "elect.sync %r0, %r1;", "needs an integer of 32 bits as operand 1"},
    {90, "sm_90", "elect.sync %r0|%r2, %r1;", "needs an integer of 32 bits as operand 1"},
    {90, "sm_90", "elect.sync _|%p0, %r1;", ""},
    {90, "sm_90", "match.all.sync.b32 %r0|_, %r1, %r2;", ""},
    {90, "sm_90", "lop3.and.b32 _|%p0, %r1, %r2, %r3, 128, %p1;", ""},
    {90, "sm_90", "lop3.and.b32 %r0|_, %r1, %r2, %r3, 128, %p1;", "needs 32 bits as operand 1"},
    {90, "sm_90", "discard.global.L2 [%rd0], 127;", "needs 128 as operand 2, not 127"},
    {90, "sm_90", "alloca.u32 %r0, 4, 0;", "needs a power of two from 1 on as operand 3, not 0"},
    {90, "sm_90",
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%rd1], 8, [%r2];",
     "needs a multiple of 16 from 0 on as operand 3, not 8"},
    {90, "sm_90", "mbarrier.init.shared.b64 [%r0], 0;", "needs 1 to 1048575 as operand 2, not 0"},
    {90, "sm_90", "mbarrier.init.shared.b64 [%r0], 1048576;",
     "needs 1 to 1048575 as operand 2, not 1048576"},
    {90, "sm_90", "mbarrier.arrive.shared.b64 %rd0, [%r0], 0;", "needs 1 on as operand 3, not 0"},
    {90, "sm_90a", "setmaxnreg.inc.sync.aligned.u32 41;",
     "needs a multiple of 8 from 24 to 256 as operand 1, not 41"},
    {90, "sm_90", "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%f0, %r1}, [%r2];", ""},
    {90, "sm_90", "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%rd0, %r1}, [%r2];",
     "needs another vector of registers as operand 1"},
    {90, "sm_90",
     "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%rd1, %f2, %f3, %f4}, {%r3, %r4}, {%r5}, "
     "{%f1, %f2, %f3, %f4};",
     "needs another vector of registers as operand 1"},
    {74, "sm_80", "cp.async.ca.shared.global [%r0], [%rd0], 16, %p0;",
     "with these operands needs .version 7.5 or later, the module has 7.4"},
    {75, "sm_80", "cp.async.ca.shared.global [%r0], [%rd0], 16, %p0;", ""},
    {74, "sm_80", "cp.async.ca.shared.global [%r0], [%rd0], 16, %r1;", ""},
    {80, "sm_80", "mbarrier.arrive.shared.b64 %rd0, [%r0], 2;",
     "with these operands needs .target sm_90 or later, the module has sm_80"},
    {71, "sm_80", "mbarrier.arrive.noComplete.shared.b64 %rd0, [%r0], 2;", ""},
    {90, "sm_90", "mul.wide.u64 %rd0, %rd1, %rd2;", "has no .wide for '.u64'"},
    {90, "sm_90", "add.sat.u32 %r0, %r1, %r2;", "has no .sat for '.u32'"},
    {91, "sm_90", "add.sat.u32 %r0, %r1, %r2;", "has no .sat for '.u32'"},
};

TEST(OperandProblems, NameWhatTheInstructionNeeds) {
  for (const judged& each : statements) {
    const std::string statement = each.statement, problem = each.problem;
    const std::string word = statement.substr(0, statement.find(' '));
    EXPECT_EQ(halfwarp::tests::problem_of(each.version, each.target, statement),
              problem.empty() ? "" : "'" + word + "' " + problem)
        << each.version << ' ' << statement;
  }
}

}  // namespace
