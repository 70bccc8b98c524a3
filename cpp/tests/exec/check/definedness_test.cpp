// SPDX-License-Identifier: Apache-2.0
// The bits of results that depend on unwritten bytes, and the uses that are reported.
#include "definedness.hpp"

namespace halfwarp::tests {
namespace {

TEST_F(definedness, of_computed_bits) {
  expect_bits({{"mov.u32 r, u;", 0xffff'ffff},
               {"mov.u32 r, v;", 0},
               {"mov.u32 r, u; mov.u32 r, v;", 0},
               {"and.b32 r, u, 0xff00;", 0xff00},
               {"and.b32 r, u, v;", 0x1234'5678},
               {"or.b32 r, u, 0xff00;", 0xffff'00ff},
               {"xor.b32 r, u, v;", 0xffff'ffff},
               {"xor.b32 r, u, u;", 0},
               {"not.b32 r, u;", 0xffff'ffff},
               {"shl.b32 r, u, 8;", 0xffff'ff00},
               {"shr.u32 r, u, 8;", 0x00ff'ffff},
               {"and.b32 q, u, 0xff; shl.b32 r, q, 4;", 0xff0},
               {"bfe.u32 r, u, 4, 8;", 0xff},
               {"bfi.b32 r, u, v, 8, 4;", 0xf00},
               {"brev.b32 q, u; shr.u32 q, q, 16; brev.b32 r, q;", 0xffff'0000},
               {"prmt.b32 r, u, v, 0x4140;", 0x00ff'00ff},
               {"lop3.b32 r, u, 0xff, 0, 0xc0;", 0xff},
               {"shf.l.wrap.b32 r, u, v, 8;", 0xff},
               {"add.u32 r, u, v;", 0xffff'ffff},
               {"add.u32 r, v, v;", 0},
               {"mul.lo.u32 r, u, 0;", 0},
               {"mul.lo.u32 r, u, 4;", 0xffff'ffff},
               {"and.b32 q, u, 1; add.u32 r, q, v;", 0xffff'ffff},
               {"popc.b32 r, u;", 0xffff'ffff},
               {"clz.b32 r, u;", 0xffff'ffff},
               {"min.u32 r, u, 0;", 0},
               {"setp.eq.u32 p, u, v; selp.u32 r, 1, 0, p;", 1},
               {"setp.lt.u32 p, u, v; selp.u32 r, 5, 4, p;", 1},
               {"setp.lt.u32 p, v, v; selp.u32 r, 5, 4, p;", 0},
               {"and.b32 q, u, 0xff; setp.eq.u32 p, q, 0x100; selp.u32 r, 1, 0, p;", 0},
               {"and.b32 q, u, 0xff; setp.eq.u32 p, q, 0x20; selp.u32 r, 1, 0, p;", 1},
               {"and.b32 q, u, 0xff; setp.lt.u32 p, q, 0x100; selp.u32 r, 1, 0, p;", 1},
               {"setp.eq.u32 p, u, v; setp.ne.u32 p, v, 0; selp.u32 r, 1, 0, p;", 0},
               {"mov.u32 r, 7; setp.ne.u32 p, u, 5; @p mov.u32 r, v;", 0xffff'ffff},
               {"mov.u32 r, %tid.x;", 0}});
}

TEST_F(definedness, of_loaded_bits) {
  expect_bits(
      {{"ld.global.u8 r, [b];", 0xff},
       {"ld.global.s8 r, [b];", 0xffff'ffff},
       {"ld.global.u16 r, [b];", 0xffff},
       {"ld.global.v2.u32 {q, r}, [a];", 0},
       {"ld.global.v2.u32 {q, r}, [b];", 0xffff'ffff},
       {"st.shared.u32 [s], u; ld.shared.u32 r, [s];", 0xffff'ffff},
       {"st.shared.u32 [s], v; ld.shared.u32 r, [s];", 0},
       {"ld.shared.u32 r, [s+16];", 0xffff'ffff},
       {"st.shared.u16 [s], v; ld.shared.u32 r, [s];", 0xffff'0000},
       {"st.shared.u32 [s], v; st.shared.u8 [s+1], u; ld.shared.u32 r, [s];", 0xff00},
       {"ld.local.u32 r, [l];", 0xffff'ffff},
       {"st.local.u32 [l], v; ld.local.u32 r, [l];", 0},
       {"st.local.u8 [l+2], v; ld.local.u32 r, [l];", 0xff00'ffff},
       {"st.global.u32 [b], v; ld.global.u32 r, [b];", 0},
       {"cp.async.ca.shared.global [s], [b], 8; cp.async.wait_all; ld.shared.u32 r, [s+4];",
        0xffff'ffff},
       {"mov.u32 q, 6; cp.async.ca.shared.global [s], [b], 8, q; cp.async.wait_all;"
        "ld.shared.u32 r, [s+4];",
        0x0000'ffff},
       {"setp.eq.u32 p, v, v; cp.async.ca.shared.global [s], [b], 8, p; cp.async.wait_all;"
        "ld.shared.u32 r, [s];",
        0},
       {"cp.async.ca.shared.global [s], [a], 8; cp.async.wait_all; ld.shared.u32 r, [s+4];", 0}});
}

TEST_F(definedness, of_results_of_64_bits) {
  const std::pair<const char*, std::uint64_t> rows[] = {
      {"cvt.u64.u32 e, u;", 0xffff'ffff},
      {"cvt.s64.s32 e, u;", ~std::uint64_t{0}},
      {"mul.wide.u32 e, u, 3;", ~std::uint64_t{0}},
      {"mov.b64 e, {u, v};", 0xffff'ffff},
      {"mov.b64 e, {v, u};", 0xffff'ffff'0000'0000},
      {"cvt.u64.u32 e, u; shl.b64 e, e, 20;", 0xffff'ffff'0'0000},
      {"ld.global.u64 e, [b];", ~std::uint64_t{0}},
      {"ld.global.u64 e, [a];", 0},
      {"ld.global.u32 e, [b];", 0xffff'ffff},
      {"ld.global.s32 e, [b];", ~std::uint64_t{0}},
  };
  for (const auto& [body, undefined] : rows) {
    m.space.states()->mark(y, 64, memory::unwritten);
    EXPECT_EQ(report::hexadecimal(undefined_bits(body, "e")), report::hexadecimal(undefined))
        << body;
  }
}

TEST_F(definedness, of_words_with_some_written_bytes) {
  define(y + 1, 2);
  EXPECT_EQ(undefined_bits("mov.u32 r, u;"), 0xff00'00ffu);
  EXPECT_EQ(undefined_bits("bfe.u32 r, u, 8, 8;"), 0u);
  EXPECT_EQ(uses("setp.eq.u32 p, u, 0; @p bra E; mov.u32 r, 1; E:"), strings{})
      << "the written bytes are not 0";
  EXPECT_EQ(uses("setp.lt.u32 p, u, 5; @p bra E; mov.u32 r, 1; E:"),
            (strings{"condition of a branch from 2 of 4 bytes that nobody wrote"}));
}

TEST_F(definedness, of_what_decides_is_reported) {
  EXPECT_EQ(uses("mov.u32 r, u; add.u32 r, r, v;"), strings{});
  EXPECT_EQ(uses("setp.lt.u32 p, u, 5; @p bra E; mov.u32 r, 1; E:"),
            (strings{"condition of a branch" + all_bytes}));
  EXPECT_EQ(findings[0].address, y);
  EXPECT_EQ(findings[0].bytes, 4u);
  EXPECT_EQ(findings[0].unwritten, 0u + y);
  EXPECT_EQ(findings[0].hint,
            "fill the memory before its first use: a copy, a memset, or a store by a kernel");
  ASSERT_TRUE(findings[0].earlier);
  EXPECT_EQ(findings[0].earlier->instruction, "ld.global.u32 u, [b]");
  const std::string index = "and.b32 u, u, 4; cvt.u64.u32 e, u; add.u64 e, e, a; ";
  EXPECT_EQ(uses(index + "ld.global.u32 r, [e];"), (strings{"address of a load" + all_bytes}));
  EXPECT_EQ(uses(index + "st.global.u32 [e], v;"), (strings{"address of a store" + all_bytes}));
  EXPECT_EQ(uses(index + "atom.global.add.u32 r, [e], 1;"),
            (strings{"address of an atomic operation" + all_bytes}));
  EXPECT_EQ(uses("atom.global.add.u32 r, [a+32], u;"),
            (strings{"operand of an atomic operation" + all_bytes}));
  EXPECT_EQ(uses("atom.global.cas.b32 r, [a+32], v, u;"),
            (strings{"operand of an atomic operation" + all_bytes}));
  EXPECT_EQ(uses("setp.gt.u32 p, u, 5; @p st.global.u32 [a+32], v;"),
            (strings{"condition of a store" + all_bytes}));
  EXPECT_EQ(uses("and.b32 u, u, 1; add.u32 u, u, 1; barrier.sync u;"),
            (strings{"number of a barrier" + all_bytes}));
  EXPECT_EQ(uses("and.b32 u, u, 0; add.u32 u, u, 1; barrier.sync u;"), strings{});
  EXPECT_EQ(uses("and.b32 u, u, 32; barrier.sync 1, u;", 32),
            (strings{"thread count of a barrier" + all_bytes}));
}

TEST_F(definedness, of_targets_of_atomic_operations_is_reported) {
  EXPECT_EQ(
      uses("atom.global.add.u32 r, [b+16], 1; setp.lt.u32 p, r, 5; @p bra E; mov.u32 r, 1; E:"),
      (strings{"target of an atomic operation" + all_bytes}));
  EXPECT_EQ(uses("atom.global.exch.b32 r, [b+24], 1; ld.global.u32 r, [b+24]; setp.lt.u32 p, r, 5; "
                 "@p bra E; mov.u32 r, 1; E:"),
            strings{});
  EXPECT_EQ(uses("atom.shared.add.u32 r, [s], 1;"),
            (strings{"target of an atomic operation" + all_bytes}));
  EXPECT_EQ(findings[0].space, report::memory_space::shared);
  EXPECT_EQ(findings[0].hint, "store to every element before its first use");
}

TEST_F(definedness, of_each_lane_is_its_own) {
  // Lane 3 has an undefined value alone.
  const std::string one = "mov.u32 r, v; setp.eq.u32 g, t, 3; @g mov.u32 r, u; ";
  const std::string branch = "setp.lt.u32 p, r, 5; @p bra E; mov.u32 q, 1; E:";
  EXPECT_EQ(uses(one + branch, 32), (strings{"condition of a branch" + all_bytes}));
  EXPECT_EQ(findings[0].thread[0], 3u);
  EXPECT_EQ(findings[0].count, 1u);
  EXPECT_EQ(uses(one + "shfl.sync.idx.b32 r, r, 4, 31, -1; " + branch, 32), strings{});
  EXPECT_EQ(uses(one + "shfl.sync.idx.b32 r, r, 3, 31, -1; " + branch, 32),
            (strings{"condition of a branch" + all_bytes}));
  EXPECT_EQ(findings[0].count, 32u);
  const std::string high = "mov.u32 r, v; setp.eq.u32 g, t, 20; @g mov.u32 r, u; ";
  EXPECT_EQ(uses(high + "cvt.sat.s16.s32 h, r; cvt.s32.s16 r, h; " + branch, 32).size(), 1u);
  EXPECT_EQ(findings[0].thread[0], 20u);
  EXPECT_EQ(uses(one + "shfl.sync.down.b32 r, r, 1, 31, -1; " + branch, 32).size(), 1u);
  EXPECT_EQ(findings[0].thread[0], 2u);
  EXPECT_EQ(uses(one + "vote.sync.any.pred p, g, -1; @p bra E; mov.u32 q, 1; E:", 32), strings{});
  EXPECT_EQ(
      uses(one + "setp.lt.u32 p, r, 5; vote.sync.any.pred p, p, -1; @p bra E; mov.u32 q, 1; E:", 32)
          .size(),
      1u);
}

}  // namespace
}  // namespace halfwarp::tests
