// SPDX-License-Identifier: Apache-2.0
// Instructions in which the lanes of a warp exchange values.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "machine.hpp"

namespace halfwarp::tests {
namespace {

using words = std::vector<std::uint32_t>;

// Runs `body` with one lane for each value; it has i (lane) and v (value) and computes r.
words results_of(const std::string& body, const words& values) {
  machine m;
  m.load(
      ".visible .entry k(.param .u64 io) { .reg .b64 a, o, V; .reg .b32 i, v, r, t, u, m; .reg "
      ".pred p, q;\n"
      "ld.param.u64 a, [io]; mov.u32 i, %laneid; mul.wide.u32 o, i, 4; add.u64 a, a, o;\n"
      "ld.global.u32 v, [a]; mov.u32 r, 12345;\n" +
      body + "\nst.global.u32 [a], r; ret; }");
  memory::address io = m.upload(values);
  auto result = m.run("k", {1}, {static_cast<std::uint32_t>(values.size())}, io);
  EXPECT_FALSE(result.fault) << report::full_text(*result.fault);
  return m.download<std::uint32_t>(io, values.size());
}

std::uint32_t input(std::uint32_t i) { return 100 + i * i; }

words results(const std::string& body, std::uint32_t lanes = 32) {
  words values(lanes);
  for (std::uint32_t i = 0; i < lanes; ++i) values[i] = input(i);
  return results_of(body, values);
}

TEST(warp_wide, shuffles_read_the_lane_of_the_mode) {
  for (std::uint32_t width : {32u, 16u, 8u, 2u}) {
    std::uint32_t segment = (32 - width) << 8;
    std::string up = std::to_string(segment), down = std::to_string(segment | 31);
    auto by_up = results("shfl.sync.up.b32 r|p, v, 3, " + up + ", -1; @!p add.u32 r, r, 1000000;");
    auto by_down =
        results("shfl.sync.down.b32 r|p, v, 5, " + down + ", -1; @!p add.u32 r, r, 1000000;");
    auto by_bfly =
        results("shfl.sync.bfly.b32 r|p, v, 6, " + down + ", -1; @!p add.u32 r, r, 1000000;");
    auto by_index =
        results("shfl.sync.idx.b32 r|p, v, 1, " + down + ", -1; @!p add.u32 r, r, 1000000;");
    for (std::uint32_t i = 0; i < 32; ++i) {
      std::uint32_t first = i / width * width, last = first + width - 1;
      auto expected = [&](bool is_inside, std::uint32_t source) {
        return is_inside ? input(source) : input(i) + 1000000;
      };
      EXPECT_EQ(by_up[i], expected(i - first >= 3, i - 3)) << width << " " << i;
      EXPECT_EQ(by_down[i], expected(i + 5 <= last, i + 5)) << width << " " << i;
      EXPECT_EQ(by_bfly[i], expected((i ^ 6) <= last, i ^ 6)) << width << " " << i;
      EXPECT_EQ(by_index[i], expected(true, first + 1 % width)) << width << " " << i;
    }
  }
}

TEST(warp_wide, votes_count_the_named_lanes) {
  auto ballot = results("setp.lt.u32 p, i, 9; vote.sync.ballot.b32 r, p, -1;");
  auto negated = results("setp.lt.u32 p, i, 9; vote.sync.ballot.b32 r, !p, -1;");
  auto all = results("setp.lt.u32 p, i, 32; vote.sync.all.pred q, p, -1; selp.u32 r, 1, 0, q;");
  auto not_all = results("setp.lt.u32 p, i, 31; vote.sync.all.pred q, p, -1; selp.u32 r, 1, 0, q;");
  auto any = results("setp.eq.u32 p, i, 31; vote.sync.any.pred q, p, -1; selp.u32 r, 1, 0, q;");
  auto none = results("setp.eq.u32 p, i, 99; vote.sync.any.pred q, p, -1; selp.u32 r, 1, 0, q;");
  auto uniform = results("setp.eq.u32 p, i, 99; vote.sync.uni.pred q, p, -1; selp.u32 r, 1, 0, q;");
  auto mixed = results("setp.eq.u32 p, i, 7; vote.sync.uni.pred q, p, -1; selp.u32 r, 1, 0, q;");
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(ballot[i], 0x1ffu);
    EXPECT_EQ(negated[i], ~0x1ffu);
    EXPECT_EQ(all[i], 1u);
    EXPECT_EQ(not_all[i], 0u);
    EXPECT_EQ(any[i], 1u);
    EXPECT_EQ(none[i], 0u);
    EXPECT_EQ(uniform[i], 1u);
    EXPECT_EQ(mixed[i], 0u);
  }
}

TEST(warp_wide, match_finds_lanes_with_equal_values) {
  auto any = results("rem.u32 t, i, 5; match.any.sync.b32 r, t, -1;");
  auto wide = results("rem.u32 t, i, 3; mul.wide.u32 V, t, -1; match.any.sync.b64 r, V, -1;");
  auto all = results("mov.u32 t, 4; match.all.sync.b32 r|p, t, -1; @!p mov.u32 r, 1;");
  auto not_all = results("match.all.sync.b32 r|p, i, -1; @!p add.u32 r, r, 77;");
  for (std::uint32_t i = 0; i < 32; ++i) {
    std::uint32_t of_5 = 0, of_3 = 0;
    for (std::uint32_t l = 0; l < 32; ++l) {
      of_5 |= static_cast<std::uint32_t>(l % 5 == i % 5) << l;
      of_3 |= static_cast<std::uint32_t>(l % 3 == i % 3) << l;
    }
    EXPECT_EQ(any[i], of_5);
    EXPECT_EQ(wide[i], of_3);
    EXPECT_EQ(all[i], ~0u);
    EXPECT_EQ(not_all[i], 77u);
  }
}

TEST(warp_wide, redux_combines_all_lanes) {
  std::uint32_t sum = 0, exclusive = 0, both = ~0u, either = 0;
  for (std::uint32_t i = 0; i < 32; ++i) {
    sum += input(i);
    exclusive ^= input(i);
    both &= input(i);
    either |= input(i);
  }
  EXPECT_EQ(results("redux.sync.add.u32 r, v, -1;")[3], sum);
  EXPECT_EQ(results("redux.sync.add.s32 r, v, -1;")[3], sum);
  EXPECT_EQ(results("redux.sync.min.u32 r, v, -1;")[3], input(0));
  EXPECT_EQ(results("redux.sync.max.u32 r, v, -1;")[3], input(31));
  EXPECT_EQ(results("neg.s32 v, v; redux.sync.min.s32 r, v, -1;")[3], 0 - input(31));
  EXPECT_EQ(results("neg.s32 v, v; redux.sync.max.s32 r, v, -1;")[3], 0 - input(0));
  EXPECT_EQ(results("redux.sync.xor.b32 r, v, -1;")[3], exclusive);
  EXPECT_EQ(results("redux.sync.and.b32 r, v, -1;")[3], both);
  EXPECT_EQ(results("redux.sync.or.b32 r, v, -1;")[3], either);
}

// An instruction, with its result for the values of the members and the value of one of them.
struct exchange {
  std::string text;
  std::function<std::uint32_t(const words& members, std::uint32_t own)> expected;
};

// A fold from left to right.
template <class T, class Operation>
std::function<std::uint32_t(const words&, std::uint32_t)> fold(Operation of) {
  return [of](const words& members, std::uint32_t) {
    T result = static_cast<T>(members[0]);
    for (std::size_t n = 1; n < members.size(); ++n)
      result = of(result, static_cast<T>(members[n]));
    return static_cast<std::uint32_t>(result);
  };
}

std::vector<exchange> reductions() {
  using u32 = std::uint32_t;
  using i32 = std::int32_t;
  const auto less = [](auto a, auto b) { return a < b ? a : b; };
  const auto greater = [](auto a, auto b) { return a < b ? b : a; };
  return {{"redux.sync.add.u32 r, v, m;", fold<u32>([](u32 a, u32 b) { return a + b; })},
          {"redux.sync.add.s32 r, v, m;", fold<u32>([](u32 a, u32 b) { return a + b; })},
          {"redux.sync.min.u32 r, v, m;", fold<u32>(less)},
          {"redux.sync.max.u32 r, v, m;", fold<u32>(greater)},
          {"redux.sync.min.s32 r, v, m;", fold<i32>(less)},
          {"redux.sync.max.s32 r, v, m;", fold<i32>(greater)},
          {"redux.sync.and.b32 r, v, m;", fold<u32>([](u32 a, u32 b) { return a & b; })},
          {"redux.sync.or.b32 r, v, m;", fold<u32>([](u32 a, u32 b) { return a | b; })},
          {"redux.sync.xor.b32 r, v, m;", fold<u32>([](u32 a, u32 b) { return a ^ b; })}};
}

// The predicate of a vote is true for a value that has its lowest bit.
std::vector<exchange> votes() {
  const auto trues = [](const words& all) {
    return std::ranges::count_if(all, [](std::uint32_t v) { return v % 2 == 1; });
  };
  const auto size = [](const words& all) { return static_cast<std::ptrdiff_t>(all.size()); };
  const std::string before = "and.b32 t, v, 1; setp.eq.u32 p, t, 1; vote.sync.";
  const std::string after = " q, p, m; selp.u32 r, 1, 0, q;";
  const auto vote = [&](const std::string& mode, auto holds) {
    return exchange{before + mode + after, [=](const words& all, std::uint32_t) {
                      return static_cast<std::uint32_t>(holds(all));
                    }};
  };
  return {vote("all.pred", [=](const words& all) { return trues(all) == size(all); }),
          vote("any.pred", [=](const words& all) { return trues(all) > 0; }),
          vote("uni.pred",
               [=](const words& all) { return trues(all) == 0 || trues(all) == size(all); }),
          {before + "ballot.b32 r, p, m; popc.b32 r, r;", [=](const words& all, std::uint32_t) {
             return static_cast<std::uint32_t>(trues(all));
           }}};
}

// The high half of the wide value differs between lanes, and the low half is zero.
std::vector<exchange> matches() {
  const auto equal = [](const words& all, std::uint32_t own) {
    return static_cast<std::uint32_t>(std::ranges::count(all, own));
  };
  const auto all_equal = [=](const words& all, std::uint32_t own) {
    return equal(all, own) == all.size() ? equal(all, own) + 100 : 0;
  };
  const std::string count = " popc.b32 r, r;", wide = "mov.b64 V, {0, v}; ";
  const std::string count_all = count + " @p add.u32 r, r, 100;";
  return {{"match.any.sync.b32 r, v, m;" + count, equal},
          {wide + "match.any.sync.b64 r, V, m;" + count, equal},
          {"match.all.sync.b32 r|p, v, m;" + count_all, all_equal},
          {wide + "match.all.sync.b64 r|p, V, m;" + count_all, all_equal}};
}

TEST(warp_wide, a_group_exchanges_the_values_of_its_members_alone) {
  words edges(32), equal(32, 0x80000001u), even(32, 6);
  const words special = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 5, 0xfffffffe, 0x80000001};
  for (std::uint32_t i = 0; i < 32; ++i) edges[i] = special[(i * 5 + i / 8) % 8];
  for (const auto& list : {reductions(), votes(), matches()}) {
    for (const exchange& each : list) {
      for (const words& values : {edges, equal, even}) {
        for (const std::uint32_t mask :
             {~0u, 1u, 1u << 31, 0xaaaaaaaau, 0x00ff00f0u, 0xfffffffeu}) {
          const std::string text = "mov.u32 m, " + std::to_string(mask) +
                                   "; shr.u32 t, m, i; and.b32 t, t, 1; setp.eq.u32 q, t, 0;\n"
                                   "@q bra out; " +
                                   each.text + "\nout:";
          words members;
          for (std::uint32_t i = 0; i < 32; ++i) {
            if (mask >> i & 1) members.push_back(values[i]);
          }
          const words got = results_of(text, values);
          for (std::uint32_t i = 0; i < 32; ++i) {
            const std::uint32_t expected =
                mask >> i & 1 ? each.expected(members, values[i]) : 12345;
            EXPECT_EQ(got[i], expected) << each.text << " lane " << i << " of " << mask;
          }
        }
      }
    }
  }
}

