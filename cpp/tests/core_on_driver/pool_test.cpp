// SPDX-License-Identifier: Apache-2.0
// The pool that divides segments into blocks. Its segments are fictitious addresses.
#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "core/memory/pool/segment_pool.hpp"
#include "core_on_driver/open_driver.hpp"

namespace halfwarp::core {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

class pool_test : public testing::driver_test {
 protected:
  void SetUp() override {
    driver_test::SetUp();
    context = retain_primary_context(0);
    driver::call(driver::table->cuCtxSetCurrent, context.raw());
    pool = new segment_pool{std::make_shared<pool_totals>()};
    stream = make();
    other = make();
  }

  void TearDown() override {
    testing::synchronize_all();
    forget(pool->remove_all_segments());
    pool->release();
    stream.reset();
    other.reset();
    context.reset();
    driver_test::TearDown();
  }

  stream_handle make() { return create_stream(context, CU_STREAM_NON_BLOCKING, 0); }

  static std::size_t forget(segment* each) {
    std::size_t size = 0;
    while (each != nullptr) {
      size += each->size;
      delete std::exchange(each, each->next);
    }
    return size;
  }

  block* grow(std::size_t size, std::size_t requested, const stream_ref& target) {
    EXPECT_TRUE(pool->reserve(size, std::size_t{1} << 40));
    const CUdeviceptr at = next_address.fetch_add(size + mib);
    return pool->add_segment(at, size, nullptr, target, requested);
  }

  // Allocates from any segment, regardless of its kind.
  block* allocate(std::size_t requested, const stream_ref& target) {
    return pool->allocate_from_bins(requested, target, segment_use::all_blocks);
  }
  block* allocate_across_streams(std::size_t requested, const stream_ref& target) {
    return pool->allocate_across_streams(requested, target, segment_use::all_blocks);
  }

  bool free(block* freed) { return pool->free(*freed, *freed->home); }

