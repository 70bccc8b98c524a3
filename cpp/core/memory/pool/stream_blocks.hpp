// SPDX-License-Identifier: Apache-2.0
// What a pool has free in the order of one stream.
#pragma once

#include <algorithm>
#include <mutex>

#include "core/lifetime/spin_lock.hpp"
#include "core/memory/pool/free_blocks.hpp"
#include "core/stream.hpp"

namespace halfwarp::core {

class segment_pool;

// Guards `of` of all lists and the holders of all pools; taken before the lock of a pool.
inline constinit spin_lock pool_attachments;

// Blocks up to this size are kept as they are when they are freed, under the lock of their stream
// alone; larger ones are joined with their free neighbours, under the lock of the pool.
inline constexpr std::size_t quick_limit = small_limit;

// Found from the stream's handle, where it is hung up, so that the number of a destroyed stream
// that is used again leads nowhere; of a default stream, by the number that the driver gives once.
// Frees are counted: what was freed up to `guarded` is no longer used once `guard` was reached, and
// nothing uses what was freed up to `completed`.
class stream_blocks {
 public:
  // The pool, where it is still there. Written under the lock of the attachments.
  std::atomic<segment_pool*> of{nullptr};
  stream_blocks* next_of_stream = nullptr;
  stream_blocks* next_of_pool = nullptr;  // under the lock of the pool, as are these:
  free_blocks bins;
  unsigned pins = 0;                   // by those who call the driver meanwhile, without the lock
  std::atomic<bool> is_orphan{false};  // set under the lock of the pool: the stream is gone
  unsigned long long releasable = 0;   // while segments are taken: up to which free

  CUstream raw = nullptr;
  context_instance context;
  unsigned long long id = 0;  // of a default stream

  // Held while the driver is told of the stream, and where it ends. Never with a lock of spinning.
  std::mutex naming;
  bool is_attached = true;

  spin_lock lock;  // what is below
  block* quick[bin_of(quick_limit) + 1]{};
  bool has_quick = false;
  unsigned long long live = 0;  // blocks in use that go back here
  unsigned long long freed = 0;
  event_handle guard;
  unsigned long long guarded = 0;
  unsigned long long completed = 0;
  unsigned long long allocations = 0;  // counters of all time
  unsigned long long allocated_bytes = 0;
  unsigned long long frees = 0;
  unsigned long long reused = 0;
  std::size_t given_back = 0;  // bytes that were freed, but are not subtracted from the totals yet

  [[nodiscard]] bool is_per_thread() const noexcept { return raw == CU_STREAM_PER_THREAD; }

  // Under `lock`.
  [[nodiscard]] block* take_quick(std::size_t size) noexcept {
    for (block** at = &quick[bin_of(size)]; *at != nullptr; at = &(*at)->next) {
      block* const each = *at;
      if (each->size != size) continue;
      *at = each->next;
      return each;
    }
    return nullptr;
  }
  void keep_quick(block& given) noexcept {
    block*& first = quick[bin_of(given.size)];
    given.next = first;
    first = &given;
    has_quick = true;
  }
  // What is to be added to the totals: the rest is what they have still of earlier frees.
  [[nodiscard]] std::size_t count_allocation(std::size_t requested) noexcept {
    ++live;
    ++allocations;
    allocated_bytes += requested;
    const std::size_t known = std::min(given_back, requested);
    given_back -= known;
    return requested - known;
  }

  // Forgets all but the handles: the pool is gone.
  void clear() noexcept;
  // All frees up to that one are done; takes `lock`.
  void complete(unsigned long long up_to) noexcept;
  // An event that was recorded after those frees; takes `lock`.
  void guard_with(event_handle event, unsigned long long up_to) noexcept;

  struct state {
    event_handle guard;
    unsigned long long freed, guarded, completed;
    // Whether nothing uses any of it.
    [[nodiscard]] bool is_complete() const noexcept { return completed >= freed; }
  };
  [[nodiscard]] state look() noexcept;  // takes `lock`
};

}  // namespace halfwarp::core