TEST(warp_wide, groups_with_different_masks_are_independent_in_one_instruction) {
  auto got = results(
      "and.b32 t, i, 1; setp.eq.u32 p, t, 0; selp.b32 m, 0x55555555, 0xaaaaaaaa, p;\n"
      "redux.sync.add.u32 r, i, m;");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(got[i], i % 2 ? 256u : 240u);
}

TEST(warp_wide, the_mask_may_be_the_result_register) {
  auto got = results("rem.u32 t, i, 4; match.any.sync.b32 r, t, -1; redux.sync.add.u32 r, i, r;");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(got[i], 112 + 8 * (i % 4));
}

TEST(warp_wide, members_that_arrive_later_are_waited_for) {
  // Odd lanes run a loop first; then all lanes meet at the same instruction.
  auto got = results(
      "and.b32 t, i, 1; setp.eq.u32 p, t, 0; @p bra meet; mov.u32 u, 50;\n"
      "l: sub.u32 u, u, 1; setp.ne.u32 q, u, 0; @q bra l;\n"
      "meet: shfl.sync.idx.b32 r, v, 1, 31, -1;");
  for (int i = 0; i < 32; ++i) EXPECT_EQ(got[i], input(1));
}

TEST(warp_wide, members_may_meet_at_different_instructions_of_one_kind) {
  auto got = results(
      "and.b32 t, i, 1; setp.eq.u32 p, t, 0; add.u32 u, v, 7; @p bra even;\n"
      "shfl.sync.bfly.b32 r, u, 1, 31, -1; bra out;\n"
      "even: shfl.sync.bfly.b32 r, v, 1, 31, -1;\nout:");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(got[i], input(i ^ 1) + (i % 2 ? 0 : 7));
}

