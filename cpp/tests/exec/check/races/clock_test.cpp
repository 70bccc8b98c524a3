// SPDX-License-Identifier: Apache-2.0
// Tests the clocks of threads, the lists of readers and the numbers of segments.
#include <gtest/gtest.h>

#include "emulator/exec/check/order.hpp"

namespace halfwarp::tests {
namespace {

using namespace emulator::exec;
using namespace emulator::exec::race;

cell access_of(std::uint32_t segment, std::uint32_t lane, scope s = scope::weak,
               cell_kind kind = cell_kind::one) {
  return {segment, kind, s, lane, 5};
}

// Lane 3 of warp 1 of block 2 released.
const known_lane released{1, 3, 10, 20, 30, 40, scope::gpu};

TEST(clocks, know_what_a_release_covers) {
  race::clock c;
  EXPECT_TRUE(c.is_empty());
  c.add(2, released);
  EXPECT_FALSE(c.is_empty());
  EXPECT_TRUE(c.is_ordered(2, 7, access_of(9, 0))) << "of any warp, before its barrier";
  EXPECT_FALSE(c.is_ordered(2, 7, access_of(10, 0)));
  EXPECT_TRUE(c.is_ordered(2, 1, access_of(19, 0))) << "of the warp itself";
  EXPECT_FALSE(c.is_ordered(2, 1, access_of(20, 0)));
  EXPECT_TRUE(c.is_ordered(2, 1, access_of(30, 3))) << "of the lane itself";
  EXPECT_FALSE(c.is_ordered(2, 1, access_of(31, 3)));
  EXPECT_FALSE(c.is_ordered(2, 1, access_of(30, 4)));
  EXPECT_TRUE(c.is_ordered(2, 1, access_of(40, 3, scope::cta))) << "a strong access";
  EXPECT_FALSE(c.is_ordered(2, 1, access_of(41, 3, scope::cta)));
  EXPECT_FALSE(c.is_ordered(2, 1, access_of(30, low_half)));
  EXPECT_FALSE(c.is_ordered(2, 1, access_of(15, 3, scope::weak, cell_kind::of_block)));
  EXPECT_TRUE(c.is_ordered(2, 1, access_of(9, 3, scope::weak, cell_kind::of_block)));
  for (const std::uint32_t block : {1u, 3u}) EXPECT_FALSE(c.is_ordered(block, 1, access_of(1, 3)));
}

TEST(clocks, know_the_lanes_that_an_access_names) {
  race::clock c;
  for (std::uint32_t lane = 0; lane < 16; ++lane) c.add(0, {0, lane, 0, 0, 8, 9, scope::gpu});
  EXPECT_TRUE(c.is_ordered(0, 0, access_of(8, low_half)));
  EXPECT_TRUE(c.is_ordered(0, 0, access_of(9, low_half, scope::gpu)));
  EXPECT_FALSE(c.is_ordered(0, 0, access_of(8, high_half)));
  EXPECT_FALSE(c.is_ordered(0, 0, access_of(8, many_lanes)));
  for (std::uint32_t lane = 16; lane < 32; ++lane) c.add(0, {0, lane, 0, 0, 8, 9, scope::gpu});
  EXPECT_TRUE(c.is_ordered(0, 0, access_of(8, high_half)));
  EXPECT_TRUE(c.is_ordered(0, 0, access_of(8, many_lanes)));
  EXPECT_FALSE(c.is_ordered(0, 0, access_of(9, many_lanes)));
}

TEST(clocks, join_to_the_newest_of_both) {
  const known_lane other{1, 4, 12, 15, 50, 60, scope::cta};
  for (const bool is_reverse : {false, true}) {
    race::clock a, b;
    (is_reverse ? b : a).add(2, released);
    (is_reverse ? a : b).add(2, other);
    a.join(b);
    EXPECT_TRUE(a.is_ordered(2, 7, access_of(11, 0)));
    EXPECT_FALSE(a.is_ordered(2, 7, access_of(12, 0)));
    EXPECT_TRUE(a.is_ordered(2, 1, access_of(19, 0)));
    EXPECT_FALSE(a.is_ordered(2, 1, access_of(20, 0)));
    EXPECT_TRUE(a.is_ordered(2, 1, access_of(30, 3)));
    EXPECT_FALSE(a.is_ordered(2, 1, access_of(31, 3)));
    EXPECT_TRUE(a.is_ordered(2, 1, access_of(50, 4)));
    EXPECT_FALSE(a.is_ordered(2, 1, access_of(51, 4)));
    EXPECT_TRUE(a.is_ordered(2, 1, access_of(60, 4, scope::gpu)));
    EXPECT_FALSE(a.is_ordered(2, 1, access_of(61, 4, scope::gpu)));
  }
}

// A release and an acquire order threads within the smaller of their scopes.
TEST(clocks, join_within_the_scopes_of_both_ends) {
  const auto is_joined = [](scope release, scope acquire, std::uint32_t block) {
    race::clock from, to;
    from.add(2, {1, 3, 10, 20, 30, 40, release});
    to.join_within(from, acquire, block);
    EXPECT_EQ(to.is_empty(), !to.is_ordered(2, 1, access_of(30, 3)));
    return !to.is_empty();
  };
  for (const scope wide : {scope::gpu, scope::sys}) {
    EXPECT_TRUE(is_joined(wide, wide, 5));
    EXPECT_TRUE(is_joined(scope::cta, wide, 2));
    EXPECT_TRUE(is_joined(wide, scope::cta, 2));
    EXPECT_FALSE(is_joined(scope::cta, wide, 5));
    EXPECT_FALSE(is_joined(wide, scope::cta, 5));
    EXPECT_FALSE(is_joined(scope::weak, wide, 2));
    EXPECT_FALSE(is_joined(wide, scope::weak, 2));
  }
}

// A thread passes knowledge on with the scope of its own acquire.
TEST(clocks, pass_on_the_scope_of_an_acquire) {
  race::clock from, within, last;
  from.add(2, released);
  within.join_within(from, scope::cta, 2);
  last.join_within(within, scope::gpu, 5);
  EXPECT_TRUE(last.is_empty());
  within.join_within(from, scope::gpu, 2);
  last.join_within(within, scope::gpu, 5);
  EXPECT_FALSE(last.is_empty());
}

TEST(clocks, of_more_than_4096_warps_know_all) {
  const auto add_warps = [](race::clock& to, std::uint32_t first, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      to.add(first + i, {0, 0, 1, 1, 1, 1, scope::gpu});
    }
  };
  const auto knows_all = [](const race::clock& c) {
    return c.is_ordered(1u << 20, 0, access_of(~0u, 0));
  };
  race::clock added, other, joined, within;
  add_warps(added, 0, 4096);
  joined = within = added;
  EXPECT_FALSE(knows_all(added));
  add_warps(other, 4096, 1);
  joined.join(other);
  EXPECT_TRUE(knows_all(joined));
  within.join_within(other, scope::cta, 0);
  EXPECT_FALSE(knows_all(within)) << "of another block";
  within.join_within(other, scope::gpu, 0);
  EXPECT_TRUE(knows_all(within));
  add_warps(added, 4096, 1);
  EXPECT_TRUE(knows_all(added));
  EXPECT_FALSE(added.is_empty());
  race::clock next, last;
  next.join(added);
  last.join_within(added, scope::gpu, 0);
  EXPECT_TRUE(knows_all(next));
  EXPECT_TRUE(knows_all(last));
}

// ---- readers

std::vector<cell> cells_of(const reader_sets& sets, cell readers) {
  std::vector<cell> all;
  sets.each(readers, [&](cell each) { all.push_back(each); });
  std::ranges::sort(all, {}, &cell::bits);
  return all;
}

TEST(readers, are_listed_once_each) {
  reader_sets sets;
  const cell a = access_of(3, 1, scope::gpu), b = access_of(9, 2, scope::cta), c = access_of(5, 4);
  EXPECT_EQ(cells_of(sets, a), std::vector{a});
  const cell two = sets.with(a, b);
  EXPECT_EQ(two.kind(), cell_kind::set);
  EXPECT_EQ(two.segment(), 9u);
  EXPECT_EQ(two.access_scope(), scope::cta);
  EXPECT_EQ(cells_of(sets, two), (std::vector{a, b}));
  EXPECT_EQ(sets.with(a, b), two) << "created once";
  const cell three = sets.with(two, c);
  EXPECT_EQ(three.segment(), 9u);
  EXPECT_EQ(three.access_scope(), scope::weak);
  EXPECT_EQ(cells_of(sets, three), (std::vector{a, c, b}));
  EXPECT_EQ(cells_of(sets, two), (std::vector{a, b})) << "the shorter list is unchanged";
  for (const cell each : {a, b, c}) EXPECT_EQ(sets.with(three, each), three);
  EXPECT_EQ(sets.with(a, a.with_site(8)), a) << "the site makes no other reader";
}

TEST(readers, are_of_the_grid_when_there_are_many) {
  reader_sets sets;
  cell readers = access_of(100, 0);
  for (std::uint32_t lane = 1; lane < 32; ++lane) {
    readers = sets.with(readers, access_of(100 + lane, lane));
    ASSERT_EQ(readers.kind(), cell_kind::set) << lane;
    ASSERT_EQ(cells_of(sets, readers).size(), lane + 1);
  }
  const cell common = sets.with(readers, access_of(500, 1, scope::weak).with_site(7));
  EXPECT_EQ(common.kind(), cell_kind::of_grid);
  EXPECT_EQ(common.segment(), 500u);
  EXPECT_EQ(common.site(), 7u);
}

// ---- segments

TEST(segments, name_their_block_and_warp) {
  for (const std::uint32_t warps : {1u, 2u, 3u, 4u, 5u, 31u, 32u}) {
    phases all{warps};
    std::uint32_t last = 0;
    for (const std::uint32_t block : {0u, 7u, 0u, 3u}) {
      const std::uint32_t first = all.next(block);
      EXPECT_GE(first, last == 0 ? all.first() : last + warps);
      EXPECT_GE(first, all.first());
      for (std::uint32_t warp = 0; warp < warps; ++warp) {
        EXPECT_EQ(all.block_of(first + warp), block);
        EXPECT_EQ(all.warp_of(first + warp), warp);
      }
      last = first;
    }
    EXPECT_EQ(all.first() % all.first(), 0u);
    EXPECT_GE(all.first(), warps);
    EXPECT_LT(all.first(), 2 * warps) << "the least power of two";
  }
}

TEST(cells, have_their_fields) {
  for (const std::uint32_t segment : {0u, 1u, ~0u}) {
    for (const auto kind : {cell_kind::one, cell_kind::of_grid, cell_kind::words}) {
      for (const scope s : {scope::weak, scope::cta, scope::gpu, scope::sys}) {
        for (const std::uint32_t lane : {0u, 31u, low_half, high_half, many_lanes}) {
          for (const std::uint32_t number : {0u, 9u, max_site}) {
            const cell each{segment, kind, s, lane, number};
            EXPECT_EQ(each.segment(), segment);
            EXPECT_EQ(each.kind(), kind);
            EXPECT_EQ(each.access_scope(), s);
            EXPECT_EQ(each.lane(), lane);
            EXPECT_EQ(each.site(), number);
            EXPECT_EQ(each.with_lane(17), (cell{segment, kind, s, 17, number}));
            EXPECT_EQ(each.with_site(17), (cell{segment, kind, s, lane, 17}));
            EXPECT_EQ(each.as_run(), (cell{segment, cell_kind::run, s, lane, number}));
            EXPECT_EQ(each.of_word(3), each);
            EXPECT_TRUE(each.is_same_access(each.with_site(44)));
            EXPECT_FALSE(each.is_same_access(each.with_lane(16)));
          }
        }
      }
    }
  }
  EXPECT_EQ((cell{1, cell_kind::one, scope::cta, 2, max_site + 1}).site(), max_site);
  EXPECT_EQ((cell{1, cell_kind::one, scope::cta, 2, 1}).with_site(max_site + 9).site(), max_site);
  const cell run{4, cell_kind::run, scope::weak, 16, 6};
  EXPECT_EQ(run.of_word(3), (cell{4, cell_kind::one, scope::weak, 19, 6}));
  const cell set = cell::of_set(8, scope::gpu, (1u << 27) - 2);
  EXPECT_EQ(set.node(), (1u << 27) - 2);
  EXPECT_EQ(set.kind(), cell_kind::set);
  EXPECT_EQ(set.access_scope(), scope::gpu);
  EXPECT_EQ(set.segment(), 8u);
  EXPECT_EQ(lanes_named(0), 1u);
  EXPECT_EQ(lanes_named(31), 0x8000'0000u);
  EXPECT_EQ(lanes_named(low_half), 0xffffu);
  EXPECT_EQ(lanes_named(high_half), 0xffff'0000u);
  EXPECT_EQ(lanes_named(many_lanes), ~0u);
}

}  // namespace
}  // namespace halfwarp::tests