  std::atomic<CUdeviceptr> next_address{std::size_t{1} << 40};
  context_handle context;
  segment_pool* pool = nullptr;
  stream_handle stream;
  stream_handle other;
};

TEST(bins, sizes_of_a_bin_are_similar) {
  unsigned last = 0;
  for (std::size_t units = 1; units < 5000; ++units) {
    const unsigned bin = bin_of(units * block_unit);
    EXPECT_TRUE(bin == last || bin == last + 1) << units;
    last = bin;
  }
  EXPECT_LT(bin_of(std::size_t{1} << 48), 320u);
}

TEST(bins, the_best_fit_is_the_smallest_that_is_large_enough) {
  free_blocks blocks;
  segment whole{0, 300 * block_unit, segment_use::all_blocks, nullptr, nullptr};
  block blocks_of_bin[5];
  const auto best = [&blocks](std::size_t units, unsigned long long latest) {
    return blocks.best_fit({units * block_unit, segment_use::all_blocks, latest});
  };
  const std::size_t sizes[] = {40, 37, 36, 100, 3};
  for (int i = 0; i < 5; ++i) {
    blocks_of_bin[i].parent = &whole;
    blocks_of_bin[i].size = sizes[i] * block_unit;
    blocks_of_bin[i].freed = static_cast<unsigned long long>(i);
    blocks.insert(blocks_of_bin[i]);
  }
  EXPECT_EQ(best(36, 9), &blocks_of_bin[2]);
  EXPECT_EQ(best(36, 1), &blocks_of_bin[1]);
  EXPECT_EQ(best(36, 0), &blocks_of_bin[0]);
  EXPECT_EQ(best(41, 9), &blocks_of_bin[3]);
  EXPECT_EQ(best(101, 9), nullptr);
  for (block& each : blocks_of_bin) blocks.remove(each);
  EXPECT_TRUE(blocks.is_empty());
}

TEST(bins, the_best_fit_among_all_sizes_is_that_of_a_search) {
  std::mt19937_64 random{7};
  segment whole{0, 0, segment_use::all_blocks, nullptr, nullptr};
  free_blocks blocks;
  std::vector<block> all(200);
  const auto size_of_any_magnitude = [&random] {
    const std::size_t units = random() >> (16 + random() % 48);
    return (units + 1) * block_unit;
  };
  EXPECT_TRUE(blocks.is_empty());
  for (block& each : all) {
    each.parent = &whole;
    each.size = size_of_any_magnitude();
    each.freed = random() % 4;
    blocks.insert(each);
  }
  for (std::size_t taken = 0; taken < all.size(); ++taken) {
    EXPECT_FALSE(blocks.is_empty());
    for (int turn = 0; turn < 20; ++turn) {
      const block_request request{size_of_any_magnitude(), segment_use::all_blocks, random() % 4};
      std::size_t smallest = 0;
      for (const block& each : all) {
        const bool is_fit =
            each.is_free && each.size >= request.size && each.freed <= request.latest;
        if (is_fit && (smallest == 0 || each.size < smallest)) smallest = each.size;
      }
      const block* const match = blocks.best_fit(request);
      ASSERT_EQ(match == nullptr ? 0 : match->size, smallest);
      ASSERT_TRUE(match == nullptr || (match->is_free && match->freed <= request.latest));
    }
    blocks.remove(all[(taken * 37) % all.size()]);
  }
  EXPECT_TRUE(blocks.is_empty());
}

TEST(bins, blocks_come_from_segments_for_their_kind) {
  free_blocks blocks;
  segment small{0, 300 * block_unit, segment_use::small_blocks, nullptr, nullptr};
  segment large{0, 300 * block_unit, segment_use::large_blocks, nullptr, nullptr};
  block pair_of_blocks[2];
  for (block& each : pair_of_blocks) {
    each.size = 10 * block_unit;
    each.parent = &each == pair_of_blocks ? &small : &large;
    blocks.insert(each);
  }
  const std::size_t size = 10 * block_unit;
  EXPECT_EQ(blocks.best_fit({size, segment_use::small_blocks}), &pair_of_blocks[0]);
  EXPECT_EQ(blocks.best_fit({size, segment_use::large_blocks}), &pair_of_blocks[1]);
  blocks.remove(pair_of_blocks[1]);
  EXPECT_EQ(blocks.best_fit({size, segment_use::large_blocks}), nullptr);
  EXPECT_EQ(blocks.best_fit({size, segment_use::all_blocks}), &pair_of_blocks[0]);
  blocks.remove(pair_of_blocks[0]);
}

TEST_F(pool_test, a_pool_without_segments_has_no_blocks) {
  EXPECT_EQ(pool->allocate(1, stream), nullptr);
  EXPECT_EQ(allocate_across_streams(1, stream), nullptr);
  EXPECT_EQ(pool->allocate(~std::size_t{0}, stream), nullptr);
}

TEST_F(pool_test, a_free_block_is_reused_and_coalesced) {
  block* const first = grow(2 * mib, 1000, stream);
  const CUdeviceptr at = first->address;
  block* const second = pool->allocate(1, stream);
  EXPECT_EQ(second->address, at + 1024);
  free(first);
  EXPECT_EQ(pool->allocate(1024, stream)->address, at);
  free(first);
  free(second);
  EXPECT_EQ(pool->allocate(2 * mib, stream), nullptr);  // small blocks may stay in it
  block* const whole = allocate(2 * mib, stream);
  ASSERT_NE(whole, nullptr);
  EXPECT_EQ(whole->address, at);
  free(whole);
}

TEST_F(pool_test, another_stream_splits_a_large_block) {
  free(grow(16 * mib, 16 * mib, stream));
  EXPECT_EQ(pool->allocate(1, other), nullptr);
  block* const taken = allocate_across_streams(1, other);
  ASSERT_NE(taken, nullptr);
  EXPECT_EQ(taken->home, &pool->home_of(other));
  EXPECT_NE(pool->allocate(14 * mib, stream), nullptr);
  EXPECT_NE(allocate(mib, other), nullptr);
}

TEST_F(pool_test, another_stream_keeps_two_mebibytes_for_its_next_blocks) {
  free(grow(16 * mib, 16 * mib, stream));
  block* const taken = allocate_across_streams(1, other);
  ASSERT_NE(taken, nullptr);
  EXPECT_EQ(allocate(2 * mib - 511, other), nullptr);
  block* const remainder = allocate(2 * mib - 512, other);
  ASSERT_NE(remainder, nullptr);
  EXPECT_EQ(remainder->address, taken->address + 512);
  EXPECT_EQ(pool->totals().reuse_cross_stream, 1u);
  free(grow(16 * mib, 16 * mib, stream));
  ASSERT_NE(allocate_across_streams(3 * mib, other), nullptr);
  EXPECT_EQ(allocate(1, other), nullptr);
  EXPECT_EQ(pool->totals().reuse_cross_stream, 2u);
}

TEST_F(pool_test, three_neighbors_become_one_block) {
  block* const whole = grow(2 * mib, 1, stream);
  const CUdeviceptr at = whole->address;
  block* const blocks[] = {whole, pool->allocate(mib, stream), pool->allocate(512, stream)};
  const CUdeviceptr last = blocks[2]->address;
  for (const int i : {0, 2, 1}) free(blocks[i]);
  const pool_figures seen = pool->figures();
  EXPECT_EQ(seen.free_bytes, 2 * mib);
  EXPECT_EQ(seen.largest_free_block, 2 * mib);
  EXPECT_EQ(last, at + 512 + mib);
  EXPECT_EQ(seen.allocations + pool->totals().allocations, 3u);
  EXPECT_EQ(seen.allocated_bytes + pool->totals().allocated_bytes, 1 + mib + 512);
}

TEST_F(pool_test, the_limit_of_a_reservation_is_exact) {
  EXPECT_FALSE(pool->reserve(11, 10));
  EXPECT_TRUE(pool->reserve(4, 10));
  EXPECT_FALSE(pool->reserve(7, 10));
  EXPECT_TRUE(pool->reserve(6, 10));
  EXPECT_FALSE(pool->reserve(1, 10));
  EXPECT_EQ(pool->totals().reserved, 10u);
  EXPECT_FALSE(pool->reserve(~std::size_t{0}, ~std::size_t{0}));
  pool->unreserve(10);
  EXPECT_EQ(pool->totals().reserved, 0u);
}

TEST_F(pool_test, segments_may_be_adjacent_but_not_overlap) {
  const CUdeviceptr at = grow(2 * mib, 0, stream) == nullptr ? next_address - 3 * mib : 0;
  EXPECT_FALSE(pool->overlaps(at - 512, 512));
  EXPECT_FALSE(pool->overlaps(at + 2 * mib, 512));
  EXPECT_TRUE(pool->overlaps(at - 512, 513));
  EXPECT_TRUE(pool->overlaps(at + 2 * mib - 1, 512));
  EXPECT_TRUE(pool->overlaps(at + mib, 1));
  EXPECT_TRUE(pool->overlaps(at - 1, 4 * mib));
}

TEST_F(pool_test, an_address_is_claimed_if_its_block_has_no_owner) {
  grow(2 * mib, 0, other);
  block* const first = grow(2 * mib, 600, stream);
  block* const second = pool->allocate(700, stream);
  bool is_owned = false;
  EXPECT_EQ(pool->claim(second->address, is_owned), nullptr);
  EXPECT_TRUE(is_owned);
  pool->disown(*second);
  EXPECT_EQ(pool->claim(second->address + 1, is_owned), nullptr);
  EXPECT_FALSE(is_owned);
  EXPECT_EQ(pool->claim(second->address + 1024, is_owned), nullptr);  // the free remainder
  EXPECT_FALSE(is_owned);
  EXPECT_EQ(pool->claim(second->address, is_owned), second);
  EXPECT_FALSE(is_owned);
  EXPECT_EQ(pool->claim(second->address, is_owned), nullptr);
  EXPECT_TRUE(is_owned);
  EXPECT_EQ(pool->claim(first->address - 1, is_owned), nullptr);
  EXPECT_FALSE(is_owned);
  pool->disown(*first);
  EXPECT_EQ(pool->claim(first->address, is_owned), first);
}

TEST_F(pool_test, live_blocks_have_requested_sizes_and_streams) {
  block* const first = grow(2 * mib, 600, stream);
  block* const second = grow(2 * mib, 700, other);
  free(pool->allocate(5000, stream));
  std::vector<live_block> blocks = pool->live_blocks();
  ASSERT_EQ(blocks.size(), 2u);
  std::ranges::sort(blocks, {}, &live_block::size);
  EXPECT_EQ(blocks[0].address, first->address);
  EXPECT_EQ(blocks[0].size, 600u);
  EXPECT_EQ(blocks[0].stream, stream.raw());
  EXPECT_EQ(blocks[1].address, second->address);
  EXPECT_EQ(blocks[1].stream, other.raw());
  for (const live_block& each : blocks) {
    EXPECT_LT(std::abs(each.age), 3600.0);
  }
}

TEST_F(pool_test, blocks_of_a_destroyed_stream_are_found) {
  {
    stream_handle leaving = make();
    free(grow(2 * mib, 2 * mib, leaving));
    block* const retained = grow(2 * mib, 1, leaving);
    pool->change_home(*retained, pool->home_of(stream));
    leaving.reset();
    free(retained);
  }
  block* const taken = allocate_across_streams(2 * mib, other);
  ASSERT_NE(taken, nullptr);
  free(taken);
  EXPECT_EQ(pool->figures().frees + pool->totals().frees, 3u);
}

TEST_F(pool_test, segments_are_removed_when_entirely_free) {
  block* const one = grow(2 * mib, 1, stream);
  block* const two = grow(4 * mib, 1, other);
  EXPECT_EQ(pool->remove_free_segments(0, stream), nullptr);
  free(one);
  EXPECT_EQ(forget(pool->remove_free_segments(5 * mib, stream)), 0u);
  EXPECT_EQ(forget(pool->remove_free_segments(4 * mib, stream)), 2 * mib);
  EXPECT_FALSE(free(two));
  block* const three = pool->allocate(1, other);
  pool->close();
  EXPECT_TRUE(free(three));
  EXPECT_EQ(forget(pool->remove_free_segments(0, stream)), 4 * mib);
  EXPECT_EQ(pool->totals().reserved, 0u);
}

TEST_F(pool_test, streams_refer_to_no_destroyed_pool) {
  for (int i = 0; i < 10; ++i) {
    auto* const brief = new segment_pool{std::make_shared<pool_totals>()};
    static_cast<void>(brief->home_of(stream));
    brief->release();
  }
  int hung_up = 0;
  for (auto* each = stream.facts().blocks.load(); each != nullptr; each = each->next_of_stream) {
    ++hung_up;
  }
  EXPECT_EQ(hung_up, 1);
}

// An event that is left is a live object at the end of the test.
TEST_F(pool_test, the_lists_of_default_streams_are_destroyed_with_the_pool) {
  for (const CUstream raw : {CU_STREAM_LEGACY, CU_STREAM_PER_THREAD}) {
    const stream_handle default_stream = stream_of(raw);
    EXPECT_FALSE(pool->free_on_this_thread(*grow(2 * mib, 1, default_stream), default_stream));
  }
  EXPECT_EQ(testing::live("event"), testing::counted_as(2));
}

// The null driver gives no ids, so that 0 must not mean another kind of stream.
TEST_F(pool_test, a_default_stream_has_a_list_of_its_own) {
  const stream_blocks& own = pool->home_of(stream);
  EXPECT_NE(&pool->home_of(stream_of(CU_STREAM_LEGACY)), &own);
}

// The addresses in use; no two blocks may overlap.
class live_ranges {
 public:
  void add(const block& range, std::size_t size) {
    const std::lock_guard guard{lock_};
    const auto after = ranges_.upper_bound(range.address);
    EXPECT_TRUE(after == ranges_.end() || range.address + size <= after->first);
    EXPECT_TRUE(after == ranges_.begin() || std::prev(after)->second <= range.address);
    EXPECT_EQ(range.address % block_unit, 0u);
    ranges_[range.address] = range.address + size;
  }
  void remove(const block& range) {
    const std::lock_guard guard{lock_};
    ranges_.erase(range.address);
  }

