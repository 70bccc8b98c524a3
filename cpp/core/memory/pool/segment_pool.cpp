// SPDX-License-Identifier: Apache-2.0
// A memory pool in stream order: allocation and deallocation.
#include "core/memory/pool/segment_pool.hpp"

#include <time.h>

#include <algorithm>
#include <utility>

namespace halfwarp::core {
namespace {

// Size split off a block of another stream: the stream is likely to allocate more.
constexpr std::size_t cross_stream_size = std::size_t{2} << 20;
constexpr unsigned node_batch = 64;

// Reads a clock with a resolution of some milliseconds; the exact clock costs four times as much.
std::int64_t now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

void raise_to(std::atomic<std::size_t>& peak, std::size_t reached) noexcept {
  std::size_t highest = peak.load(std::memory_order_relaxed);
  while (reached > highest &&
         !peak.compare_exchange_weak(highest, reached, std::memory_order_relaxed)) {
  }
}

}  // namespace

segment_pool::segment_pool(std::shared_ptr<pool_totals> totals) : totals_{std::move(totals)} {}

void segment_pool::mark_live(block& target, std::size_t requested, std::size_t uncounted,
                             CUstream stream) noexcept {
  target.stream.store(stream, std::memory_order_relaxed);
  target.since.store(now(), std::memory_order_relaxed);
  target.requested.store(requested, std::memory_order_relaxed);
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
    totals_->allocated -= std::exchange(each->unsubtracted, 0);
  }
}

void segment_pool::count_at_once() noexcept {
  counts_at_once_.store(true);
  const spin_guard guard{lock_};  // counts the frees that did not see the flag
  count_frees();
}

void segment_pool::close() noexcept {
  is_closed_.store(true);
  count_at_once();
}

block* segment_pool::allocate(std::size_t requested, const stream_ref& stream) {
  const std::size_t size = rounded_to_unit(requested);
  stream_blocks& home = home_of(stream);
  block* result = nullptr;
  std::size_t uncounted = 0;
  if (size < requested || is_inert()) return nullptr;  // the rounded size overflowed
  if (size <= quick_limit) {
    const spin_guard guard{home.lock};
    result = home.pop_quick(size);
    if (result != nullptr) {
      uncounted = home.count_allocation(requested);
      ++home.reused;
    }
  }
  if (result == nullptr) return allocate_from_bins(requested, stream, use_for(size));
  mark_live(*result, requested, uncounted, stream.raw());
  return result;
}

block* segment_pool::allocate_from_bins(std::size_t requested, const stream_ref& stream,
                                        segment_use use) {
  const block_request request{rounded_to_unit(requested), use};
  stream_blocks& home = home_of(stream);
  if (request.size < requested || is_inert()) return nullptr;
  bool is_own = true;
  block* result = take_fit(home, home, request);
  if (result == nullptr) {
    result = take_fit(idle_, home, request);
    is_own = false;
  }
  if (result == nullptr) return nullptr;
  std::size_t uncounted = 0;
  {
    const spin_guard guard{home.lock};
    uncounted = home.count_allocation(requested);
    home.reused += is_own;
  }
  mark_live(*result, requested, uncounted, stream.raw());
  return result;
}

block* segment_pool::take_fit(stream_blocks& from, stream_blocks& home,
                              const block_request& request) {
  const spin_guard guard{lock_};
  block* result = from.bins.best_fit(request);
  if (result == nullptr) {
    flush_quick(from);
    result = from.bins.best_fit(request);
    if (result == nullptr) return nullptr;
  }
  prepare_blocks();
  from.bins.remove(*result);
  if (&from != &home) {
    split(*result, std::max(request.size, cross_stream_size));
    result->home = &home;
    const spin_guard inner{home.lock};
    result->freed = ++home.freed;
  }
  split(*result, request.size);
  return result;
}

bool segment_pool::free(block& target, stream_blocks& home) noexcept {
  const std::size_t requested = target.requested.load(std::memory_order_relaxed);
  target.requested.store(0, std::memory_order_relaxed);
  if (target.home != &home) change_home(target, home);
  const bool is_quick = target.size <= quick_limit;
  bool is_counted = false;
  {
    if (!is_quick) lock_.lock();
    const spin_guard guard{home.lock};
    target.freed = ++home.freed;
    --home.live;
    ++home.frees;
    is_counted = counts_at_once_.load(std::memory_order_relaxed);
    if (!is_counted) home.unsubtracted += requested;
    if (is_quick) home.push_quick(target);
  }
  if (!is_quick) {
    insert_merged(target);
    lock_.unlock();
  }
  return is_counted && totals_->allocated.fetch_sub(requested) == requested && is_closed();
}

