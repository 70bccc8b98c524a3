// SPDX-License-Identifier: Apache-2.0
// Free ranges of addresses, the heap of kernels, and the states of bytes.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "emulator/memory/address_space.hpp"
#include "emulator/memory/arena.hpp"
#include "emulator/memory/device_heap.hpp"
#include "emulator/memory/virtual_region.hpp"
#include "emulator/memory/written_bytes.hpp"

namespace halfwarp::tests {
namespace {

using namespace emulator::memory;

// ---- arenas

constexpr address arena_base = std::uint64_t{1} << 45;
constexpr std::uint64_t arena_bytes = 1 << 20;

class arenas : public testing::Test {
 protected:
  address allocate(std::uint64_t size) { return whole.allocate(size, 512).value_or(0); }
  // Frees blocks in this order. Others, which are elsewhere, fill the quarantine.
  void release(const std::vector<arena::block>& blocks) {
    for (const arena::block& each : blocks) whole.quarantine(each);
    for (std::size_t i = 0; i < quarantine_blocks; ++i) {
      whole.quarantine({arena_base + arena_bytes + 4096 * i, 0});
    }
    for (const arena::block& each : blocks) {
      const auto next = whole.leave_quarantine();
      EXPECT_EQ(next ? next->base : 0, each.base);
    }
    EXPECT_FALSE(whole.leave_quarantine());
  }

  arena whole{arena_base, arena_bytes, false, std::nullopt};
};

TEST_F(arenas, a_block_may_fill_the_arena_between_its_red_zones) {
  EXPECT_EQ(allocate(arena_bytes + 1), 0u);
  EXPECT_EQ(allocate(arena_bytes - 2 * red_zone_bytes + 1), 0u);
  EXPECT_EQ(allocate(arena_bytes - 2 * red_zone_bytes), arena_base + red_zone_bytes);
  EXPECT_EQ(allocate(1), 0u);
}

class freed_neighbors : public arenas, public testing::WithParamInterface<std::array<int, 3>> {};

TEST_P(freed_neighbors, form_one_gap) {
  constexpr std::uint64_t size = 1000, stride = 1024 + red_zone_bytes;
  std::vector<arena::block> blocks;
  for (int i = 0; i < 3; ++i) blocks.push_back({allocate(size), size});
  const address behind = allocate(1);
  EXPECT_EQ(blocks[2].base - blocks[0].base, 2 * stride);
  EXPECT_EQ(behind - blocks[0].base, 3 * stride);
  const auto order = GetParam();
  release({blocks[order[0]], blocks[order[1]], blocks[order[2]]});
  EXPECT_GT(allocate(3 * stride - red_zone_bytes + 1), behind);
  EXPECT_EQ(allocate(3 * stride - red_zone_bytes), blocks[0].base);
}

INSTANTIATE_TEST_SUITE_P(, freed_neighbors,
                         testing::Values(std::array{0, 1, 2}, std::array{0, 2, 1},
                                         std::array{1, 0, 2}, std::array{1, 2, 0},
                                         std::array{2, 0, 1}, std::array{2, 1, 0}));

TEST_F(arenas, gaps_apart_stay_apart) {
  std::vector<arena::block> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back({allocate(512), 512});
  release({blocks[0], blocks[2]});
  EXPECT_GT(allocate(1024), blocks[3].base);
  EXPECT_EQ(allocate(512), blocks[0].base);
  EXPECT_EQ(allocate(512), blocks[2].base);
}

TEST_F(arenas, the_quarantine_has_a_limit_of_bytes) {
  const auto next = [&] {
    const auto oldest = whole.leave_quarantine();
    return oldest ? oldest->base - arena_base : 0;
  };
  whole.quarantine({arena_base + 4096, 2 * quarantine_bytes});
  EXPECT_EQ(next(), 0u) << "the newest block stays";
  whole.quarantine({arena_base + 8192, quarantine_bytes - 512});
  EXPECT_EQ(next(), 4096u);
  whole.quarantine({arena_base + 12288, 512});
  EXPECT_EQ(next(), 0u) << "as many bytes as the limit";
  whole.quarantine({arena_base + 16384, 1});
  EXPECT_EQ(next(), 8192u);
  EXPECT_EQ(next(), 0u);
}

// ---- reserved addresses

class regions : public testing::Test {
 protected:
  static constexpr std::uint64_t unit = granularity, count = 8;

