// SPDX-License-Identifier: Apache-2.0
// A pool of memory in stream order: what each allocation and each free does.
#include "core/memory/pool/segment_pool.hpp"

#include <time.h>

#include <algorithm>
#include <utility>

namespace halfwarp::core {
namespace {

// What a stream takes at once from what another one freed: it will want more.
constexpr std::size_t share_of_another = std::size_t{2} << 20;
constexpr unsigned nodes_at_once = 64;

// Some milliseconds coarse, which reports can do with: the exact one costs four times as much.
std::int64_t now() noexcept {
  timespec at{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &at);
  return at.tv_sec * std::int64_t{1'000'000'000} + at.tv_nsec;
}

void raise_to(std::atomic<std::size_t>& peak, std::size_t reached) noexcept {
  std::size_t highest = peak.load(std::memory_order_relaxed);
  while (reached > highest &&
         !peak.compare_exchange_weak(highest, reached, std::memory_order_relaxed)) {
  }
}

}  // namespace

segment_pool::segment_pool(std::shared_ptr<pool_totals> totals) : totals_{std::move(totals)} {}

void segment_pool::hand_out(block& given, std::size_t requested, std::size_t uncounted,
                            CUstream stream) noexcept {
  given.stream.store(stream, std::memory_order_relaxed);
  given.since.store(now(), std::memory_order_relaxed);
  given.requested.store(requested, std::memory_order_relaxed);
  if (uncounted == 0) return;
  const std::size_t reached = totals_->allocated.fetch_add(uncounted) + uncounted;
  if (reached <= totals_->allocated_peak.load(std::memory_order_relaxed)) return;
  const spin_guard guard{lock_};
  count_frees();
  raise_to(totals_->allocated_peak, totals_->allocated.load());
}

void segment_pool::count_frees() noexcept {
  for (stream_blocks* each = homes_; each != nullptr; each = each->next_of_pool) {
    const spin_guard guard{each->lock};
    totals_->allocated -= std::exchange(each->given_back, 0);
  }
}

void segment_pool::count_at_once() noexcept {
  counts_at_once_.store(true);
  const spin_guard guard{lock_};  // a free that did not see it has left its bytes behind
  count_frees();
}

void segment_pool::close() noexcept {
  is_closed_.store(true);
  count_at_once();
}

block* segment_pool::allocate(std::size_t requested, const stream_ref& stream) {
  const std::size_t size = rounded_to_unit(requested);
  stream_blocks& home = home_of(stream);
  block* found = nullptr;
  std::size_t uncounted = 0;
  if (size < requested || is_inert()) return nullptr;  // more than there are addresses
  if (size <= quick_limit) {
    const spin_guard guard{home.lock};
    found = home.take_quick(size);
    if (found != nullptr) {
      uncounted = home.count_allocation(requested);
      ++home.reused;
    }
  }
  if (found == nullptr) return allocate_from_bins(requested, stream, use_for(size));
  hand_out(*found, requested, uncounted, stream.raw());
  return found;
}

block* segment_pool::allocate_from_bins(std::size_t requested, const stream_ref& stream,
                                        segment_use in) {
  const wanted_block wanted{rounded_to_unit(requested), in};
  stream_blocks& home = home_of(stream);
  if (wanted.size < requested || is_inert()) return nullptr;
  bool is_own = true;
  block* found = take(home, home, wanted);
  if (found == nullptr) {
    found = take(anyones_, home, wanted);
    is_own = false;
  }
  if (found == nullptr) return nullptr;
  std::size_t uncounted = 0;
  {
    const spin_guard guard{home.lock};
    uncounted = home.count_allocation(requested);
    home.reused += is_own;
  }
  hand_out(*found, requested, uncounted, stream.raw());
  return found;
}

block* segment_pool::take(stream_blocks& from, stream_blocks& home, const wanted_block& wanted) {
  const spin_guard guard{lock_};
  block* found = from.bins.best_fit(wanted);
  if (found == nullptr) {
    settle(from);
    found = from.bins.best_fit(wanted);
    if (found == nullptr) return nullptr;
  }
  prepare_blocks();
  from.bins.remove(*found);
  if (&from != &home) {
    cut(*found, std::max(wanted.size, share_of_another));
    found->home = &home;
    const spin_guard inner{home.lock};
    found->freed = ++home.freed;
  }
  cut(*found, wanted.size);
  return found;
}

bool segment_pool::free(block& given, stream_blocks& home) noexcept {
  const std::size_t requested = given.requested.load(std::memory_order_relaxed);
  given.requested.store(0, std::memory_order_relaxed);
  if (given.home != &home) move_home(given, home);
  const bool is_quick = given.size <= quick_limit;
  bool is_counted = false;
  {
    if (!is_quick) lock_.lock();
    const spin_guard guard{home.lock};
    given.freed = ++home.freed;
    --home.live;
    ++home.frees;
    is_counted = counts_at_once_.load(std::memory_order_relaxed);
    if (!is_counted) home.given_back += requested;
    if (is_quick) home.keep_quick(given);
  }
  if (!is_quick) {
    give_home(given);
    lock_.unlock();
  }
  return is_counted && totals_->allocated.fetch_sub(requested) == requested && is_closed();
}

void segment_pool::move_home(block& live, stream_blocks& to) noexcept {
  {
    const spin_guard guard{live.home->lock};
    --live.home->live;
  }
  live.home = &to;
  const spin_guard guard{to.lock};
  ++to.live;
}

// So that what is cut cannot fail half way.
void segment_pool::prepare_blocks() {
  if (spares_ >= 2) return;
  auto made = std::make_unique<block[]>(nodes_at_once);
  block* const first = made.get();
  nodes_.push_back(std::move(made));
  for (unsigned i = 0; i < nodes_at_once; ++i) {
    first[i].next = spare_;
    spare_ = &first[i];
  }
  spares_ += nodes_at_once;
}

block& segment_pool::new_block() noexcept {
  block& made = *spare_;
  spare_ = made.next;
  --spares_;
  return made;
}

void segment_pool::cut(block& given, std::size_t size) noexcept {
  if (given.size <= size) return;
  block& rest = new_block();
  rest.address = given.address + size;
  rest.size = given.size - size;
  rest.home = given.home;
  rest.freed = given.freed;
  rest.of = given.of;
  rest.before = &given;
  rest.after = given.after;
  if (rest.after != nullptr) rest.after->before = &rest;
  given.after = &rest;
  given.size = size;
  rest.home->bins.insert(rest);
}

void segment_pool::join(block& given, block& later) noexcept {
  given.size += later.size;
  given.freed = std::max(given.freed, later.freed);
  given.after = later.after;
  if (given.after != nullptr) given.after->before = &given;
  later.next = spare_;
  spare_ = &later;
  ++spares_;
}

void segment_pool::give_home(block& given) noexcept {
  block* whole = &given;
  const auto is_mate = [&given](const block* other) {
    return other != nullptr && other->is_free && other->home == given.home;
  };
  free_blocks& bins = given.home->bins;
  if (block* const after = given.after; is_mate(after)) {
    bins.remove(*after);
    join(given, *after);
  }
  if (block* const before = given.before; is_mate(before)) {
    bins.remove(*before);
    join(*before, given);
    whole = before;
  }
  bins.insert(*whole);
}

void segment_pool::settle(stream_blocks& of) noexcept {
  block* taken = nullptr;
  {
    const spin_guard guard{of.lock};
    if (!of.has_quick) return;
    of.has_quick = false;
    for (block*& first : of.quick) {
      while (first != nullptr) {
        block* const each = first;
        first = each->next;
        each->next = taken;
        taken = each;
      }
    }
  }
  while (taken != nullptr) {
    block* const next = taken->next;
    give_home(*taken);
    taken = next;
  }
}

block* segment_pool::add_segment(CUdeviceptr address, std::size_t size, void* keeper,
                                 const stream_ref& stream, std::size_t requested) {
  stream_blocks& home = home_of(stream);
  const segment_use use = requested == 0 ? segment_use::all_blocks : use_for(requested);
  auto made = std::make_unique<segment>(segment{address, size, use, keeper, nullptr});
  block* found = nullptr;
  std::size_t uncounted = 0;
  {
    const spin_guard guard{lock_};
    prepare_blocks();
    block& whole = new_block();
    whole.address = address;
    whole.size = size;
    whole.home = &home;
    whole.of = made.get();
    whole.before = whole.after = nullptr;
    made->first = &whole;
    made->next = segments_;
    segments_ = made.release();
    found = &whole;
    const spin_guard inner{home.lock};
    whole.freed = ++home.freed;
    if (requested == 0) {
      home.bins.insert(whole);
    } else {
      cut(whole, rounded_to_unit(requested));
      uncounted = home.count_allocation(requested);
    }
  }
  ++totals_->upstream_allocs;
  raise_to(totals_->reserved_peak, totals_->reserved.load());
  if (requested == 0) return nullptr;
  hand_out(*found, requested, uncounted, stream.raw());
  return found;
}

}  // namespace halfwarp::core