void segment_pool::change_home(block& live, stream_blocks& target) noexcept {
  {
    const spin_guard guard{live.home->lock};
    --live.home->live;
  }
  live.home = &target;
  const spin_guard guard{target.lock};
  ++target.live;
}

// Allocates nodes in advance, so that split() cannot fail.
void segment_pool::prepare_blocks() {
  if (spares_ >= 2) return;
  auto batch = std::make_unique<block[]>(node_batch);
  block* const first = batch.get();
  nodes_.push_back(std::move(batch));
  for (unsigned i = 0; i < node_batch; ++i) {
    first[i].next = spare_;
    spare_ = &first[i];
  }
  spares_ += node_batch;
}

block& segment_pool::new_block() noexcept {
  block& result = *spare_;
  spare_ = result.next;
  --spares_;
  return result;
}

void segment_pool::split(block& target, std::size_t size) noexcept {
  if (target.size <= size) return;
  block& remainder = new_block();
  remainder.address = target.address + size;
  remainder.size = target.size - size;
  remainder.home = target.home;
  remainder.freed = target.freed;
  remainder.parent = target.parent;
  remainder.previous = &target;
  remainder.following = target.following;
  if (remainder.following != nullptr) remainder.following->previous = &remainder;
  target.following = &remainder;
  target.size = size;
  remainder.home->bins.insert(remainder);
}

void segment_pool::merge(block& target, block& absorbed) noexcept {
  target.size += absorbed.size;
  target.freed = std::max(target.freed, absorbed.freed);
  target.following = absorbed.following;
  if (target.following != nullptr) target.following->previous = &target;
  absorbed.next = spare_;
  spare_ = &absorbed;
  ++spares_;
}

void segment_pool::insert_merged(block& target) noexcept {
  block* whole = &target;
  const auto is_mate = [&target](const block* other) {
    return other != nullptr && other->is_free && other->home == target.home;
  };
  free_blocks& bins = target.home->bins;
  if (block* const following = target.following; is_mate(following)) {
    bins.remove(*following);
    merge(target, *following);
  }
  if (block* const previous = target.previous; is_mate(previous)) {
    bins.remove(*previous);
    merge(*previous, target);
    whole = previous;
  }
  bins.insert(*whole);
}

void segment_pool::flush_quick(stream_blocks& blocks) noexcept {
  block* first_block = nullptr;
  {
    const spin_guard guard{blocks.lock};
    if (!blocks.has_quick) return;
    blocks.has_quick = false;
    for (block*& first : blocks.quick) {
      while (first != nullptr) {
        block* const each = first;
        first = each->next;
        each->next = first_block;
        first_block = each;
      }
    }
  }
  while (first_block != nullptr) {
    block* const next = first_block->next;
    insert_merged(*first_block);
    first_block = next;
  }
}

block* segment_pool::add_segment(CUdeviceptr address, std::size_t size, void* owner,
                                 const stream_ref& stream, std::size_t requested) {
  stream_blocks& home = home_of(stream);
  const segment_use use = requested == 0 ? segment_use::all_blocks : use_for(requested);
  auto created = std::make_unique<segment>(segment{address, size, use, owner, nullptr});
  block* result = nullptr;
  std::size_t uncounted = 0;
  {
    const spin_guard guard{lock_};
    prepare_blocks();
    block& whole = new_block();
    whole.address = address;
    whole.size = size;
    whole.home = &home;
    whole.parent = created.get();
    whole.previous = whole.following = nullptr;
    created->first = &whole;
    created->next = segments_;
    segments_ = created.release();
    result = &whole;
    const spin_guard inner{home.lock};
    whole.freed = ++home.freed;
    if (requested == 0) {
      home.bins.insert(whole);
    } else {
      split(whole, rounded_to_unit(requested));
      uncounted = home.count_allocation(requested);
    }
  }
  ++totals_->upstream_allocs;
  raise_to(totals_->reserved_peak, totals_->reserved.load());
  if (requested == 0) return nullptr;
  mark_live(*result, requested, uncounted, stream.raw());
  return result;
}

}  // namespace halfwarp::core
