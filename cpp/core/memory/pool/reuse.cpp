// SPDX-License-Identifier: Apache-2.0
// What happens where a stream finds nothing free: memory that other streams freed, and memory that
// goes back upstream. Rare, and made of driver calls.
#include <algorithm>
#include <utility>

#include "core/memory/free_order.hpp"
#include "core/memory/pool/segment_pool.hpp"

namespace halfwarp::core {
namespace {

// What cannot be found out counts as not reached: whoever waits for it is told why.
bool is_reached(const event_ref& event) noexcept {
  return driver::try_call(driver::table->cuEventQuery, event.raw()) == CUDA_SUCCESS;
}

}  // namespace

void stream_blocks::complete(unsigned long long up_to) noexcept {
  event_handle reached;  // goes after the lock
  const spin_guard taken{lock};
  completed = std::max(completed, up_to);
  if (guarded <= completed) guard.swap(reached);
}

void stream_blocks::guard_with(event_handle event, unsigned long long up_to) noexcept {
  const spin_guard taken{lock};
  if (up_to <= guarded) return;
  guard.swap(event);  // the older one goes after the lock
  guarded = up_to;
}

stream_blocks::state stream_blocks::look() noexcept {
  const spin_guard taken{lock};
  return {guard, freed, guarded, completed};
}

void stream_blocks::clear() noexcept {
  bins = {};
  std::fill(std::begin(quick), std::end(quick), nullptr);
  has_quick = false;
  releasable = live = freed = guarded = completed = allocations = allocated_bytes = frees = reused =
      given_back = 0;
}

// Goes through the lists of the streams, each pinned while it is the current one: the driver is
// called meanwhile, without a lock.
class segment_pool::each_home {
 public:
  explicit each_home(segment_pool& of) noexcept : of_{of} {}
  ~each_home() {
    if (current_ != nullptr) {
      const spin_guard guard{of_.lock_};
      of_.unpin(*current_);
    }
    of_.bury();
  }
  each_home(const each_home&) = delete;  // what is pinned is let go once
  each_home& operator=(const each_home&) = delete;

  [[nodiscard]] stream_blocks* next() noexcept {
    const spin_guard guard{of_.lock_};
    stream_blocks* const following = current_ == nullptr ? of_.homes_ : current_->next_of_pool;
    if (following != nullptr) ++following->pins;
    if (current_ != nullptr) of_.unpin(*current_);
    return current_ = following;
  }

