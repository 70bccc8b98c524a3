// SPDX-License-Identifier: Apache-2.0
// The patterns of addresses that the checks know: words of neighbors, or one word, by half a warp.
#include <gtest/gtest.h>

#include <vector>

#include "emulator/exec/check/warp_access.hpp"

namespace halfwarp::tests {
namespace {

using namespace emulator::exec;
using kind = warp_access::pattern;

// An access of 4 bytes by each lane, in shared memory or in the allocation from 0x5000.
class patterns : public ::testing::TestWithParam<bool> {
 protected:
  patterns() {
    w.registers = reinterpret_cast<std::byte*>(registers.data());
    w.shared = memory.data();
    w.ranges = &range;
    site.shape.is_shared = site.shape.is_narrow = is_shared;
    instr.operand[4] = 0;
  }
  warp_access of(const std::vector<std::uint64_t>& offsets, std::uint32_t size,
                 lane_mask lanes = all_lanes, std::uint32_t bytes = 4) {
    w.shared_bytes = size;
    range = {first, first + size, 0x10'0000, false};
    for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
      if (is_shared) {
        w.at<std::uint32_t>(0)[lane] = static_cast<std::uint32_t>(offsets[lane]);
      } else {
        w.at<std::uint64_t>(0)[lane] = first + offsets[lane];
      }
    }
    warp_access access{w, instr, site, 0, lanes, bytes};
    find_pattern(access);
    return access;
  }
  std::uint64_t host_of(std::uint64_t offset) const {
    return is_shared ? reinterpret_cast<std::uint64_t>(memory.data()) + offset
                     : first + offset + 0x10'0000;
  }
  static std::vector<std::uint64_t> run_from(std::uint64_t start, std::uint64_t step = 4) {
    std::vector<std::uint64_t> all(warp_size);
    for (std::size_t lane = 0; lane < warp_size; ++lane) all[lane] = start + lane * step;
    return all;
  }

  static constexpr std::uint64_t first = 0x5000;
  const bool is_shared = GetParam();
  std::array<std::uint64_t, warp_size> registers{};
  std::array<std::byte, 256> memory{};
  range_cache range;
  warp w;
  race_site site;
  instruction instr;
};

TEST_P(patterns, end_with_their_memory) {
  for (const std::uint64_t start : {0u, 4u, 60u}) {
    for (const std::uint32_t size : {4u, 8u, 63u, 64u, 124u, 127u, 128u, 129u, 132u, 188u, 256u}) {
      const warp_access run = of(run_from(start), size);
      EXPECT_EQ(run.is_regular, start + 128 <= size) << start << " " << size;
      EXPECT_EQ(of(run_from(start, 0), size).is_regular, start + 4 <= size) << start << " " << size;
      const warp_access low = of(run_from(start), size, 0xffff);
      EXPECT_EQ(low.is_regular, start + 64 <= size) << start << " " << size;
      EXPECT_EQ(low.halves[1].kind, kind::absent);
    }
  }
  const std::uint64_t before = is_shared ? 0x1'0000'0000 - 4 : ~std::uint64_t{3};
  EXPECT_FALSE(of(run_from(before, 0), 256).is_regular);
}

TEST_P(patterns, have_the_addresses_of_their_halves) {
  instr.immediate = 8;
  const warp_access run = of(run_from(16), 256);
  ASSERT_TRUE(run.is_regular);
  EXPECT_EQ(run.is_shared, is_shared);
  for (std::uint32_t n = 0; n < 2; ++n) {
    EXPECT_EQ(run.halves[n].kind, kind::run);
    EXPECT_EQ(run.halves[n].cell, host_of(24 + n * 64));
    EXPECT_EQ(run.halves[n].address, (is_shared ? 24 : first + 24) + n * 64);
    EXPECT_EQ(run.bytes_of(run.halves[n]), 64u);
  }
  const warp_access one = of(run_from(40, 0), 256);
  EXPECT_EQ(one.halves[1].kind, kind::uniform);
  EXPECT_EQ(one.halves[1].cell, host_of(48));
  EXPECT_EQ(one.bytes_of(one.halves[1]), 4u);
  const warp_access high = of(run_from(16), 256, 0xffff'0000);
  EXPECT_TRUE(high.is_regular);
  EXPECT_EQ(high.halves[0].kind, kind::absent);
  EXPECT_EQ(high.halves[1].cell, host_of(88));
  EXPECT_EQ(high.bytes_of(high.halves[0]), 0u);
}

TEST_P(patterns, are_broken_by_each_lane) {
  for (const std::uint64_t step : {0u, 4u}) {
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      std::vector<std::uint64_t> offsets = run_from(0, step);
      offsets[lane] += 32;
      EXPECT_FALSE(of(offsets, 256).is_regular) << lane;
      EXPECT_FALSE(of(run_from(0, step), 256, ~(1u << lane)).is_regular) << lane;
    }
  }
  for (const std::uint64_t step : {2u, 8u}) {
    EXPECT_FALSE(of(run_from(0, step), 256).is_regular);
    EXPECT_TRUE(of(run_from(0, step), 256, all_lanes, static_cast<std::uint32_t>(step)).is_regular);
  }
}

INSTANTIATE_TEST_SUITE_P(spaces, patterns, testing::Bool());

}  // namespace
}  // namespace halfwarp::tests
