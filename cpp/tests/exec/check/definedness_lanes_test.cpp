// SPDX-License-Identifier: Apache-2.0
// Undefined values of single lanes: through instructions, as addresses, in copies and in calls.
#include "definedness.hpp"

namespace halfwarp::tests {
namespace {

const std::string branch = "setp.lt.u32 p, r, 5; @p bra E; mov.u32 q, 1; E:";
// A value in r that is undefined in one lane.
const std::string in_lane_21 = "mov.u32 r, v; setp.eq.u32 g, t, 21; @g mov.u32 r, u; ";

class lanes : public definedness {
 protected:
  // Returns the lanes whose r is undefined behind a body.
  std::uint32_t undefined_lanes(const std::string& body) {
    m.space.states()->mark(out, 128, memory::written);
    run_body(body + " mad.wide.u32 f, t, 4, " + std::to_string(std::uint64_t{out}) +
                 "; st.global.u32 [f], r;",
             32);
    std::uint32_t mask = 0;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      std::uint32_t states = 0;
      std::memcpy(&states, m.space.states()->at(out + 4 * lane), 4);
      if (states != ~0u) mask |= 1u << lane;
    }
    return mask;
  }
  memory::address out = m.allocate(128);
};

TEST_F(lanes, keep_their_own_values) {
  for (const std::string text : {"mov.u32 r, r;",
                                 "add.u32 r, r, 1;",
                                 "sub.u32 r, 1, r;",
                                 "mul.lo.u32 r, v, r;",
                                 "mul.hi.u32 r, r, 0x10000;",
                                 "mad.lo.u32 r, v, v, r;",
                                 "mad.lo.u32 r, v, r, v;",
                                 "div.u32 r, r, 3;",
                                 "rem.u32 r, r, 7;",
                                 "min.s32 r, r, v;",
                                 "max.u32 r, r, 9;",
                                 "abs.s32 r, r;",
                                 "neg.s32 r, r;",
                                 "popc.b32 r, r;",
                                 "clz.b32 r, r;",
                                 "bfind.u32 r, r;",
                                 "brev.b32 r, r;",
                                 "not.b32 r, r;",
                                 "xor.b32 r, r, v;",
                                 "shl.b32 r, r, 3;",
                                 "shr.s32 r, r, 3;",
                                 "shl.b32 r, v, r;",
                                 "bfe.u32 r, r, 4, 8;",
                                 "bfi.b32 r, r, v, 8, 8;",
                                 "prmt.b32 r, r, v, 0x5410;",
                                 "shf.l.wrap.b32 r, r, v, 8;",
                                 "lop3.b32 r, r, v, v, 0x96;",
                                 "sad.u32 r, r, v, v;",
                                 "dp4a.u32.u32 r, r, v, v;",
                                 "cvt.u8.u32 r, r;",
                                 "cvt.s32.s8 r, r;",
                                 "cvt.sat.s8.s32 r, r; cvt.s32.s8 r, r;",
                                 "cvt.sat.u16.s32 h, r; cvt.u32.u16 r, h;",
                                 "cvt.u16.u32 h, r; cvt.u32.u16 r, h;",
                                 "cvt.sat.u32.s32 r, r;",
                                 "cvt.rn.f32.u32 r, r;",
                                 "cvt.rzi.s32.f32 r, r;",
                                 "cvt.u64.u32 e, r; cvt.u32.u64 r, e;",
                                 "mul.wide.u32 e, r, 3; cvt.u32.u64 r, e;",
                                 "add.f32 r, r, 0f3f800000;",
                                 "fma.rn.f32 r, v, r, v;",
                                 "sqrt.rn.f32 r, r;",
                                 "cvt.f64.f32 e, r; cvt.rn.f32.f64 r, e;",
                                 "cvt.rn.f16.f32 h, r; cvt.f32.f16 r, h;",
                                 "add.f16x2 r, r, v;",
                                 "setp.lt.u32 p, r, 5; selp.u32 r, 1, 2, p;",
                                 "setp.ne.u32 p, r, 0x12345678; selp.u32 r, 1, 2, p;",
                                 "slct.u32.s32 r, 1, 2, r;",
                                 "set.lt.u32.u32 r, r, 5;",
                                 "add.cc.u32 r, r, v; addc.u32 r, v, 0;",
                                 "mov.b64 e, {v, r}; mov.b64 {q, r}, e;",
                                 "mov.b64 e, {r, v}; mov.b64 {r, q}, e;",
                                 "testp.normal.f32 p, r; selp.u32 r, 1, 2, p;",
                                 "setp.eq.u32 p, t, t; @p add.u32 r, r, 1;"}) {
    EXPECT_EQ(undefined_lanes(in_lane_21 + text), 1u << 21) << text;
    EXPECT_EQ(undefined_lanes("mov.u32 r, v; mov.u32 r, u; mov.u32 r, v; " + text), 0u) << text;
  }
}

TEST_F(lanes, of_a_defined_condition_keep_defined_bits) {
  EXPECT_EQ(undefined_bits("setp.eq.u32 g, v, v; @g and.b32 r, u, 0xff;"), 0xffu);
  EXPECT_EQ(undefined_bits("mov.u32 r, v; setp.eq.u32 g, u, u; @g and.b32 r, v, 0xff;"), ~0u)
      << "an undefined condition";
  EXPECT_EQ(undefined_bits("mov.b64 e, {v, u}; mov.b64 {q, r}, e;"), ~0u);
  EXPECT_EQ(undefined_bits("mov.b64 e, {u, v}; mov.b64 {q, r}, e;"), 0u);
  EXPECT_EQ(undefined_bits("mov.b64 e, {u, v}; mov.b64 {r, q}, e;"), ~0u);
}

// Each address is undefined in one lane, whose number decides about the bytes of the register.
TEST_F(lanes, use_their_own_addresses) {
  const std::string narrow = in_lane_21 + "mov.u32 w, s; and.b32 r, r, 4; ";
  const std::string wide = narrow + "cvt.u64.u32 e, r; add.u64 e, e, a; ";
  const std::pair<std::string, std::string> rows[] = {
      {narrow + "ld.shared.u32 q, [r];", "address of a load"},
      {narrow + "st.shared.u32 [r], v;", "address of a store"},
      {narrow + "atom.shared.exch.b32 q, [r], 1;", "address of an atomic operation"},
      {wide + "ld.global.u32 q, [e];", "address of a load"},
      {wide + "st.global.u32 [e], v;", "address of a store"},
      {wide + "atom.global.exch.b32 q, [e], 1;", "address of an atomic operation"},
      {in_lane_21 + "atom.global.add.u32 q, [a], r;", "operand of an atomic operation"},
      {in_lane_21 + "atom.global.cas.b32 q, [a], r, v;", "operand of an atomic operation"},
      {in_lane_21 + "cvt.u64.u32 e, r; atom.global.cas.b64 f, [a+8], 1, e;",
       "operand of an atomic operation"}};
  for (const auto& [body, use] : rows) {
    EXPECT_EQ(uses(body, 32), (strings{use + all_bytes})) << body;
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].thread[0], 21u) << body;
    EXPECT_EQ(findings[0].count, 1u) << body;
  }
}

