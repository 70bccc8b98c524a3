// SPDX-License-Identifier: Apache-2.0
// Arenas, red zones, quarantine and range checks.
#include "emulator/memory/address_space.hpp"

#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>

#include <cmath>
#include <cstring>

namespace halfwarp::tests {
namespace {

using namespace emulator::memory;

class address_spaces : public testing::Test {
 protected:
  address allocate(std::uint64_t size, allocation_kind kind = allocation_kind::device,
                   int device = 0) {
    allocation_request request;
    request.size = size;
    request.kind = kind;
    request.device = device;
    return space.allocate(request).value_or(0);
  }
  range_problem problem(address at, std::uint64_t bytes, int device = 0, bool is_write = false) {
    auto fault = space.check(at, bytes, device, is_write);
    EXPECT_TRUE(fault.has_value());
    return fault ? fault->problem : range_problem::read_only;
  }

  address_space space{{.devices = 2, .device_capacity = 64 << 20, .seed = 7}};
};

TEST_F(address_spaces, allocations_are_aligned_and_keep_their_exact_end) {
  for (std::uint64_t size : {1, 3, 511, 512, 513, 100000}) {
    address base = allocate(size);
    ASSERT_NE(base, 0u);
    EXPECT_EQ(base % 512, 0u);
    EXPECT_FALSE(space.check(base, size, 0, true));
    EXPECT_EQ(problem(base, size + 1), range_problem::out_of_bounds);
    EXPECT_EQ(space.check(base, size + 1, 0, false)->first_bad, base + size);
  }
}

TEST_F(address_spaces, a_larger_alignment_is_respected) {
  allocation_request request;
  request.size = 100;
  request.alignment = 1 << 16;
  allocate(1);
  EXPECT_EQ(space.allocate(request).value() % (1 << 16), 0u);
}

TEST_F(address_spaces, red_zones_lie_on_either_side) {
  address first = allocate(700), second = allocate(10);
  EXPECT_GE(second - (first + 700), red_zone_bytes);
  EXPECT_EQ(problem(first - 1, 1), range_problem::out_of_bounds);
  EXPECT_EQ(problem(first + 700, 1), range_problem::out_of_bounds);
  EXPECT_EQ(space.nearest(first + 701)->base, first);
  EXPECT_EQ(space.nearest(second - 1)->base, second);
}

TEST_F(address_spaces, fresh_memory_reads_as_nan_in_every_format) {
  address base = allocate(64);
  float f;
  double d;
  std::uint16_t h;
  std::memcpy(&f, space.view(base), sizeof(f));
  std::memcpy(&d, space.view(base), sizeof(d));
  std::memcpy(&h, space.view(base), sizeof(h));
  EXPECT_TRUE(std::isnan(f));
  EXPECT_TRUE(std::isnan(d));
  EXPECT_GT(h & 0x7fff, 0x7c00);
}

TEST_F(address_spaces, freed_memory_is_overwritten_and_recorded) {
  address base = allocate(4096);
  std::memset(space.view(base), 1, 4096);
  EXPECT_EQ(space.release(base, {3, "here"}).status, free_status::done);
  EXPECT_NE(*space.view(base), std::byte{1});
  EXPECT_EQ(problem(base + 5, 1), range_problem::use_after_free);
  EXPECT_EQ(space.nearest(base)->freed_stream, 3u);
  EXPECT_EQ(space.nearest(base)->freed_at, "here");
  EXPECT_NE(allocate(4096), base);
}

TEST_F(address_spaces, an_invalid_free_reports_its_kind) {
  address base = allocate(100);
  EXPECT_EQ(space.release(base + 4).status, free_status::not_the_base);
  EXPECT_EQ(space.release(12345).status, free_status::unknown);
  EXPECT_EQ(space.release(base + 100).status, free_status::unknown) << "behind the allocation";
  space.release(base);
  EXPECT_EQ(space.release(base).status, free_status::already_freed);
  EXPECT_EQ(space.release(base + 4).status, free_status::unknown) << "inside a freed allocation";
}

TEST_F(address_spaces, capacity_is_released_immediately) {
  for (int i = 0; i < 20; ++i) {
    address base = allocate(40 << 20);
    ASSERT_NE(base, 0u) << i;
    EXPECT_EQ(space.release(base).status, free_status::done);
  }
}

TEST_F(address_spaces, addresses_are_reused_after_the_quarantine) {
  address first = allocate(1000);
  space.release(first);
  bool is_reused = false;
  for (int i = 0; i < 3000 && !is_reused; ++i) {
    address next = allocate(1000);
    is_reused = next == first;
    space.release(next);
  }
  EXPECT_TRUE(is_reused);
}

TEST_F(address_spaces, capacity_is_per_device_and_excludes_pinned_memory) {
  EXPECT_NE(allocate(60 << 20), 0u);
  EXPECT_EQ(allocate(8 << 20), 0u);
  EXPECT_NE(allocate(60 << 20, allocation_kind::device, 1), 0u);
  EXPECT_NE(allocate(60 << 20, allocation_kind::pinned), 0u);
  EXPECT_EQ(space.device_usage(0).used, 60u << 20);
  EXPECT_EQ(space.device_usage(0).live, 1u);
}

TEST_F(address_spaces, zero_bytes_cannot_be_allocated) { EXPECT_EQ(allocate(0), 0u); }

sigjmp_buf escape;
void on_fault(int) { siglongjmp(escape, 1); }

bool host_can_read(address at) {
  struct sigaction mine {
  }, before{};
  mine.sa_handler = &on_fault;
  sigaction(SIGSEGV, &mine, &before);
  volatile bool could = false;  // volatile: read after a jump out of the signal handler
  if (sigsetjmp(escape, 1) == 0) {
    (void)*reinterpret_cast<const volatile char*>(at);
    could = true;
  }
  sigaction(SIGSEGV, &before, nullptr);
  return could;
}

TEST_F(address_spaces, the_host_can_read_pinned_and_managed_addresses_but_no_device_address) {
  EXPECT_FALSE(host_can_read(allocate(100)));
  EXPECT_TRUE(host_can_read(allocate(100, allocation_kind::pinned)));
  EXPECT_TRUE(host_can_read(allocate(100, allocation_kind::managed)));
}

TEST_F(address_spaces, memory_of_another_device_needs_peer_access) {
  address base = allocate(100, allocation_kind::device, 1);
  EXPECT_EQ(space.device_of(base), 1);
  EXPECT_EQ(problem(base, 4, 0), range_problem::wrong_device);
  space.set_peer_access(0, 1, true);
  EXPECT_FALSE(space.check(base, 4, 0, true));
  space.set_peer_access(0, 1, false);
  EXPECT_EQ(problem(base, 4, 0), range_problem::wrong_device);
}

TEST_F(address_spaces, access_to_pool_memory_is_set_by_pool) {
  allocation_request request;
  request.size = 64;
  request.kind = allocation_kind::pool;
  request.pool = 9;
  address base = space.allocate(request).value();
  space.set_peer_access(1, 0, true);
  EXPECT_EQ(problem(base, 4, 1), range_problem::wrong_device);
  space.set_pool_access(9, 1, true);
  EXPECT_FALSE(space.check(base, 4, 1, true));
}

TEST_F(address_spaces, host_memory_is_accessible_while_it_is_registered) {
  std::vector<int> values(100);
  auto base = reinterpret_cast<address>(values.data());
  EXPECT_EQ(problem(base, 4), range_problem::host_memory);
  ASSERT_TRUE(space.register_host(values.data(), 400, 1, 1));
  EXPECT_FALSE(space.register_host(values.data() + 10, 4, 1, 1)) << "overlaps";
  EXPECT_EQ(space.find_live(base)->device, 1);
  EXPECT_FALSE(space.check(base, 400, 1, true));
  EXPECT_EQ(space.view(base + 4), reinterpret_cast<std::byte*>(&values[1]));
  EXPECT_EQ(space.unregister_host(values.data()).status, free_status::done);
  EXPECT_EQ(space.unregister_host(values.data()).status, free_status::unknown);
  EXPECT_EQ(problem(base, 4), range_problem::host_memory);
}

TEST_F(address_spaces, read_only_memory_may_be_read) {
  allocation_request request;
  request.size = 64;
  request.is_read_only = true;
  address base = space.allocate(request).value();
  EXPECT_FALSE(space.check(base, 64, 0, false));
  EXPECT_EQ(problem(base, 4, 0, true), range_problem::read_only);
}

TEST_F(address_spaces, addresses_relative_to_the_arena_repeat) {
  address_space other{{.devices = 2, .device_capacity = 64 << 20, .seed = 7}};
  for (std::uint64_t size : {10, 5000, 70}) {
    allocation_request request;
    request.size = size;
    EXPECT_EQ(allocate(size) - space.device_arena_base(0),
              other.allocate(request).value() - other.device_arena_base(0));
  }
}

TEST_F(address_spaces, live_allocations_are_listed_in_order_of_creation) {
  address a = allocate(1), b = allocate(2, allocation_kind::pinned), c = allocate(3);
  space.release(a);
  auto live = space.live_allocations();
  ASSERT_EQ(live.size(), 2u);
  EXPECT_EQ(live[0].base, b);
  EXPECT_EQ(live[1].base, c);
}

TEST_F(address_spaces, usage_counts_the_memory_of_each_device) {
  const usage empty = space.device_usage(0);
  EXPECT_EQ(empty.capacity, 64u << 20);
  EXPECT_EQ(empty.live, 0u);
  EXPECT_EQ(empty.used, 0u);
  const address a = allocate(1 << 20), b = allocate(2 << 20);
  allocate(1 << 20, allocation_kind::pinned);
  usage now = space.device_usage(0);
  EXPECT_EQ(now.live, 2u);
  EXPECT_GE(now.used, 3u << 20);
  EXPECT_EQ(now.high_water, now.used);
  EXPECT_EQ(space.device_usage(1).live, 0u);
  space.release(b);
  const std::uint64_t high = now.high_water;
  now = space.device_usage(0);
  EXPECT_EQ(now.live, 1u);
  EXPECT_LE(now.used, high - (2u << 20));
  EXPECT_EQ(now.high_water, high);
  space.release(a);
  now = space.device_usage(0);
  EXPECT_EQ(now.live, 0u);
  EXPECT_EQ(now.used, 0u);
}

TEST_F(address_spaces, the_generation_changes_when_memory_becomes_inaccessible) {
  address base = allocate(8);
  std::uint64_t before = space.generation();
  allocate(8);
  EXPECT_EQ(space.generation(), before);
  space.release(base);
  EXPECT_NE(space.generation(), before);
  std::vector<int> values(100);
  ASSERT_TRUE(space.register_host(values.data(), 400, 1, 1));
  before = space.generation();
  space.unregister_host(values.data());
  EXPECT_NE(space.generation(), before);
  for (const bool is_enabled : {true, false}) {
    before = space.generation();
    space.set_peer_access(1, 0, is_enabled);
    EXPECT_NE(space.generation(), before) << is_enabled;
    before = space.generation();
    space.set_pool_access(0, 1, is_enabled);
    EXPECT_NE(space.generation(), before) << is_enabled;
  }
}

TEST_F(address_spaces, windows_lie_behind_the_arenas_and_apart) {
  const address end = space.device_arena_base(1) + 2 * arena_bytes;  // the host's is the last one
  EXPECT_EQ(space.device_arena_base(1) - space.device_arena_base(0), arena_bytes);
  EXPECT_GE(space.shared_window(), end);
  EXPECT_GE(space.local_window(), space.shared_window() + window_bytes);
  const address reserved = space.reserve_virtual(1 << 21, 1 << 21, 0).value();
  EXPECT_GE(reserved, space.local_window() + window_bytes);
  EXPECT_FALSE(space.register_host(reinterpret_cast<void*>(space.local_window()), 4, 0, 1));
  EXPECT_FALSE(space.register_host(reinterpret_cast<void*>(space.shared_window()), 4, 0, 1));
}

}  // namespace
}  // namespace halfwarp::tests