TEST(warp_wide, a_warp_barrier_orders_memory_of_its_lanes) {
  auto got = results(
      "and.b32 t, i, 1; setp.eq.u32 p, t, 0; @p bra even;\n"
      "mul.lo.u32 t, i, 3; st.global.u32 [a], t; bar.warp.sync -1; bra out;\n"
      "even: bar.warp.sync -1; ld.volatile.global.u32 r, [a+4]; \nout: @!p mov.u32 r, i;");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(got[i], i % 2 ? i : 3 * (i + 1));
}

TEST(warp_wide, lanes_that_the_block_lacks_are_not_waited_for) {
  auto got = results("redux.sync.add.u32 r, i, -1;", 20);
  for (std::uint32_t i = 0; i < 20; ++i) EXPECT_EQ(got[i], 190u);
}

TEST(warp_wide, activemask_names_the_lanes_that_execute_together) {
  auto got = results("setp.lt.u32 p, i, 6; @p activemask.b32 r; @!p mov.u32 r, 5;");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(got[i], i < 6 ? 0x3fu : 5u);
}

TEST(warp_wide, elect_chooses_one_leader) {
  auto got = results("elect.sync t|p, -1; selp.u32 r, 100, 0, p; add.u32 r, r, t;");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(got[i], i == 0 ? 100u : 0u);
}