TEST_F(lanes, use_masks_and_counts) {
  const std::string one_less = "and.b32 q, u, 1; sub.u32 q, q, 1; ";
  EXPECT_EQ(uses(one_less + "bar.warp.sync q;", 32), (strings{"mask of lanes" + all_bytes}));
  EXPECT_EQ(findings.at(0).count, 32u);
}

// A value that nothing uses for long stays undefined.
TEST_F(lanes, keep_unused_values) {
  std::string many;
  for (int i = 0; i < 600; ++i) many += "add.u32 q, v, 1; ";
  EXPECT_EQ(uses("mov.u32 r, u; " + many + branch).size(), 1u);
  EXPECT_EQ(
      uses("setp.lt.u32 p, u, 5; mov.u32 u, v; " + many + "@p bra E; mov.u32 q, 1; E:").size(), 1u);
  EXPECT_EQ(uses("mov.u32 u, v; " + many + "mov.u32 r, u; " + branch), strings{});
}

TEST_F(lanes, that_take_no_part_have_no_value) {
  const std::string half = "mov.u32 u, v; setp.lt.u32 g, t, 16; @!g bra D; ";
  EXPECT_EQ(
      uses(half + "shfl.sync.idx.b32 r, v, 20, 31, 0xffff; " + branch + " D:", 32),
      (strings{"condition of a branch with the shuffled value of a lane that takes no part"}));
  EXPECT_EQ(findings.at(0).count, 16u);
  EXPECT_EQ(findings[0].hint, "take part with all lanes, or name a source lane that takes part");
  ASSERT_TRUE(findings[0].earlier);
  EXPECT_EQ(findings[0].earlier->instruction, "shfl.sync.idx.b32 r, v, 20, 31, 0xffff");
  EXPECT_EQ(findings[0].earlier->thread[0], 0u);
  EXPECT_EQ(uses(half + "shfl.sync.idx.b32 r, v, 9, 31, 0xffff; " + branch + " D:", 32), strings{});
  EXPECT_EQ(uses(half + "shfl.sync.down.b32 r, v, 1, 31, 0xffff; " + branch + " D:", 32).size(),
            1u);
  EXPECT_EQ(findings.at(0).count, 1u);
  EXPECT_EQ(findings[0].thread[0], 15u);
}

