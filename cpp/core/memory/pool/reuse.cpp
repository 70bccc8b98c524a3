// SPDX-License-Identifier: Apache-2.0
// The slow path of a pool: reuse of memory freed on other streams, and return of segments upstream.
// Needs driver calls.
#include <algorithm>
#include <utility>

#include "core/memory/free_order.hpp"
#include "core/memory/pool/segment_pool.hpp"

namespace halfwarp::core {
namespace {

// A failed query counts as not completed; waiting for the event will report the error.
bool is_reached(const event_ref& event) noexcept {
  return driver::try_call(driver::table->cuEventQuery, event.raw()) == CUDA_SUCCESS;
}

}  // namespace

void stream_blocks::mark_completed(unsigned long long up_to) noexcept {
  event_handle reached;  // destroyed after the lock is released
  const spin_guard guard_lock{lock};
  completed = std::max(completed, up_to);
  if (guarded <= completed) guard.swap(reached);
}

void stream_blocks::set_guard(event_handle event, unsigned long long up_to) noexcept {
  const spin_guard guard_lock{lock};
  if (up_to <= guarded) return;
  guard.swap(event);  // the older event is destroyed after the lock is released
  guarded = up_to;
}

stream_blocks::state stream_blocks::read_state() noexcept {
  const spin_guard guard_lock{lock};
  return {guard, freed, guarded, completed};
}

void stream_blocks::clear() noexcept {
  bins = {};
  std::fill(std::begin(quick), std::end(quick), nullptr);
  has_quick = false;
  releasable = live = freed = guarded = completed = allocations = allocated_bytes = frees = reused =
      unsubtracted = 0;
}

// Iterates over the lists of the streams. Pins the current list, so that the driver can be called
// without a lock in between.
class segment_pool::home_iterator {
 public:
  explicit home_iterator(segment_pool& pool) noexcept : pool_{pool} {}
  ~home_iterator() {
    if (current_ != nullptr) {
      const spin_guard guard{pool_.lock_};
      pool_.unpin(*current_);
    }
    pool_.delete_dead();
  }
  home_iterator(const home_iterator&) = delete;  // each pin is undone once
  home_iterator& operator=(const home_iterator&) = delete;

  [[nodiscard]] stream_blocks* next() noexcept {
    const spin_guard guard{pool_.lock_};
    stream_blocks* const following = current_ == nullptr ? pool_.homes_ : current_->next_of_pool;
    if (following != nullptr) ++following->pins;
    if (current_ != nullptr) pool_.unpin(*current_);
    return current_ = following;
  }

