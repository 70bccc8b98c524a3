// SPDX-License-Identifier: Apache-2.0
// Red zones between the blocks of an arena, its end, and pages that it returns to the system.
#include "emulator/memory/arena.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <set>
#include <vector>

#include "emulator/memory/address_space.hpp"
#include "emulator/memory/page.hpp"

namespace halfwarp::tests {
namespace {

using namespace emulator::memory;

constexpr address base = 1ull << 44;
constexpr std::uint64_t bytes = 64ull << 20;

// Returns the distances between blocks of one unit, without that unit, in red zones.
std::vector<std::uint64_t> zones_of(std::optional<std::uint64_t> seed, int count) {
  arena home{base, bytes, false, seed};
  std::vector<address> blocks;
  for (int i = 0; i <= count; ++i) blocks.push_back(home.allocate(alignment, alignment).value());
  std::vector<std::uint64_t> zones;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t distance = blocks[i + 1] - blocks[i] - alignment;
    EXPECT_EQ(distance % red_zone_bytes, 0u) << i;
    zones.push_back(distance / red_zone_bytes);
  }
  return zones;
}

TEST(red_zones, are_single_without_a_seed) {
  for (const std::uint64_t zones : zones_of(std::nullopt, 100)) EXPECT_EQ(zones, 1u);
}

TEST(red_zones, have_random_sizes_of_a_seed) {
  const auto zones = zones_of(3, 200);
  for (const std::uint64_t each : zones) {
    EXPECT_GE(each, 1u);
    EXPECT_LE(each, 128u);
  }
  EXPECT_GT(std::set(zones.begin(), zones.end()).size(), 64u);
  EXPECT_EQ(zones, zones_of(3, 200));
  EXPECT_NE(zones, zones_of(4, 200));
}

TEST(arena, has_a_red_zone_at_either_end) {
  constexpr std::uint64_t most = bytes - 2 * red_zone_bytes;
  for (const std::uint64_t size : {most + 1, bytes, bytes + 1}) {
    arena home{base, bytes, false, std::nullopt};
    EXPECT_FALSE(home.allocate(size, alignment)) << size;
  }
  arena home{base, bytes, false, std::nullopt};
  EXPECT_EQ(home.allocate(most, alignment), base + red_zone_bytes);
  EXPECT_FALSE(home.allocate(1, alignment));
}

class discarded : public testing::Test {
 protected:
  discarded() { std::memset(home.view(base), 7, bytes); }
  struct stat state() const {
    struct stat result;
    EXPECT_EQ(fstat(home.file(), &result), 0);
    return result;
  }

  arena home{base, bytes, false, std::nullopt};
  const std::uint64_t page = page_bytes();
};

TEST_F(discarded, whole_pages_return_to_the_system_and_read_as_zero) {
  const struct stat before = state();
  home.discard({base + 1, 10 * page});  // nine whole pages
  const struct stat after = state();
  EXPECT_EQ(after.st_size, before.st_size);
  EXPECT_EQ(static_cast<std::uint64_t>(before.st_blocks - after.st_blocks) * 512, 9 * page);
  for (std::uint64_t at = 0; at < 12 * page; ++at) {
    const bool is_inside = at >= page && at < 10 * page;
    ASSERT_EQ(*home.view(base + at), std::byte{is_inside ? std::uint8_t{0} : std::uint8_t{7}})
        << at;
  }
}

TEST_F(discarded, blocks_without_a_whole_page_stay) {
  const struct stat before = state();
  home.discard({base + page - 1, page});
  home.discard({base + page, page - 1});
  EXPECT_EQ(state().st_blocks, before.st_blocks);
  for (std::uint64_t at = 0; at < 3 * page; ++at) {
    ASSERT_EQ(*home.view(base + at), std::byte{7}) << at;
  }
}

}  // namespace
}  // namespace halfwarp::tests
