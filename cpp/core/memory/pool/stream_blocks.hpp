// SPDX-License-Identifier: Apache-2.0
// The blocks that a pool has free in the order of one stream.
#pragma once

#include <algorithm>
#include <mutex>

#include "core/lifetime/spin_lock.hpp"
#include "core/memory/pool/free_blocks.hpp"
#include "core/stream.hpp"

namespace halfwarp::core {

class segment_pool;

// Guards `pool` of all lists and the holders of all pools; acquired before the lock of a pool.
inline constinit spin_lock pool_attachments;

// Freed blocks up to this size are cached unmerged, under the lock of their stream alone. Larger
// ones are merged with their free neighbors, under the lock of the pool.
inline constexpr std::size_t quick_limit = small_limit;

// Reached from the stream's handle, so that a reused CUstream value cannot find the list of a
// destroyed stream; for a default stream, by the driver's unique stream id. Frees are numbered:
// blocks freed up to `guarded` are no longer used once `guard` completed, those up to `completed`
// now.
class stream_blocks {
 public:
  // Null once the pool is deleted. Written under pool_attachments.
  std::atomic<segment_pool*> pool{nullptr};
  stream_blocks* next_of_stream = nullptr;
  stream_blocks* next_of_pool = nullptr;  // guarded by the lock of the pool, like the next four:
  free_blocks bins;
  unsigned pins = 0;                   // threads that call the driver for it without the lock
  std::atomic<bool> is_orphan{false};  // the stream was destroyed
  unsigned long long releasable = 0;   // last free that remove_free_segments() may free

  CUstream raw = nullptr;
  context_instance context;
  unsigned long long id = 0;  // of a default stream; the null driver gives all of them 0

  // Held while the driver is called with the stream, and at its end. Never with a spin lock held.
  std::mutex stream_lock;
  bool is_attached = true;

  spin_lock lock;  // guards the members below
  block* quick[bin_of(quick_limit) + 1]{};
  bool has_quick = false;
  unsigned long long live = 0;  // live blocks that return to this list
  unsigned long long freed = 0;
  event_handle guard;
  unsigned long long guarded = 0;
  unsigned long long completed = 0;
  unsigned long long allocations = 0;  // cumulative, as are the next three
  unsigned long long allocated_bytes = 0;
  unsigned long long frees = 0;
  unsigned long long reused = 0;
  std::size_t unsubtracted = 0;  // freed bytes not subtracted from the totals yet

  [[nodiscard]] bool is_default() const noexcept { return is_default_stream(raw); }
  [[nodiscard]] bool is_per_thread() const noexcept { return raw == CU_STREAM_PER_THREAD; }

  // Require `lock`.
  [[nodiscard]] block* pop_quick(std::size_t size) noexcept {
    for (block** at = &quick[bin_of(size)]; *at != nullptr; at = &(*at)->next) {
      block* const each = *at;
      if (each->size != size) continue;
      *at = each->next;
      return each;
    }
    return nullptr;
  }
  void push_quick(block& target) noexcept {
    block*& first = quick[bin_of(target.size)];
    target.next = first;
    first = &target;
    has_quick = true;
  }
  // Returns the bytes to add to the totals, after offsetting them with unsubtracted frees.
  [[nodiscard]] std::size_t count_allocation(std::size_t requested) noexcept {
    ++live;
    ++allocations;
    allocated_bytes += requested;
    const std::size_t offset = std::min(unsubtracted, requested);
    unsubtracted -= offset;
    return requested - offset;
  }

  // Resets everything except the handles, because the pool is being deleted.
  void clear() noexcept;
  // Marks all frees up to `up_to` as completed; acquires `lock`.
  void mark_completed(unsigned long long up_to) noexcept;
  // Sets an event recorded after the frees up to `up_to`; acquires `lock`.
  void set_guard(event_handle event, unsigned long long up_to) noexcept;

  struct state {
    event_handle guard;
    unsigned long long freed, guarded, completed;
    // Returns whether no stream uses any of the freed blocks.
    [[nodiscard]] bool is_complete() const noexcept { return completed >= freed; }
  };
  [[nodiscard]] state read_state() noexcept;  // acquires `lock`
};

}  // namespace halfwarp::core