 private:
  segment_pool& pool_;
  stream_blocks* current_ = nullptr;
};

bool segment_pool::has_fit(stream_blocks& blocks, const block_request& request) noexcept {
  const spin_guard guard{lock_};
  flush_quick(blocks);
  return blocks.bins.best_fit(request) != nullptr;
}

// Updates which frees have completed. Records an event after the later ones, unless the requested
// block is already free among those with an event.
void segment_pool::update_completed(stream_blocks& blocks, const block_request* request) noexcept {
  stream_blocks::state seen = blocks.read_state();
  if (seen.is_complete()) return;
  if (blocks.context.is_destroyed()) return blocks.mark_completed(seen.freed);  // its work too
  if (seen.guard && is_reached(seen.guard)) blocks.mark_completed(seen.guarded);
  if (seen.freed == seen.guarded) return;
  if (request != nullptr && has_fit(blocks, {request->size, request->use, seen.guarded})) return;
  if (!record_guard(blocks, seen.freed)) return;
  seen = blocks.read_state();
  if (seen.guard && is_reached(seen.guard)) blocks.mark_completed(seen.guarded);
}

// Returns false if no event can be recorded: the stream is being captured, or failed, which its
// next user learns from the driver.
bool segment_pool::record_guard(stream_blocks& blocks, unsigned long long freed) noexcept {
  const std::lock_guard stream_lock{blocks.stream_lock};
  if (!blocks.is_attached || blocks.is_per_thread()) return false;
  try {
    const current_scope scope{blocks.context.raw()};
    if (is_capturing(blocks.raw)) return false;
    blocks.set_guard(record_event(blocks.context, blocks.raw, CU_EVENT_DISABLE_TIMING), freed);
  } catch (const driver::driver_error&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

block* segment_pool::allocate_across_streams(std::size_t requested, const stream_ref& stream,
                                             segment_use use) {
  const block_request request{rounded_to_unit(requested), use};
  const auto up_to = [&request](unsigned long long latest) {
    return block_request{request.size, request.use, latest};
  };
  if (request.size < requested) return nullptr;
  const relaxed_capture_scope relaxed;
  stream_blocks& home = home_of(stream);
  block* result = nullptr;
  for (home_iterator iterator{*this}; stream_blocks* other = iterator.next();) {
    if (other == &home || !has_fit(*other, request)) continue;
    update_completed(*other, &request);
    const stream_blocks::state seen = other->read_state();
    result = take_fit(*other, home, up_to(seen.completed));
    if (other->is_orphan && seen.is_complete()) move_completed(*other, seen.freed, idle_);
    if (result != nullptr) break;
  }
  if (result == nullptr) result = take_fit(idle_, home, request);
  for (home_iterator iterator{*this}; result == nullptr && use == segment_use::all_blocks;) {
    stream_blocks* const other = iterator.next();
    if (other == nullptr) break;
    const stream_blocks::state seen = other->read_state();
    if (other == &home || !seen.guard || !has_fit(*other, up_to(seen.guarded))) continue;
    driver::call(driver::table->cuStreamWaitEvent, stream.raw(), seen.guard.raw(), 0u);
    ++totals_->cross_stream_waits;
    result = take_fit(*other, home, up_to(seen.guarded));
  }
  if (result == nullptr) {  // merge adjacent blocks of several streams
    for (home_iterator iterator{*this}; stream_blocks* const other = iterator.next();) {
      if (other == &home) continue;
      update_completed(*other);
      move_completed(*other, other->read_state().completed, home);
    }
    move_completed(idle_, 0, home);
    result = take_fit(home, home, request);
    if (result == nullptr) result = take_fit(home, home, {request.size});
  }
  if (result == nullptr) return nullptr;
  std::size_t uncounted = 0;
  {
    const spin_guard guard{home.lock};
    uncounted = home.count_allocation(requested);
  }
  ++totals_->reuse_cross_stream;
  mark_live(*result, requested, uncounted, stream.raw());
  return result;
}

bool segment_pool::free_on_this_thread(block& target, const stream_ref& stream) {
  stream_blocks& home = home_of(stream);
  const bool was_last = free(target, home);
  const unsigned long long freed = home.read_state().freed;
  const relaxed_capture_scope relaxed;
  if (!is_capturing(home.raw)) {
    home.set_guard(record_event(home.context, home.raw, CU_EVENT_DISABLE_TIMING), freed);
  }
  return was_last;
}

// Moves blocks whose last use has completed to another list.
void segment_pool::move_completed(stream_blocks& from, unsigned long long latest,
                                  stream_blocks& to) noexcept {
  const spin_guard guard{lock_};
  flush_quick(from);
  while (block* const each = from.bins.best_fit({block_unit, segment_use::all_blocks, latest})) {
    from.bins.remove(*each);
    each->home = &to;
    each->freed = 0;
    insert_merged(*each);
  }
}

void segment_pool::synchronize() {
  const relaxed_capture_scope relaxed;
  for (home_iterator homes{*this}; stream_blocks* each = homes.next();) {
    const unsigned long long freed = each->read_state().freed;
    if (!each->context.is_destroyed()) synchronize_context(each->context.context());
    each->mark_completed(freed);
    move_completed(*each, freed, idle_);
  }
}

bool segment_pool::reserve(std::size_t size, std::size_t limit) noexcept {
  std::size_t reserved = totals_->reserved.load();
  do {
    if (size > limit || reserved > limit - size) return false;
  } while (!totals_->reserved.compare_exchange_weak(reserved, reserved + size));
  return true;
}

bool segment_pool::is_free(const segment& target) noexcept {
  for (const block* each = target.first; each != nullptr; each = each->following) {
    if (!each->is_free || each->freed > each->home->releasable) return false;
  }
  return true;
}

void segment_pool::remove_blocks(segment& target) noexcept {
  for (block* each = target.first; each != nullptr;) {
    block* const next = each->following;
    if (each->is_free) each->home->bins.remove(*each);
    each->has_no_owner = false;
    each->next = spare_;
    spare_ = each;
    ++spares_;
    each = next;
  }
  totals_->reserved -= target.size;
  ++totals_->upstream_frees;
}

segment* segment_pool::remove_free_segments(std::size_t min_bytes, const stream_ref& stream) {
  const relaxed_capture_scope relaxed;
  for (home_iterator homes{*this}; stream_blocks* each = homes.next();) {
    update_completed(*each);
    const stream_blocks::state seen = each->read_state();
    if (!seen.is_complete() && seen.guard) {
      driver::call(driver::table->cuStreamWaitEvent, stream.raw(), seen.guard.raw(), 0u);
    }
    const spin_guard guard{lock_};
    flush_quick(*each);
    each->releasable = std::max(seen.guarded, seen.completed);
  }
  segment* removed = nullptr;
  lock_.lock();
  for (segment** at = &segments_; *at != nullptr;) {
    segment* const each = *at;
    if (!is_free(*each) || totals_->reserved - each->size < min_bytes) {
      at = &each->next;
      continue;
    }
    *at = each->next;
    remove_blocks(*each);
    each->next = removed;
    removed = each;
  }
  lock_.unlock();
  home_iterator unused{*this};  // deletes the lists of destroyed streams
  while (unused.next() != nullptr) {
  }
  return removed;
}

segment* segment_pool::remove_all_segments() noexcept {
  const spin_guard guard{lock_};
  for (stream_blocks* each = homes_; each != nullptr; each = each->next_of_pool) flush_quick(*each);
  for (segment* each = segments_; each != nullptr; each = each->next) remove_blocks(*each);
  return std::exchange(segments_, nullptr);
}

pool_figures segment_pool::figures() noexcept {
  pool_figures all;
  const spin_guard guard{lock_};
  count_frees();
  for (stream_blocks* each = homes_; each != nullptr; each = each->next_of_pool) {
    flush_quick(*each);
    const spin_guard inner{each->lock};
    all.allocations += each->allocations;
    all.allocated_bytes += each->allocated_bytes;
    all.frees += each->frees;
    all.reuse_same_stream += each->reused;
  }
  for (const segment* part = segments_; part != nullptr; part = part->next) {
    for (const block* each = part->first; each != nullptr; each = each->following) {
      if (!each->is_free) continue;
      all.free_bytes += each->size;
      all.largest_free_block = std::max(all.largest_free_block, each->size);
    }
  }
  return all;
}

std::vector<live_block> segment_pool::live_blocks() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  const std::int64_t now = time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
  std::vector<live_block> result;
  const spin_guard guard{lock_};
  for (const segment* part = segments_; part != nullptr; part = part->next) {
    for (const block* each = part->first; each != nullptr; each = each->following) {
      const std::size_t requested = each->requested.load(std::memory_order_relaxed);
      if (requested == 0) continue;
      const std::int64_t age = now - each->since.load(std::memory_order_relaxed);
      result.push_back({each->address, requested, each->stream.load(std::memory_order_relaxed),
                        static_cast<double>(age) * 1e-9});
    }
  }
  return result;
}

void segment_pool::disown(block& live) noexcept {
  const spin_guard guard{lock_};
  live.has_no_owner = true;
}

block* segment_pool::claim(CUdeviceptr address, bool& is_owned) noexcept {
  const spin_guard guard{lock_};
  is_owned = false;
  for (const segment* part = segments_; part != nullptr; part = part->next) {
    if (address - part->address >= part->size) continue;
    for (block* each = part->first; each != nullptr; each = each->following) {
      if (each->address != address || each->requested.load() == 0) continue;
      is_owned = !std::exchange(each->has_no_owner, false);
      return is_owned ? nullptr : each;
    }
  }
  return nullptr;
}

bool segment_pool::overlaps(CUdeviceptr address, std::size_t size) noexcept {
  const spin_guard guard{lock_};
  for (const segment* part = segments_; part != nullptr; part = part->next) {
    if (address < part->address + part->size && part->address < address + size) return true;
  }
  return false;
}

}  // namespace halfwarp::core
