// SPDX-License-Identifier: Apache-2.0
// The parts of the memory of a communicator follow each other, for each number of ranks.
#include "emulated_nccl/segment/layout.hpp"

#include <gtest/gtest.h>

namespace {

using namespace halfwarp::emulated_nccl;

constexpr std::size_t kilobyte = 1024, page = 4096;

std::size_t next_multiple(std::size_t value, std::size_t unit) {
  while (value % unit) ++value;
  return value;
}

// The largest multiple of a page, by which all pairs have 512 KB together, from 1 to 16 pages.
std::size_t bytes_of_pairs(std::size_t ranks) {
  std::size_t bytes = page;
  while (bytes < 16 * page && ranks * ranks * (bytes + page) <= 512 * kilobyte) bytes += page;
  return bytes;
}

TEST(Layout, HasRoomForEachPart) {
  for (int ranks = 1; ranks <= max_ranks; ++ranks) {
    const segment_layout layout{ranks};
    const auto n = static_cast<std::size_t>(ranks);
    const std::size_t most = 1024 * kilobyte / n;
    EXPECT_EQ(layout.ranks, n);
    EXPECT_EQ(layout.slot_bytes, most < 256 * kilobyte ? most : 256 * kilobyte) << ranks;
    EXPECT_EQ(layout.pair_bytes, bytes_of_pairs(n)) << ranks;
    const auto entries = next_multiple(sizeof(segment_header), 64);
    const auto pairs = entries + n * sizeof(rank_entry);
    const auto slots = next_multiple(pairs + n * n * sizeof(pair_entry), page);
    EXPECT_EQ(layout.entries(), entries);
    EXPECT_EQ(layout.pairs(), pairs) << ranks;
    EXPECT_EQ(layout.slots(), slots) << ranks;
    EXPECT_EQ(layout.pair_data(), slots + 2 * n * layout.slot_bytes) << ranks;
    EXPECT_EQ(layout.bytes(), layout.pair_data() + 2 * n * n * layout.pair_bytes) << ranks;
  }
}

TEST(Layout, HasARankMaskForAllRanks) { EXPECT_GE(8 * sizeof(rank_mask), unsigned{max_ranks}); }

}  // namespace
