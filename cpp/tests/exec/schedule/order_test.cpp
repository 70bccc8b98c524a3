// SPDX-License-Identifier: Apache-2.0
// The order and the numbers of blocks and warps, fresh memory, clusters, and blocks that are stuck.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <numeric>

#include "../machine.hpp"
#include "emulator/exec/schedule/order.hpp"

namespace halfwarp::tests {
namespace {

using report::fault_kind;
using numbers = std::vector<std::uint32_t>;

// Limits the memory that the process may map, as some hosts let it map more than they have.
class address_limit {
 public:
  explicit address_limit(std::uint64_t further) {
    std::uint64_t pages = 0;
    std::ifstream{"/proc/self/statm"} >> pages;
    EXPECT_EQ(getrlimit(RLIMIT_AS, &before_), 0);
    rlimit lower = before_;
    lower.rlim_cur = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + further;
    EXPECT_EQ(setrlimit(RLIMIT_AS, &lower), 0);
  }
  address_limit(const address_limit&) = delete;
  ~address_limit() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

class schedule : public testing::Test {
 protected:
  // Runs a kernel with [g] in global memory, the thread in t and the block in b.
  exec::outcome run(const std::string& body, exec::extent grid, exec::extent block) {
    m.load(
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 io) {\n"
        ".shared .align 16 .b8 s[64]; .reg .b64 g, a, v, w; .reg .b32 t, b, n, r<6>; .reg .pred p, "
        "q;\nld.param.u64 g, [io]; mov.u32 t, s; mov.u32 t, %tid.x; mov.u32 b, %ctaid.x;\n" +
        body + "\nret; }");
    io = m.upload(numbers(count, 0));
    return m.run("k", grid, block, io);
  }
  numbers results(const std::string& body, std::size_t size, exec::extent grid,
                  exec::extent block) {
    const auto fault = run(body, grid, block).fault;
    EXPECT_FALSE(fault) << report::full_text(*fault);
    return m.download<std::uint32_t>(io, size);
  }
  report::fault fault_of(const std::string& body, exec::extent grid, exec::extent block) {
    const auto fault = run(body, grid, block).fault;
    EXPECT_TRUE(fault) << body;
    return fault.value_or(report::fault{});
  }