TEST_F(lanes, copy_their_own_bytes) {
  const std::string to = "mov.u32 w, s; mad.lo.u32 w, t, 4, w; ";
  const std::string wait = " cp.async.wait_all; ld.shared.u32 r, [w]; " + branch;
  const std::string copy = "cp.async.ca.shared.global [w], ";
  const strings branches{"condition of a branch" + all_bytes};
  EXPECT_EQ(uses(to + copy + "[b], 4;" + wait, 32), branches);
  EXPECT_EQ(findings.at(0).count, 32u);
  EXPECT_EQ(uses(to + copy + "[a], 4;" + wait, 32), strings{});
  // A lane that ignores the source writes zeros.
  EXPECT_EQ(uses(to + "setp.eq.u32 g, t, 7; " + copy + "[b], 4, g;" + wait, 32), branches);
  EXPECT_EQ(findings.at(0).count, 31u);
  EXPECT_EQ(uses(to + "setp.ne.u32 g, t, 7; " + copy + "[b], 4, g;" + wait, 32), branches);
  EXPECT_EQ(findings.at(0).count, 1u);
  EXPECT_EQ(findings[0].thread[0], 7u);
  // A lane writes zeros behind the bytes that it reads.
  const std::string size = "and.b32 q, t, 2; ";
  EXPECT_EQ(uses(to + size + copy + "[b], 4, q;" + wait, 32).size(), 1u);
  EXPECT_EQ(findings.at(0).count, 16u);
  EXPECT_EQ(findings[0].thread[0], 2u);
  const std::string one = "cp.async.wait_all; ld.shared.u32 r, [s];";
  expect_bits({{("cp.async.ca.shared.global [s], [b], 4, 2;" + one).c_str(), 0xffff},
               {("cp.async.ca.shared.global [s], [b], 4, 0;" + one).c_str(), 0},
               {("cp.async.ca.shared.global [s+4], [b], 4;" + one).c_str(), ~0u}});
}