 private:
  std::mutex lock_;
  std::map<CUdeviceptr, CUdeviceptr> ranges_;
};

TEST_F(pool_test, threads_and_streams_share_it) {
  live_ranges in_use;
  std::atomic<unsigned long long> allocations{0};
  const auto work = [&](unsigned seed) {
    driver::call(driver::table->cuCtxSetCurrent, context.raw());
    std::mt19937 random{seed};
    std::vector<stream_handle> streams{make(), stream_of(CU_STREAM_LEGACY), stream};
    std::vector<block*> held;
    for (int turn = 0; turn < 5000; ++turn) {
      if (random() % 100 == 0) streams[0] = make();
      const stream_handle& target = streams[random() % streams.size()];
      if (held.size() < 30 && random() % 2 == 0) {
        const std::size_t size = 1 + random() % (random() % 4 == 0 ? 3 * mib : 5000);
        block* allocated = pool->allocate(size, target);
        if (allocated == nullptr) allocated = allocate_across_streams(size, target);
        if (allocated == nullptr)
          allocated = grow(std::max(4 * mib, rounded_to_unit(size)), size, target);
        in_use.add(*allocated, size);
        held.push_back(allocated);
        ++allocations;
      } else if (!held.empty()) {
        std::swap(held[random() % held.size()], held.back());
        in_use.remove(*held.back());
        pool->free(*held.back(), pool->home_of(target));
        held.pop_back();
      } else if (random() % 50 == 0) {
        forget(pool->remove_free_segments(8 * mib, streams[2]));
      }
    }
    for (block* const each : held) {
      in_use.remove(*each);
      pool->free(*each, pool->home_of(stream));
    }
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) threads.emplace_back(work, seed);
  for (std::thread& each : threads) each.join();
  const pool_figures seen = pool->figures();
  EXPECT_EQ(seen.allocations + pool->totals().allocations, allocations);
  EXPECT_EQ(seen.frees + pool->totals().frees, allocations);
  EXPECT_EQ(pool->totals().allocated, 0u);
  EXPECT_EQ(seen.free_bytes, pool->totals().reserved);
  pool->synchronize();
  const std::size_t reserved = pool->totals().reserved;
  EXPECT_EQ(forget(pool->remove_free_segments(0, stream)), reserved);
}

}  // namespace
}  // namespace halfwarp::core