  static constexpr std::size_t count = 4096;
  machine m;
  memory::address io = 0;
};

// ---- order

// The values come from a program in Python: a report's seed gives the same order forever.
TEST_F(schedule, each_seed_has_one_order) {
  const auto order = [](std::uint64_t size, std::uint64_t seed, std::uint64_t salt) {
    numbers places;
    for (std::uint64_t i = 0; i < size; ++i) {
      places.push_back(static_cast<std::uint32_t>(exec::shuffled_index(i, size, seed, salt)));
    }
    return places;
  };
  EXPECT_EQ(order(1, 5, 0), numbers{0});
  EXPECT_EQ(order(2, 1, 0), (numbers{1, 0}));
  EXPECT_EQ(order(5, 1, 0), (numbers{0, 4, 1, 2, 3}));
  EXPECT_EQ(order(8, 7, 2), (numbers{1, 2, 3, 0, 7, 4, 5, 6}));
  EXPECT_EQ(order(12, 3, 1), (numbers{4, 3, 0, 7, 9, 5, 11, 1, 10, 6, 8, 2}));
  EXPECT_EQ(order(17, 9, 9), (numbers{4, 12, 8, 0, 10, 7, 14, 1, 2, 3, 16, 11, 15, 6, 9, 5, 13}));
  EXPECT_EQ(order(4, 0, 9), (numbers{0, 1, 2, 3}));
  EXPECT_EQ(exec::shuffled_index(0, 1000003, 42, 6), 65507u);
  EXPECT_EQ(exec::shuffled_index(999999, 1000003, 42, 6), 587923u);
  EXPECT_EQ(exec::shuffled_index(12345678901, 1ull << 40, (1ull << 63) + 5, 77), 1049877391033u);
}

const std::string ticket =
    "atom.global.add.u32 n, [g], 1; add.u32 n, n, 1; mul.wide.u32 v, n, 4; add.u64 v, v, g;\n";

TEST_F(schedule, blocks_and_warps_start_in_the_order_of_the_seed) {
  for (const std::uint64_t seed : {0, 3, 8}) {
    for (const bool is_shuffled : {true, false}) {
      m.options.seed = seed;
      m.options.is_shuffled = is_shuffled;
      const std::uint64_t used = is_shuffled ? seed : 0;
      const numbers blocks = results(ticket + "st.global.u32 [v], b;", 21, {20}, {1});
      const numbers warps =
          results("and.b32 r0, t, 31; setp.ne.u32 p, r0, 0; @p exit; shr.u32 t, t, 5;" + ticket +
                      "st.global.u32 [v], t;",
                  9, {1}, {256});
      for (std::uint64_t i = 0; i < 20; ++i) {
        EXPECT_EQ(blocks[i + 1], exec::shuffled_index(i, 20, used, 0)) << seed;
      }
      for (std::uint64_t i = 0; i < 8; ++i) {
        EXPECT_EQ(warps[i + 1], exec::shuffled_index(i, 8, used, 0)) << seed;
      }
    }
  }
}

TEST_F(schedule, clusters_divide_the_grid) {
  const exec::extent size{2, 3, 2}, grid{4, 6, 4};
  exec::launch_request request;
  request.grid = grid;
  request.cluster = size;
  for (std::uint64_t number = 0; number < 8; ++number) {
    const auto x = static_cast<std::uint32_t>(number % 2),
               y = static_cast<std::uint32_t>(number / 2 % 2);
    EXPECT_EQ(
        exec::first_block(request, number),
        (std::array<std::uint32_t, 3>{2 * x, 3 * y, 2 * static_cast<std::uint32_t>(number / 4)}));
  }
  m.cluster = size;
  const numbers ranks = results(
      "mov.u32 r1, %ctaid.y; mov.u32 r2, %ctaid.z; mad.lo.u32 r1, r2, 6, r1; mad.lo.u32 b, r1, 4, "
      "b; mul.wide.u32 v, b, 8; add.u64 v, v, g; mov.u32 n, %cluster_ctarank;"
      "mov.u32 r0, %clusterid.x; mov.u32 r1, %clusterid.y; mov.u32 r2, %clusterid.z;"
      "mad.lo.u32 r0, r1, 10, r0; mad.lo.u32 r0, r2, 100, r0; st.global.v2.u32 [v], {n, r0};",
      2 * 96, grid, {1});
  for (std::uint32_t z = 0; z < 4; ++z) {
    for (std::uint32_t y = 0; y < 6; ++y) {
      for (std::uint32_t x = 0; x < 4; ++x) {
        const std::size_t block = x + 4 * (y + 6 * z);
        EXPECT_EQ(ranks[2 * block], x % 2 + 2 * (y % 3 + 3 * (z % 2))) << block;
        EXPECT_EQ(ranks[2 * block + 1], x / 2 + 10 * (y / 3) + 100 * (z / 2)) << block;
      }
    }
  }
}

// ---- fresh memory

// Shared and local memory of a block begin with different patterns, which depend on the seed.
TEST_F(schedule, memory_of_a_block_has_a_fresh_pattern) {
  m.load(
      ".version 8.0\n.target sm_90\n.address_size 64\n.extern .shared .align 16 .b8 s[];"
      ".visible .entry k(.param .u64 io) { .local .align 16 .b8 l[9216]; .reg .b64 g, a, v; .reg "
      ".b32 t, b, n, at; .reg .pred p; ld.param.u64 g, [io]; mov.u32 t, s; mov.u64 a, l;"
      "mov.u32 b, %ctaid.x; mul.lo.u32 b, b, 18432; cvt.u64.u32 v, b; add.u64 g, g, v;"
      "mov.u32 b, 0; A: add.u32 at, t, b; ld.shared.u32 n, [at]; cvt.u64.u32 v, b; add.u64 v, v, g;"
      "st.global.u32 [v], n; cvt.u64.u32 v, b; add.u64 v, v, a; ld.local.u32 n, [v];"
      "cvt.u64.u32 v, b; add.u64 v, v, g; st.global.u32 [v+9216], n; add.u32 b, b, 4;"
      "setp.lt.u32 p, b, 9216; @p bra A; ret; }");
  m.dynamic_shared_bytes = 9216;
  m.options.seed = 11;
  io = m.allocate(3 * 18432);
  ASSERT_FALSE(m.run("k", {3}, {1}, io).fault);
  const auto words = m.download<std::uint32_t>(io, 3 * 4608);
  for (std::uint32_t block = 0; block < 3; ++block) {
    const std::uint32_t shared = memory::fresh_pattern(11, 2 * block),
                        local = memory::fresh_pattern(11, 2 * block + 1);
    for (std::size_t n = 0; n < 2304; ++n) {
      ASSERT_EQ(words[4608 * block + n], shared) << block << " " << n;
      ASSERT_EQ(words[4608 * block + 2304 + n], local) << block << " " << n;
    }
  }
}

// ---- the launch as a whole

TEST_F(schedule, a_stack_beyond_the_memory_of_the_host_is_a_fault) {
  m.options.stack_bytes = 0xffff'fe00;
  const address_limit limit{std::uint64_t{1} << 40};
  const auto fault = fault_of("alloca.u64 a, 16, 8; st.local.u32 [a], 1;", {1}, {1024});
  EXPECT_EQ(fault.kind, fault_kind::stack_overflow);
  EXPECT_EQ(fault.detail,
            "out of memory for the blocks, each thread with 4294966784 bytes of local memory");
}

TEST_F(schedule, a_step_limit_counts_all_threads) {
  const std::string loop = "A: add.u32 n, n, 1; bra A;";
  m.options.step_limit = 100'000;
  const auto fault = fault_of(loop, {1}, {64});
  EXPECT_EQ(fault.kind, fault_kind::step_limit);
  EXPECT_EQ(fault.detail, "more than 100000 instructions were executed by all threads");
  EXPECT_EQ(fault.ptx_line, 7u);
  m.options.step_limit = 3 * 40 * 5;  // instructions of all threads
  EXPECT_FALSE(run("", {3}, {40}).fault);
  m.options.step_limit -= 1;
  EXPECT_EQ(fault_of("", {3}, {40}).kind, fault_kind::step_limit);
}

TEST_F(schedule, a_long_run_is_told_once) {
  std::uint32_t calls = 0;
  m.options.on_long_run = [&] {
    ++calls;
    *m.view<std::uint32_t>(io) = 1;
  };
  EXPECT_FALSE(run("A: ld.volatile.global.u32 n, [g]; setp.eq.u32 p, n, 0; @p bra A;\n"
                   "mov.u32 n, 0; B: add.u32 n, n, 1; setp.lt.u32 p, n, 300000; @p bra B;",
                   {1}, {32})
                   .fault);
  EXPECT_EQ(calls, 1u);
  EXPECT_FALSE(run("", {300}, {32}).fault) << "each block ends soon";
  EXPECT_EQ(calls, 1u);
}

// ---- blocks that are stuck

const std::string hint = "every thread that a barrier or a mask includes must reach it";

TEST_F(schedule, a_barrier_that_some_warps_skip_is_a_deadlock) {
  const auto fault = fault_of(
      "setp.lt.u32 p, t, 32; @p bra A;\nbar.sync 1, 96; bra E;\nA: bar.sync 2, 64; E:", {1}, {64});
  EXPECT_EQ(fault.kind, fault_kind::deadlock);
  EXPECT_EQ(fault.detail,
            "warp 0 lanes 0xffffffff waits at the barrier on PTX line 9; "
            "warp 1 lanes 0xffffffff waits at the barrier on PTX line 8");
  EXPECT_EQ(fault.other_threads, 31u);
  EXPECT_EQ(fault.hint, hint);
}

TEST_F(schedule, at_most_eight_groups_are_listed) {
  const auto detail_of = [&](std::uint32_t warps) {
    const std::string count_of_threads = std::to_string(32 * warps + 32);
    return fault_of("bar.sync 1, " + count_of_threads + ";", {1}, {32 * warps}).detail;
  };
  EXPECT_EQ(detail_of(8).find("more"), std::string::npos);
  EXPECT_NE(detail_of(8).find("warp 7 lanes"), std::string::npos);
  EXPECT_EQ(detail_of(9).find("warp 8 lanes"), std::string::npos);
  EXPECT_NE(detail_of(9).find("; and 1 more groups"), std::string::npos);
  EXPECT_NE(detail_of(12).find("; and 4 more groups"), std::string::npos);
}

TEST_F(schedule, the_most_specific_wait_names_the_fault) {
  const std::string branch = "setp.lt.u32 p, t, 8; @p bra A;\n";
  auto fault = fault_of(branch + "bar.sync 0; bra E;\nA: bar.sync 0; E:", {1}, {32});
  EXPECT_EQ(fault.kind, fault_kind::divergent_barrier);
  EXPECT_EQ(fault.detail,
            "warp 0 lanes 0xffffff00 waits for the other threads of its warp before the barrier on "
            "PTX line 8; warp 0 lanes 0xff waits for the other threads of its warp before the "
            "barrier on PTX line 9");
  fault = fault_of(branch + "barrier.sync 0; bra E;\nA: bar.warp.sync 0xffff; E:", {1}, {32});
  EXPECT_EQ(fault.kind, fault_kind::member_mask);
  EXPECT_NE(fault.detail.find("lanes 0xff waits for the other threads of its mask on PTX line 9"),
            std::string::npos)
      << fault.detail;
  EXPECT_EQ(fault.other_threads, 7u);
}

// Block 1 notices that block 0 cannot arrive.
TEST_F(schedule, a_block_that_waits_for_a_stuck_cluster_is_a_deadlock) {
  m.cluster = {2};
  const auto fault = fault_of(
      "setp.eq.u32 p, b, 1; @p bra A; setp.lt.u32 p, t, 32; @p bra A;\nbar.sync 1, 64; bra E;\n"
      "A: barrier.cluster.arrive; barrier.cluster.wait; E:",
      {2}, {64});
  EXPECT_EQ(fault.kind, fault_kind::deadlock);
  EXPECT_EQ(fault.block_index[0], 1u);
  EXPECT_EQ(fault.detail,
            "warp 0 lanes 0xffffffff waits for the other blocks of its cluster on PTX line 9; "
            "warp 1 lanes 0xffffffff waits for the other blocks of its cluster on PTX line 9");
}

TEST_F(schedule, there_are_sixteen_barriers) {
  EXPECT_FALSE(run("bar.sync 15;", {1}, {64}).fault);
  EXPECT_FALSE(run("mov.u32 n, 15; bar.sync n;", {1}, {64}).fault);
  for (const std::string form : {"bar.sync n;", "barrier.sync n;", "bar.sync n, 64;"}) {
    const auto fault = fault_of("mov.u32 n, 16; " + form, {1}, {64});
    EXPECT_EQ(fault.kind, fault_kind::divergent_barrier);
    EXPECT_EQ(fault.detail, "there is no barrier 16");
  }
}

// A barrier with a count opens while the threads at another one wait on.
TEST_F(schedule, only_the_barrier_that_is_complete_opens) {
  const numbers seen = results(
      "and.b32 n, t, 1; setp.eq.u32 q, n, 1; setp.ge.u32 p, t, 32; @p bra B;\n"
      "@q barrier.sync 1, 32; @!q barrier.sync 2, 32; bra E;\n"
      "B: @q exit; barrier.sync 2, 32; barrier.sync 1, 32;\n"
      "E: red.global.add.u32 [g], 1;",
      1, {1}, {64});
  EXPECT_EQ(seen[0], 48u);
}

// ---- clusters

const std::string meet = "barrier.cluster.arrive; barrier.cluster.wait;\n";

TEST_F(schedule, a_cluster_barrier_has_arrive_and_wait_in_turn) {
  m.cluster = {2};
  auto fault = fault_of("setp.lt.u32 p, t, 5; @p barrier.cluster.wait;", {2}, {32});
  EXPECT_EQ(fault.kind, fault_kind::divergent_barrier);
  EXPECT_EQ(fault.detail, "a wait for the barrier of the cluster without an arrival before");
  EXPECT_EQ(fault.other_threads, 4u);
  fault = fault_of(
      "barrier.cluster.arrive; setp.gt.u32 p, t, 9; @p barrier.cluster.arrive; "
      "barrier.cluster.wait;",
      {2}, {32});
  EXPECT_EQ(fault.detail, "a second arrival at the barrier of the cluster without a wait");
  EXPECT_EQ(fault.thread[0], 10u);
  EXPECT_EQ(fault.other_threads, 21u);
  EXPECT_EQ(fault.hint, "each thread executes arrive and wait in turn");
}

// Lanes 0 to 7 arrive twice before the others wait for the first phase.
TEST_F(schedule, lanes_of_a_warp_wait_for_their_own_phase) {
  m.cluster = {2};
  const std::string add = "red.global.add.u32 [g], 1;\n";
  const numbers seen = results(
      "barrier.cluster.arrive; setp.lt.u32 p, t, 8; @!p bra A;\nbarrier.cluster.wait; "
      "barrier.cluster.arrive;\nA: barrier.cluster.wait;" +
          add + "@p bra E; barrier.cluster.arrive; barrier.cluster.wait;\n" + add + "E: ",
      1, {2}, {32});
  EXPECT_EQ(seen[0], 2u * (32 + 24));
}

TEST_F(schedule, a_cluster_barrier_counts_the_live_threads) {
  m.cluster = {2};
  EXPECT_FALSE(
      run("setp.eq.u32 p, b, 1; @p exit; setp.gt.u32 p, t, 3; @p exit;" + meet + meet, {2}, {64})
          .fault);
  EXPECT_FALSE(
      run("barrier.cluster.arrive; setp.gt.u32 p, t, 3; @p exit; barrier.cluster.wait;" + meet, {2},
          {64})
          .fault);
}

// Runs in a cluster of 2; lane 0 of block 0 executes the body, and r0 is the address of s there.
std::string in_first_block(const std::string& body) {
  return "mov.u32 r0, s; setp.ne.u32 p, b, 0; @p bra E; " + body + "E: " + meet;
}

TEST_F(schedule, addresses_of_a_cluster_name_an_existing_block) {
  m.cluster = {2};
  const auto access = [&](const std::string& rank_bits, const std::string& displacement = "") {
    return fault_of(
        in_first_block("mov.u32 r1, " + rank_bits +
                       "; or.b32 r1, r1, r0; ld.shared::cluster.u32 n, [r1" + displacement + "];"),
        {2}, {1});
  };
  auto fault = fault_of(in_first_block("mapa.shared::cluster.u32 r1, r0, 2;"), {2}, {1});
  EXPECT_EQ(fault.detail, "rank 2 in a cluster of 2 blocks");
  fault = access(std::to_string(4u << 24));
  EXPECT_EQ(fault.kind, fault_kind::out_of_bounds);
  EXPECT_EQ(fault.detail, "the address names block 3 of a cluster of 2");
  fault = access("0", "+64");
  EXPECT_EQ(fault.kind, fault_kind::out_of_bounds);
  EXPECT_EQ(fault.address, 64u);
  EXPECT_EQ(fault.bytes, 4u);
}

TEST_F(schedule, ranks_of_addresses_are_those_of_their_blocks) {
  m.cluster = {4};
  const numbers seen = results(
      "mov.u32 r0, s; mov.u32 r5, %cluster_ctarank; mul.wide.u32 v, r5, 16; add.u64 v, v, g;"
      "mapa.shared::cluster.u32 r1, r0, 0; getctarank.shared::cluster.u32 r1, r1;"
      "mapa.shared::cluster.u32 r2, r0, 3; getctarank.shared::cluster.u32 r2, r2;"
      "mapa.shared::cluster.u32 r3, r0, r5; sub.u32 r3, r3, r0;"
      "getctarank.shared::cluster.u32 r4, r0; st.global.v4.u32 [v], {r1, r2, r3, r4};",
      16, {4}, {1});
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ((numbers{seen.begin() + 4 * rank, seen.begin() + 4 * rank + 4}),
              (numbers{0, 3, 0, rank}));
  }
}

TEST_F(schedule, memory_of_a_block_that_has_ended_is_named) {
  m.cluster = {2};
  const std::string detail =
      fault_of(
          "setp.eq.u32 p, b, 1; @p exit; mov.u32 r0, s; mapa.shared::cluster.u32 r1, r0, 1;"
          "A: nanosleep.u32 100; ld.shared::cluster.u32 n, [r1]; bra A;",
          {2}, {1})
          .detail;
  EXPECT_EQ(detail, "block 1 of the cluster has ended");
}

}  // namespace
}  // namespace halfwarp::tests
