// SPDX-License-Identifier: Apache-2.0
// Barriers of a block in every form.
#include <gtest/gtest.h>

#include "../machine.hpp"

namespace halfwarp::tests {
namespace {

const std::string head =
    ".shared .align 4 .b8 s[4096];\n"
    ".visible .entry k(.param .u64 io) { .reg .b64 a, o, S; .reg .b32 i, n, r, t, u; .reg .pred p, "
    "q;\n"
    "ld.param.u64 a, [io]; mov.u32 i, %tid.x; mov.u32 n, %ntid.x; mul.wide.u32 o, i, 4; add.u64 a, "
    "a, o;\n"
    "mov.u64 S, s; add.u64 S, S, o;\n";
const std::string tail = "\nst.global.u32 [a], r; ret; }";

std::vector<std::uint32_t> results(const std::string& body, std::uint32_t threads) {
  machine m;
  m.load(head + body + tail);
  memory::address io = m.upload(std::vector<std::uint32_t>(threads, 999));
  auto result = m.run("k", {1}, {threads}, io);
  EXPECT_FALSE(result.fault) << report::full_text(*result.fault);
  return m.download<std::uint32_t>(io, threads);
}

// Every thread reads the element that its mirror image wrote.
const std::string exchange =
    "st.shared.u32 [S], i; BARRIER;\n"
    "sub.u32 t, n, i; sub.u32 t, t, 1; mul.wide.u32 o, t, 4; mov.u64 S, s;\n"
    "add.u64 S, S, o; ld.shared.u32 r, [S];";

std::string with_barrier(std::string text, const std::string& barrier) {
  text.replace(text.find("BARRIER"), 7, barrier);
  return text;
}

TEST(barrier, every_form_makes_writes_visible_to_the_block) {
  for (const char* form : {"bar.sync 0", "barrier.sync 0", "barrier.sync.aligned 3",
                           "bar.sync 1, 256", "barrier.cta.sync.aligned 2, 256"}) {
    auto got = results(with_barrier(exchange, form), 256);
    for (std::uint32_t i = 0; i < 256; ++i) ASSERT_EQ(got[i], 255 - i) << form;
  }
}

TEST(barrier, a_last_warp_with_fewer_threads_counts_as_a_warp) {
  auto got = results(with_barrier(exchange, "bar.sync 0"), 70);
  for (std::uint32_t i = 0; i < 70; ++i) EXPECT_EQ(got[i], 69 - i);
  got = results(with_barrier(exchange, "bar.sync 0, 96"), 70);
  for (std::uint32_t i = 0; i < 70; ++i) EXPECT_EQ(got[i], 69 - i);
}

TEST(barrier, diverged_lanes_reconverge_before_an_aligned_barrier) {
  // The block after the barrier lies before the branch that lanes leave last.
  auto got = results(
      "st.shared.u32 [S], i; and.b32 t, i, 1; setp.eq.u32 p, t, 0; @p bra late;\n"
      "meet: bar.sync 0; bra go;\n"
      "late: mov.u32 u, 20; l: sub.u32 u, u, 1; setp.ne.u32 q, u, 0; @q bra l; bra meet;\n"
      "go: sub.u32 t, n, i; sub.u32 t, t, 1; mul.wide.u32 o, t, 4; mov.u64 S, s;\n"
      "add.u64 S, S, o; ld.shared.u32 r, [S];",
      128);
  for (std::uint32_t i = 0; i < 128; ++i) EXPECT_EQ(got[i], 127 - i);
}

TEST(barrier, the_single_thread_form_may_be_reached_in_parts) {
  auto got = results(
      "st.shared.u32 [S], i; and.b32 t, i, 1; setp.eq.u32 p, t, 0; @p bra even;\n"
      "barrier.sync 0; bra go; even: barrier.sync 0;\n"
      "go: sub.u32 t, n, i; sub.u32 t, t, 1; mul.wide.u32 o, t, 4; mov.u64 S, s;\n"
      "add.u64 S, S, o; ld.shared.u32 r, [S];",
      64);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(got[i], 63 - i);
}

TEST(barrier, all_waiting_parts_of_a_warp_continue) {
  // The barrier lies before the first instructions of two parts, so that three arrive in turn.
  auto got = results(
      "st.shared.u32 [S], i; and.b32 t, i, 3; setp.eq.u32 p, t, 1; setp.eq.u32 q, t, 2;\n"
      "@p bra one; @q bra two; meet: barrier.sync 0; bra go;\n"
      "one: mov.u32 u, 1; bra meet; two: mov.u32 u, 2; bra meet;\n"
      "go: sub.u32 t, n, i; sub.u32 t, t, 1; mul.wide.u32 o, t, 4; mov.u64 S, s;\n"
      "add.u64 S, S, o; ld.shared.u32 r, [S];",
      64);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(got[i], 63 - i);
}

TEST(barrier, producers_arrive_without_waiting) {
  // Warp 0 produces and continues; warp 1 waits for 64 threads.
  auto got = results(
      "setp.lt.u32 p, i, 32; @!p bra consumer;\n"
      "mul.lo.u32 t, i, 5; st.shared.u32 [S], t; bar.arrive 4, 64; mov.u32 r, 1; bra out;\n"
      "consumer: bar.sync 4, 64; ld.shared.u32 r, [S+-128];\nout:",
      64);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(got[i], i < 32 ? 1 : 5 * (i - 32));
}

TEST(barrier, reductions_count_and_combine_predicates_of_the_block) {
  auto count = results("setp.lt.u32 p, i, 45; bar.red.popc.u32 r, 0, p;", 100);
  auto negated = results("setp.lt.u32 p, i, 45; barrier.red.popc.aligned.u32 r, 0, 128, !p;", 100);
  auto all = results("setp.lt.u32 p, i, 100; bar.red.and.pred q, 0, p; selp.u32 r, 1, 0, q;", 100);
  auto not_all =
      results("setp.lt.u32 p, i, 99; bar.red.and.pred q, 0, p; selp.u32 r, 1, 0, q;", 100);
  auto any = results("setp.eq.u32 p, i, 99; bar.red.or.pred q, 0, p; selp.u32 r, 1, 0, q;", 100);
  auto none = results("setp.eq.u32 p, i, 100; bar.red.or.pred q, 0, p; selp.u32 r, 1, 0, q;", 100);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(count[i], 45u);
    EXPECT_EQ(negated[i], 55u);
    EXPECT_EQ(all[i], 1u);
    EXPECT_EQ(not_all[i], 0u);
    EXPECT_EQ(any[i], 1u);
    EXPECT_EQ(none[i], 0u);
  }
}

TEST(barrier, a_barrier_can_be_reused_immediately) {
  auto got = results(
      "mov.u32 r, 0; mov.u32 u, 0;\n"
      "l: st.shared.u32 [S], u; bar.sync 0; xor.b32 t, i, 32; mul.wide.u32 o, t, 4; mov.u64 S, s;\n"
      "add.u64 o, S, o; ld.shared.u32 t, [o]; add.u32 r, r, t; bar.sync 0;\n"
      "mul.wide.u32 o, i, 4; add.u64 S, S, o; add.u32 u, u, 1; setp.lt.u32 p, u, 10; @p bra l;",
      64);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(got[i], 45u);
}

TEST(barrier, without_the_check_parts_of_a_warp_may_use_different_aligned_barriers) {
  machine m;
  m.options.check_sync = false;
  m.load(head +
         "st.shared.u32 [S], i; and.b32 t, i, 1; setp.eq.u32 p, t, 0; @p bra even;\n"
         "bar.sync 0; bra go; even: bar.sync 0; go: mov.u32 r, 3;" +
         tail);
  memory::address io = m.upload(std::vector<std::uint32_t>(64, 0));
  auto result = m.run("k", {1}, {64}, io);
  EXPECT_FALSE(result.fault) << report::full_text(*result.fault);
}

}  // namespace
}  // namespace halfwarp::tests
