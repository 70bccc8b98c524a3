// SPDX-License-Identifier: Apache-2.0
// Copies to shared memory whose lanes differ, and the order of blocks.
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "../machine.hpp"
#include "emulator/exec/schedule/order.hpp"

namespace halfwarp::tests {
namespace {

using report::fault_kind;

// Each lane copies 16 bytes from its place in `io`, waits, and stores them where they came from.
// It has n (the word of its place in `io`) and S (its place in shared memory).
class asynchronous_copies : public testing::Test {
 protected:
  exec::outcome run(const std::string& copy) {
    m.load(
        ".visible .entry k(.param .u64 io) { .shared .align 16 .b8 s[512]; .reg .b64 a, o;\n"
        ".reg .b32 lane, n, S, r<4>; .reg .pred p; ld.param.u64 a, [io]; mov.u32 lane, %laneid;\n"
        "mul.wide.u32 o, lane, 16; add.u64 a, a, o; mov.u32 S, s; cvt.u32.u64 n, o;\n"
        "add.u32 S, S, n; mov.u32 n, 0x5a5a5a5a; st.shared.v4.u32 [S], {n, n, n, n};\n"
        "ld.global.u32 n, [a];\n" +
        copy +
        "cp.async.wait_all; ld.shared.v4.u32 {r0, r1, r2, r3}, [S];\n"
        "st.global.v4.u32 [a], {r0, r1, r2, r3}; ret; }");
    std::vector<std::uint8_t> bytes(512);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
    for (std::uint32_t lane = 0; lane < 32; ++lane) std::memcpy(&bytes[16 * lane], &lane, 4);
    before = bytes;
    io = m.upload(bytes);
    return m.run("k", {1}, {32}, io);
  }
  std::vector<std::uint8_t> after() { return m.download<std::uint8_t>(io, 512); }

  machine m;
  memory::address io = 0;
  std::vector<std::uint8_t> before;
};

TEST_F(asynchronous_copies, fill_the_rest_with_zeros) {
  const auto result = run("min.u32 n, n, 16; cp.async.cg.shared.global [S], [a], 16, n;\n");
  ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
  std::vector<std::uint8_t> expected = before;
  for (std::size_t at = 0; at < 512; ++at) {
    if (at % 16 >= at / 16) expected[at] = 0;
  }
  EXPECT_EQ(after(), expected);
}

TEST_F(asynchronous_copies, may_ignore_their_source) {
  const auto result = run("setp.gt.u32 p, n, 20; cp.async.cg.shared.global [S], [a], 16, p;\n");
  ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
  std::vector<std::uint8_t> expected = before;
  std::fill(expected.begin() + 16 * 21, expected.end(), std::uint8_t{0});
  EXPECT_EQ(after(), expected);
}

TEST_F(asynchronous_copies, read_no_more_than_their_size) {
  const auto fault = run("cp.async.cg.shared.global [S], [a], 16, n;\n").fault;
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, fault_kind::out_of_bounds);
  EXPECT_EQ(fault->thread[0], 17u);
  EXPECT_EQ(fault->detail, "the source size 17 is greater than the 16 bytes of the copy");
}

TEST_F(asynchronous_copies, end_with_the_shared_memory) {
  EXPECT_FALSE(run("cp.async.ca.shared.global [S], [a], 4;\n").fault);
  const auto fault = run("add.u32 r0, S, 16; cp.async.cg.shared.global [r0], [a], 16;\n").fault;
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, fault_kind::out_of_bounds);
  EXPECT_EQ(fault->access, report::access_kind::store);
  EXPECT_EQ(fault->space, report::memory_space::shared);
  EXPECT_EQ(fault->thread[0], 31u);
  EXPECT_EQ(fault->bytes, 16u);
  EXPECT_EQ(fault->address, 512u);
}

TEST_F(asynchronous_copies, have_aligned_places) {
  const auto kind_of = [&](const std::string& copy) {
    const auto fault = run(copy).fault;
    return fault ? fault->kind : fault_kind::trap;
  };
  EXPECT_EQ(kind_of("setp.ne.u32 p, lane, 9; @p bra e; add.u32 r0, S, 4;\n"
                    "cp.async.cg.shared.global [r0], [a], 16; e:\n"),
            fault_kind::misaligned);
  EXPECT_EQ(kind_of("setp.ne.u32 p, lane, 9; @p bra e; add.u64 o, a, 8;\n"
                    "cp.async.cg.shared.global [S], [o], 16; e:\n"),
            fault_kind::misaligned);
}

// ---- the order of blocks

TEST(order, each_seed_is_a_permutation) {
  for (const std::uint64_t count : {1, 2, 3, 4, 5, 17, 64, 100, 257, 1000}) {
    for (const std::uint64_t seed : {0, 1, 7}) {
      std::set<std::uint64_t> places;
      std::uint64_t unmoved = 0;
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t place = exec::shuffled_index(i, count, seed, 3);
        EXPECT_LT(place, count);
        places.insert(place);
        unmoved += place == i;
      }
      EXPECT_EQ(places.size(), count) << seed;
      const bool is_shuffled = seed != 0 && count >= 17;
      EXPECT_TRUE(is_shuffled ? unmoved < count / 4 : seed != 0 || unmoved == count) << seed;
    }
  }
}

TEST(order, depends_on_seed_and_salt) {
  const auto order = [](std::uint64_t seed, std::uint64_t salt) {
    std::vector<std::uint64_t> places;
    for (std::uint64_t i = 0; i < 50; ++i) {
      places.push_back(exec::shuffled_index(i, 50, seed, salt));
    }
    return places;
  };
  EXPECT_EQ(order(1, 2), order(1, 2));
  EXPECT_NE(order(1, 2), order(2, 2));
  EXPECT_NE(order(1, 2), order(1, 3));
  EXPECT_NE(order(1, 2), order(2, 1));
}

}  // namespace
}  // namespace halfwarp::tests