TEST_F(lanes, pass_through_calls) {
  functions =
      ".func (.param .b32 o) same(.param .b32 i) { .reg .b32 x; ld.param.b32 x, [i]; "
      "st.param.b32 [o], x; ret; }\n"
      ".func (.param .b64 o) wide(.param .b64 i) { .reg .b64 x; ld.param.b64 x, [i]; "
      "st.param.b64 [o], x; ret; }\n"
      ".func (.reg .b32 o) copied(.reg .b32 i) { mov.b32 o, i; ret; }\n"
      ".func (.param .b32 o) last(.param .align 4 .b8 i[8]) { .reg .b32 x; "
      "ld.param.b32 x, [i+4]; st.param.b32 [o], x; ret; }\n"
      // Keeps its argument in memory if that is not 0.
      ".func (.param .b32 o) kept(.param .b32 i) { .reg .b32 x; .reg .pred z; .local .b32 l; "
      "ld.param.b32 x, [i]; setp.ne.u32 z, x, 0; @z st.local.b32 [l], x; ld.local.b32 x, [l]; "
      "st.param.b32 [o], x; ret; }\n";
  const auto call = [](const std::string& name, const std::string& value) {
    return "{ .param .b32 i; .param .b32 o; st.param.b32 [i], " + value + "; call.uni (o), " +
           name + ", (i); ld.param.b32 r, [o]; } ";
  };
  const auto last = [](const std::string& first, const std::string& second) {
    return "{ .param .align 4 .b8 i[8]; .param .b32 o; st.param.b32 [i], " + first +
           "; st.param.b32 [i+4], " + second + "; call.uni (o), last, (i); ld.param.b32 r, [o]; }";
  };
  const std::pair<std::string, std::uint32_t> rows[] = {
      {in_lane_21 + call("same", "r"), 1u << 21},
      {"mov.u32 r, u; " + call("same", "v"), 0},
      {in_lane_21 + "cvt.u64.u32 e, r; { .param .b64 i; .param .b64 o; st.param.b64 [i], e; "
                    "call.uni (o), wide, (i); ld.param.b64 e, [o]; } cvt.u32.u64 r, e;",
       1u << 21},
      {in_lane_21 + "call (r), copied, (r);", 1u << 21},
      {"mov.u32 r, u; call (r), copied, (5);", 0},
      {in_lane_21 + "call (r), copied, (r); add.u32 r, r, 1;", 1u << 21},
      {in_lane_21 + last("v", "r"), 1u << 21},
      {in_lane_21 + last("r", "v"), 0},
      {call("kept", "v"), 0},
      {call("kept", "v") + call("kept", "0"), ~0u},
      {in_lane_21 + "setp.eq.u32 g, t, 20; @g bra D; " + call("same", "r") + "D:", 1u << 21}};
  for (const auto& [body, expected] : rows) EXPECT_EQ(undefined_lanes(body), expected) << body;
}

TEST_F(lanes, read_other_spaces_through_generic_addresses) {
  EXPECT_EQ(uses("cvta.shared.u64 e, s; ld.u32 r, [e+16]; " + branch).size(), 1u);
  EXPECT_EQ(findings.at(0).space, report::memory_space::shared);
  EXPECT_EQ(findings[0].address, 16u);
  EXPECT_EQ(findings[0].hint, "store to every element before its first use");
  EXPECT_EQ(uses("cvta.local.u64 e, l; ld.u32 r, [e+4]; " + branch).size(), 1u);
  EXPECT_EQ(findings.at(0).space, report::memory_space::local);
  EXPECT_EQ(uses("cvta.local.u64 e, l; st.u32 [e+4], v; ld.local.u32 r, [l+4]; " + branch),
            strings{});
  EXPECT_EQ(uses("cvta.local.u64 e, l; st.u32 [e+8], u; ld.local.u32 r, [l+8]; " + branch, 32),
            (strings{"condition of a branch" + all_bytes}));
  EXPECT_EQ(findings.at(0).count, 32u);
}

}  // namespace
}  // namespace halfwarp::tests
