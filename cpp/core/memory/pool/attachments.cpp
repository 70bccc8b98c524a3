// SPDX-License-Identifier: Apache-2.0
// Attaches streams to a pool, and detaches destroyed streams.
#include "core/memory/pool/segment_pool.hpp"

namespace halfwarp::core {
namespace {

stream_blocks* first_blocks_of(const stream_ref& stream) noexcept {
  return stream.facts().blocks.load(std::memory_order_acquire);
}

}  // namespace

stream_blocks& segment_pool::home_of(const stream_ref& stream) {
  if (is_default_stream(stream.raw())) return home_of_default(stream);
  for (stream_blocks* each = first_blocks_of(stream); each != nullptr;
       each = each->next_of_stream) {
    if (each->pool.load(std::memory_order_acquire) == this) return *each;
  }
  return attach(stream);
}

stream_blocks& segment_pool::attach(const stream_ref& stream) {
  context_instance context = stream.parent();
  if (!context) context = context_instance{context_of(stream)};
  check_context(context);
  event_handle old;  // of a destroyed pool; destroyed outside the locks
  auto created = std::make_unique<stream_blocks>();
  const spin_guard guard{pool_attachments};
  stream_blocks* own_blocks = nullptr;
  for (stream_blocks* each = first_blocks_of(stream); each != nullptr;
       each = each->next_of_stream) {
    segment_pool* const pool = each->pool.load(std::memory_order_relaxed);
    if (pool == this) return *each;
    if (pool == nullptr) own_blocks = each;
  }
  if (own_blocks == nullptr) {
    own_blocks = created.release();
    own_blocks->next_of_stream = first_blocks_of(stream);
    stream.facts().blocks.store(own_blocks, std::memory_order_release);
  }
  own_blocks->raw = stream.raw();
  own_blocks->context.swap(context);
  own_blocks->guard.swap(old);
  const spin_guard inner{lock_};
  own_blocks->next_of_pool = homes_;
  homes_ = own_blocks;
  own_blocks->pool.store(this, std::memory_order_release);
  return *own_blocks;
}

// Marks the pool as inert if the context of its memory was reset or destroyed.
void segment_pool::check_context(const context_instance& of_stream) noexcept {
  context_instance first;
  {
    const spin_guard guard{lock_};
    if (!context_) context_ = of_stream;
    first = context_;
  }
  if (first.is_destroyed()) is_inert_ = true;
}

// A default stream denotes another stream in each context, and the per-thread one in each thread.
stream_blocks& segment_pool::home_of_default(const stream_ref& stream) {
  unsigned long long id = 0;
  driver::call(driver::table->cuStreamGetId, stream.raw(), &id);
  stream_blocks* match = last_default_.load(std::memory_order_acquire);
  if (match != nullptr && match->id == id) return *match;
  context_instance context{context_of(stream)};
  check_context(context);
  auto created = std::make_unique<stream_blocks>();
  created->raw = stream.raw();
  created->context.swap(context);
  created->id = id;
  created->pool.store(this, std::memory_order_relaxed);
  const spin_guard guard{lock_};
  const auto is_match = [id](const stream_blocks& each) {
    return each.is_default() && each.id == id;
  };
  for (match = homes_; match != nullptr && !is_match(*match);) match = match->next_of_pool;
  if (match == nullptr) {
    match = created.release();
    match->next_of_pool = homes_;
    homes_ = match;
  }
  last_default_.store(match, std::memory_order_release);
  return *match;
}

// Holds a reference to each pool during the call, because another thread may release the pool.
void segment_pool::detach(stream_blocks* each) noexcept {
  const gil_release_if_held released;
  const relaxed_capture_scope relaxed;
  while (each != nullptr) {
    stream_blocks* const next = each->next_of_stream;
    segment_pool* pool = nullptr;
    {
      const spin_guard guard{pool_attachments};
      pool = each->pool.load(std::memory_order_relaxed);
      if (pool != nullptr) ++pool->holders_;
    }
    if (pool == nullptr) {
      delete each;
    } else {
      pool->orphan(*each);
      pool->release();
    }
    each = next;
  }
}

void detach_from_pools(const stream_facts& facts) noexcept {
  segment_pool::detach(facts.blocks.exchange(nullptr, std::memory_order_acq_rel));
}

void segment_pool::orphan(stream_blocks& blocks) noexcept {
  update_completed(blocks);
  {
    const std::lock_guard stream_lock{blocks.stream_lock};
    blocks.is_attached = false;
  }
  {
    const spin_guard guard{lock_};
    blocks.is_orphan = true;
    ++blocks.pins;
    unpin(blocks);
  }
  delete_dead();
}

void segment_pool::add_counters(const stream_blocks& finished) noexcept {
  totals_->allocations += finished.allocations;
  totals_->allocated_bytes += finished.allocated_bytes;
  totals_->frees += finished.frees;
  totals_->reused += finished.reused;
  totals_->allocated -= finished.unsubtracted;
}

// Moves an unused list of a destroyed stream to the dead list. It is deleted later, because its
// event must not be destroyed while a spin lock is held.
void segment_pool::unpin(stream_blocks& blocks) noexcept {
  --blocks.pins;
  if (!blocks.is_orphan || blocks.pins != 0 || !blocks.bins.is_empty()) return;
  {
    const spin_guard guard{blocks.lock};
    if (blocks.live != 0 || blocks.has_quick) return;
  }
  for (stream_blocks** at = &homes_; *at != nullptr; at = &(*at)->next_of_pool) {
    if (*at != &blocks) continue;
    *at = blocks.next_of_pool;
    break;
  }
  add_counters(blocks);
  blocks.next_of_pool = dead_;
  dead_ = &blocks;
}

void segment_pool::delete_dead() noexcept {
  stream_blocks* dead = nullptr;
  {
    const spin_guard guard{lock_};
    dead = std::exchange(dead_, nullptr);
  }
  while (dead != nullptr) delete std::exchange(dead, dead->next_of_pool);
}

void segment_pool::release() noexcept {
  stream_blocks* dead = nullptr;
  {
    const spin_guard guard{pool_attachments};
    if (--holders_ != 0) return;
    while (homes_ != nullptr) {
      stream_blocks& each = *homes_;
      homes_ = each.next_of_pool;
      add_counters(each);
      if (each.is_orphan || each.is_default()) {
        each.next_of_pool = dead;
        dead = &each;
      } else {
        each.clear();
        each.pool.store(nullptr, std::memory_order_release);
      }
    }
  }
  while (dead != nullptr) delete std::exchange(dead, dead->next_of_pool);
  delete_dead();
  delete this;
}

}  // namespace halfwarp::core