 private:
  segment_pool& of_;
  stream_blocks* current_ = nullptr;
};

bool segment_pool::has_fit(stream_blocks& in, const wanted_block& wanted) noexcept {
  const spin_guard guard{lock_};
  settle(in);
  return in.bins.best_fit(wanted) != nullptr;
}

// Finds out which frees are done, and records an event after those that matter: after any, or where
// what is wanted is not free among those that have one.
void segment_pool::learn(stream_blocks& of, const wanted_block* wanted) noexcept {
  stream_blocks::state seen = of.look();
  if (seen.is_complete()) return;
  if (of.context.is_gone()) return of.complete(seen.freed);  // and all work with it
  if (seen.guard && is_reached(seen.guard)) of.complete(seen.guarded);
  if (seen.freed == seen.guarded) return;
  if (wanted != nullptr && has_fit(of, {wanted->size, wanted->in, seen.guarded})) return;
  if (!record_guard(of, seen.freed)) return;
  seen = of.look();
  if (seen.guard && is_reached(seen.guard)) of.complete(seen.guarded);
}

// False where the stream cannot be asked now: it is being captured, or it failed, which whoever
// uses it is told.
bool segment_pool::record_guard(stream_blocks& of, unsigned long long freed) noexcept {
  const std::lock_guard naming{of.naming};
  if (!of.is_attached || of.is_per_thread()) return false;
  try {
    const current_scope scope{of.context.raw()};
    if (is_capturing(of.raw)) return false;
    of.guard_with(record_event(of.context, of.raw, CU_EVENT_DISABLE_TIMING), freed);
  } catch (const driver::driver_error&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

block* segment_pool::take_from_others(std::size_t requested, const stream_ref& stream,
                                      segment_use in) {
  const wanted_block wanted{rounded_to_unit(requested), in};
  const auto up_to = [&wanted](unsigned long long latest) {
    return wanted_block{wanted.size, wanted.in, latest};
  };
  if (wanted.size < requested) return nullptr;
  const relaxed_capture_scope relaxed;
  stream_blocks& home = home_of(stream);
  block* found = nullptr;
  for (each_home others{*this}; stream_blocks* other = others.next();) {
    if (other == &home || !has_fit(*other, wanted)) continue;
    learn(*other, &wanted);
    const stream_blocks::state seen = other->look();
    found = take(*other, home, up_to(seen.completed));
    if (other->is_orphan && seen.is_complete()) gather(*other, seen.freed, anyones_);
    if (found != nullptr) break;
  }
  if (found == nullptr) found = take(anyones_, home, wanted);
  for (each_home others{*this}; found == nullptr && in == segment_use::all_blocks;) {
    stream_blocks* const other = others.next();
    if (other == nullptr) break;
    const stream_blocks::state seen = other->look();
    if (other == &home || !seen.guard || !has_fit(*other, up_to(seen.guarded))) continue;
    driver::call(driver::table->cuStreamWaitEvent, stream.raw(), seen.guard.raw(), 0u);
    ++totals_->cross_stream_waits;
    found = take(*other, home, up_to(seen.guarded));
  }
  if (found == nullptr) {  // pieces that are neighbours, but of several streams
    for (each_home others{*this}; stream_blocks* const other = others.next();) {
      if (other == &home) continue;
      learn(*other);
      gather(*other, other->look().completed, home);
    }
    gather(anyones_, 0, home);
    found = take(home, home, wanted);
    if (found == nullptr) found = take(home, home, {wanted.size});
  }
  if (found == nullptr) return nullptr;
  std::size_t uncounted = 0;
  {
    const spin_guard guard{home.lock};
    uncounted = home.count_allocation(requested);
  }
  ++totals_->reuse_cross_stream;
  hand_out(*found, requested, uncounted, stream.raw());
  return found;
}

bool segment_pool::free_on_this_thread(block& given, const stream_ref& stream) {
  stream_blocks& home = home_of(stream);
  const bool was_last = free(given, home);
  const unsigned long long freed = home.look().freed;
  const relaxed_capture_scope relaxed;
  if (!is_capturing(home.raw)) {
    home.guard_with(record_event(home.context, home.raw, CU_EVENT_DISABLE_TIMING), freed);
  }
  return was_last;
}

// Gives what nothing uses any more to another stream, or to anyone.
void segment_pool::gather(stream_blocks& from, unsigned long long latest,
                          stream_blocks& to) noexcept {
  const spin_guard guard{lock_};
  settle(from);
  while (block* const each = from.bins.best_fit({block_unit, segment_use::all_blocks, latest})) {
    from.bins.remove(*each);
    each->home = &to;
    each->freed = 0;
    give_home(*each);
  }
}

void segment_pool::synchronize() {
  const relaxed_capture_scope relaxed;
  for (each_home homes{*this}; stream_blocks* each = homes.next();) {
    const unsigned long long freed = each->look().freed;
    if (!each->context.is_gone()) synchronize_context(each->context.context());
    each->complete(freed);
    gather(*each, freed, anyones_);
  }
}

bool segment_pool::reserve(std::size_t size, std::size_t limit) noexcept {
  std::size_t before = totals_->reserved.load();
  do {
    if (size > limit || before > limit - size) return false;
  } while (!totals_->reserved.compare_exchange_weak(before, before + size));
  return true;
}

bool segment_pool::is_free(const segment& of) noexcept {
  for (const block* each = of.first; each != nullptr; each = each->after) {
    if (!each->is_free || each->freed > each->home->releasable) return false;
  }
  return true;
}

void segment_pool::take_out(segment& of) noexcept {
  for (block* each = of.first; each != nullptr;) {
    block* const next = each->after;
    if (each->is_free) each->home->bins.remove(*each);
    each->next = spare_;
    spare_ = each;
    ++spares_;
    each = next;
  }
  totals_->reserved -= of.size;
  ++totals_->upstream_frees;
}

segment* segment_pool::take_segments(std::size_t keep, const stream_ref& order) {
  const relaxed_capture_scope relaxed;
  for (each_home homes{*this}; stream_blocks* each = homes.next();) {
    learn(*each);
    const stream_blocks::state seen = each->look();
    if (!seen.is_complete() && seen.guard) {
      driver::call(driver::table->cuStreamWaitEvent, order.raw(), seen.guard.raw(), 0u);
    }
    const spin_guard guard{lock_};
    settle(*each);
    each->releasable = std::max(seen.guarded, seen.completed);
  }
  segment* taken = nullptr;
  lock_.lock();
  for (segment** at = &segments_; *at != nullptr;) {
    segment* const each = *at;
    if (!is_free(*each) || totals_->reserved - each->size < keep) {
      at = &each->next;
      continue;
    }
    *at = each->next;
    take_out(*each);
    each->next = taken;
    taken = each;
  }
  lock_.unlock();
  each_home unused{*this};  // of streams that are gone
  while (unused.next() != nullptr) {
  }
  return taken;
}

segment* segment_pool::take_all_segments() noexcept {
  const spin_guard guard{lock_};
  for (stream_blocks* each = homes_; each != nullptr; each = each->next_of_pool) settle(*each);
  for (segment* each = segments_; each != nullptr; each = each->next) take_out(*each);
  return std::exchange(segments_, nullptr);
}

pool_figures segment_pool::figures() noexcept {
  pool_figures all;
  const spin_guard guard{lock_};
  count_frees();
  for (stream_blocks* each = homes_; each != nullptr; each = each->next_of_pool) {
    settle(*each);
    const spin_guard inner{each->lock};
    all.allocations += each->allocations;
    all.allocated_bytes += each->allocated_bytes;
    all.frees += each->frees;
    all.reuse_same_stream += each->reused;
  }
  for (const segment* of = segments_; of != nullptr; of = of->next) {
    for (const block* each = of->first; each != nullptr; each = each->after) {
      if (!each->is_free) continue;
      all.free_bytes += each->size;
      all.largest_free_block = std::max(all.largest_free_block, each->size);
    }
  }
  return all;
}

std::vector<live_block> segment_pool::live_blocks() {
  timespec at{};
  clock_gettime(CLOCK_MONOTONIC, &at);
  const std::int64_t now = at.tv_sec * std::int64_t{1'000'000'000} + at.tv_nsec;
  std::vector<live_block> found;
  const spin_guard guard{lock_};
  for (const segment* of = segments_; of != nullptr; of = of->next) {
    for (const block* each = of->first; each != nullptr; each = each->after) {
      const std::size_t requested = each->requested.load(std::memory_order_relaxed);
      if (requested == 0) continue;
      const std::int64_t age = now - each->since.load(std::memory_order_relaxed);
      found.push_back({each->address, requested, each->stream.load(std::memory_order_relaxed),
                       static_cast<double>(age) * 1e-9});
    }
  }
  return found;
}

block* segment_pool::find(CUdeviceptr address) noexcept {
  const spin_guard guard{lock_};
  for (const segment* of = segments_; of != nullptr; of = of->next) {
    if (address - of->address >= of->size) continue;
    for (block* each = of->first; each != nullptr; each = each->after) {
      if (each->address == address && each->requested.load() != 0) return each;
    }
  }
  return nullptr;
}

}  // namespace halfwarp::core