TEST(warp_wide, members_that_exited_are_left_out) {
  machine m;
  m.load(
      ".visible .entry k(.param .u64 io) { .reg .b64 a; .reg .b32 i, r; .reg .pred p;\n"
      "ld.param.u64 a, [io]; mov.u32 i, %laneid; setp.gt.u32 p, i, 9; @p exit;\n"
      "redux.sync.add.u32 r, i, -1; st.global.u32 [a], r; ret; }");
  for (bool check : {true, false}) {
    m.options.check_sync = check;
    memory::address io = m.upload<std::uint32_t>({0});
    auto result = m.run("k", {1}, {32}, io);
    ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
    EXPECT_EQ(*m.view<std::uint32_t>(io), 45u);
  }
}

TEST(warp_wide, special_registers_describe_the_lane) {
  EXPECT_EQ(results("mov.u32 r, %lanemask_eq;")[7], 1u << 7);
  EXPECT_EQ(results("mov.u32 r, %lanemask_lt;")[7], 0x7fu);
  EXPECT_EQ(results("mov.u32 r, %lanemask_le;")[7], 0xffu);
  EXPECT_EQ(results("mov.u32 r, %lanemask_gt;")[7], ~0xffu);
  EXPECT_EQ(results("mov.u32 r, %lanemask_ge;")[7], ~0x7fu);
  EXPECT_EQ(results("mov.u32 r, %lanemask_ge;")[31], 1u << 31);
  EXPECT_EQ(results("add.u32 r, %laneid, 1;")[31], 32u);
}

}  // namespace
}  // namespace halfwarp::tests