  regions() {
    void* const begin = mmap(nullptr, 2 * count * unit, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const auto first = reinterpret_cast<address>(begin);
    mapping = first;
    base = (first + count * unit - 1) / (count * unit) * (count * unit);
    whole.emplace(base, count * unit);
  }
  ~regions() override {
    whole.reset();
    munmap(reinterpret_cast<void*>(mapping), 2 * count * unit);
  }
  // Returns the number of the first unit, or -1.
  int allocate(std::uint64_t units, std::uint64_t hint = 99, std::uint64_t alignment = 1) {
    const auto at = whole->allocate(units * unit, alignment * unit, base + hint * unit);
    return at ? static_cast<int>((*at - base) / unit) : -1;
  }
  void release(int first, std::uint64_t units) {
    whole->deallocate(base + static_cast<std::uint64_t>(first) * unit, units * unit);
  }

  address mapping = 0, base = 0;
  std::optional<virtual_region> whole;
};

TEST_F(regions, a_free_hint_is_followed) {
  EXPECT_EQ(allocate(2, 6), 6) << "up to the end";
  EXPECT_EQ(allocate(2, 5), 0) << "one unit is free there";
  EXPECT_EQ(allocate(1, 5), 5);
  EXPECT_EQ(allocate(1, 5), 2) << "taken";
  EXPECT_EQ(allocate(2, 3, 4), -1) << "neither of the free units is aligned";
  EXPECT_EQ(allocate(2, 3), 3);
  EXPECT_EQ(allocate(1, 3), -1) << "full";
}

TEST_F(regions, gaps_are_found_by_alignment_and_size) {
  EXPECT_EQ(allocate(9), -1);
  EXPECT_EQ(allocate(1), 0);
  EXPECT_EQ(allocate(4, 99, 4), 4) << "skips three units";
  EXPECT_EQ(allocate(1, 99, 8), -1);
  EXPECT_EQ(allocate(3), 1);
  EXPECT_EQ(allocate(1), -1);
  release(0, 1);
  EXPECT_EQ(allocate(1, 99, 8), 0);
}

TEST_F(regions, freed_neighbors_form_one_gap) {
  std::array order{0, 1, 2};
  do {
    for (int i = 0; i < 3; ++i) ASSERT_EQ(allocate(2), 2 * i);
    ASSERT_EQ(allocate(2), 6);
    for (const int i : order) release(2 * i, 2);
    EXPECT_EQ(allocate(7), -1);
    EXPECT_EQ(allocate(6), 0) << order[0] << order[1] << order[2];
    release(0, 6);
    release(6, 2);
    EXPECT_EQ(allocate(8), 0);
    release(0, 8);
  } while (std::ranges::next_permutation(order).found);
}

// ---- the heap of kernels

TEST(heap, blocks_use_its_bytes_until_they_are_freed) {
  address_space space{{.devices = 1, .device_capacity = 64 << 20}};
  device_heap heap;
  ASSERT_TRUE(heap.set_limit(1 << 16));
  EXPECT_EQ(heap.limit(), 1u << 16);
  EXPECT_FALSE(heap.allocate(space, (1 << 16) + 1, 0, 1, "here"));
  EXPECT_FALSE(heap.set_limit(1 << 17)) << "a kernel used it";
  EXPECT_TRUE(heap.set_limit(1 << 16)) << "no change";
  std::vector<address> blocks;
  while (const auto block = heap.allocate(space, 0, 0, 1, "here")) blocks.push_back(*block);
  ASSERT_EQ(blocks.size(), (1u << 16) / 32) << "each takes 16 bytes for its books, and 16 more";
  const auto record = space.find_live(blocks[0]);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->size, 1u);
  EXPECT_EQ(record->context, 1u);
  EXPECT_EQ(record->created_at, "here");
  EXPECT_FALSE(heap.allocate(space, 1, 0, 1, "here")) << "as often as one asks";
  EXPECT_EQ(heap.release(space, blocks[0], "there").status, free_status::done);
  EXPECT_EQ(heap.release(space, blocks[0], "there").status, free_status::already_freed);
  EXPECT_TRUE(heap.allocate(space, 1, 0, 1, "here"));
  EXPECT_FALSE(heap.allocate(space, 1, 0, 1, "here"));
  heap.clear();
  EXPECT_TRUE(heap.set_limit(1 << 17));
  EXPECT_TRUE(heap.allocate(space, 1 << 16, 0, 1, "here"));
  allocation_request request;
  request.size = 4;
  const address other = space.allocate(request).value();
  EXPECT_EQ(heap.release(space, other, "there").status, free_status::not_the_base);
  EXPECT_TRUE(space.find_live(other));
}

// ---- the bytes of fresh memory

class fresh_memory : public testing::TestWithParam<std::uint64_t> {};

TEST_P(fresh_memory, has_its_pattern_at_both_ends) {
  constexpr std::uint64_t filled = 16 << 20;
  address_space space{{.devices = 1, .device_capacity = 64 << 20}};
  allocation_request request;
  request.size = GetParam();
  const address base = space.allocate(request).value();
  std::array<std::byte, 4> pattern;
  std::memcpy(pattern.data(), space.view(base), 4);
  EXPECT_NE(pattern[0], std::byte{0});
  const auto count_of_others = [&](std::uint64_t first, std::uint64_t end) {
    const std::byte* const bytes = space.view(base);
    std::uint64_t count = 0;
    for (auto i = first; i < end; ++i) count += bytes[i] != pattern[i % 4];
    return count;
  };
  const std::uint64_t low = std::min(filled, request.size);
  const std::uint64_t high = std::max(low, (request.size - low + 3) / 4 * 4);
  EXPECT_EQ(count_of_others(0, low), 0u);
  EXPECT_EQ(count_of_others(high, request.size), 0u);
  if (low + 4 < high) {
    EXPECT_NE(count_of_others(low, high - 3), 0u) << "the middle is untouched";
  }
}

INSTANTIATE_TEST_SUITE_P(, fresh_memory,
                         testing::Values(1, 7, (1 << 18) - 1, 1 << 18, (32 << 20) - 1, 32 << 20,
                                         (32 << 20) + 1, (32 << 20) + 3, (32 << 20) + 12));

// ---- the states of bytes

TEST(states, a_large_range_is_unwritten_and_its_neighbors_are_kept) {
  constexpr address first = 1 << 20;
  constexpr std::uint64_t large = 1 << 20;
  const written_bytes states{first, 4 * large};
  for (const std::uint64_t start : {std::uint64_t{0}, std::uint64_t{100}, std::uint64_t{4096}}) {
    for (const std::uint64_t bytes : {large - 1, large, large + 5000}) {
      states.mark(first, 4 * large, written);
      states.mark(first + start, bytes, unwritten);
      const auto runs = states.unwritten_runs(first, 4 * large, 5);
      ASSERT_EQ(runs.size(), 1u);
      EXPECT_EQ(runs[0].offset, start);
      EXPECT_EQ(runs[0].bytes, bytes);
    }
  }
}

TEST(states, ranges_end_with_the_record) {
  constexpr address first = 1 << 20;
  const written_bytes states{first, 4096};
  EXPECT_EQ(states.at(first - 1), nullptr);
  EXPECT_EQ(states.at(first + 4096), nullptr);
  states.mark(first - 1, 8, written);
  EXPECT_EQ(*states.at(first), unwritten) << "the first byte is outside";
  states.mark(first + 4090, 100, written);
  EXPECT_EQ(*states.at(first + 4089), unwritten);
  EXPECT_EQ(*states.at(first + 4095), written);
  EXPECT_TRUE(states.unwritten_runs(first - 1, 4, 9).empty());
}

TEST(states, copies_have_the_states_of_their_source) {
  constexpr address first = 1 << 20;
  const written_bytes states{first, 4096};
  states.mark(first + 2, 3, written);
  states.copy(first + 100, first, 8);
  auto runs = states.unwritten_runs(first + 100, 8, 9);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].bytes, 2u);
  EXPECT_EQ(runs[1].offset, 5u);
  EXPECT_EQ(runs[1].bytes, 3u);
  EXPECT_EQ(states.unwritten_runs(first + 100, 8, 1).size(), 1u);
  states.copy(first + 100, 7, 8);
  EXPECT_TRUE(states.unwritten_runs(first + 100, 8, 9).empty()) << "unknown sources are written";
  states.copy(7, first, 8);
  EXPECT_EQ(*states.at(first + 108), unwritten);
}

}  // namespace
}  // namespace halfwarp::tests
