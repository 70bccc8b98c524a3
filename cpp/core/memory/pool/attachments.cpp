// SPDX-License-Identifier: Apache-2.0
// How a pool knows its streams, and learns of their ends.
#include "core/memory/pool/segment_pool.hpp"

namespace halfwarp::core {
namespace {

stream_blocks* first_of(const stream_ref& stream) noexcept {
  return stream.facts().blocks.load(std::memory_order_acquire);
}

}  // namespace

stream_blocks& segment_pool::home_of(const stream_ref& stream) {
  if (is_default_stream(stream.raw())) return home_of_default(stream);
  for (stream_blocks* each = first_of(stream); each != nullptr; each = each->next_of_stream) {
    if (each->of.load(std::memory_order_acquire) == this) return *each;
  }
  return attach(stream);
}

stream_blocks& segment_pool::attach(const stream_ref& stream) {
  context_instance context = stream.parent();
  if (!context) context = context_instance{context_of(stream)};
  check_context(context);
  event_handle old;  // of a pool that is gone
  auto made = std::make_unique<stream_blocks>();
  const spin_guard guard{pool_attachments};
  stream_blocks* mine = nullptr;
  for (stream_blocks* each = first_of(stream); each != nullptr; each = each->next_of_stream) {
    segment_pool* const of = each->of.load(std::memory_order_relaxed);
    if (of == this) return *each;
    if (of == nullptr) mine = each;
  }
  if (mine == nullptr) {
    mine = made.release();
    mine->next_of_stream = first_of(stream);
    stream.facts().blocks.store(mine, std::memory_order_release);
  }
  mine->raw = stream.raw();
  mine->context.swap(context);
  mine->guard.swap(old);
  const spin_guard inner{lock_};
  mine->next_of_pool = homes_;
  homes_ = mine;
  mine->of.store(this, std::memory_order_release);
  return *mine;
}

// The memory goes with the context, or what orders it does.
void segment_pool::check_context(const context_instance& of_stream) noexcept {
  context_instance first;
  {
    const spin_guard guard{lock_};
    if (!context_) context_ = of_stream;
    first = context_;
  }
  if (first.is_gone()) is_inert_ = true;
}

// A default stream is another one in each context, and the per-thread one in each thread.
stream_blocks& segment_pool::home_of_default(const stream_ref& stream) {
  unsigned long long id = 0;
  driver::call(driver::table->cuStreamGetId, stream.raw(), &id);
  stream_blocks* known = last_default_.load(std::memory_order_acquire);
  if (known != nullptr && known->id == id) return *known;
  context_instance context{context_of(stream)};
  check_context(context);
  auto made = std::make_unique<stream_blocks>();
  made->raw = stream.raw();
  made->context.swap(context);
  made->id = id;
  made->of.store(this, std::memory_order_relaxed);
  const spin_guard guard{lock_};
  for (known = homes_; known != nullptr && known->id != id;) known = known->next_of_pool;
  if (known == nullptr) {
    known = made.release();
    known->next_of_pool = homes_;
    homes_ = known;
  }
  last_default_.store(known, std::memory_order_release);
  return *known;
}

// Each pool on its own: it may go meanwhile, with all that it has hung up here.
void segment_pool::leave(stream_blocks* each) noexcept {
  const gil_release_if_held released;
  const relaxed_capture_scope relaxed;
  while (each != nullptr) {
    stream_blocks* const next = each->next_of_stream;
    segment_pool* pool = nullptr;
    {
      const spin_guard guard{pool_attachments};
      pool = each->of.load(std::memory_order_relaxed);
      if (pool != nullptr) ++pool->holders_;
    }
    if (pool == nullptr) {
      delete each;
    } else {
      pool->abandon(*each);
      pool->release();
    }
    each = next;
  }
}

void leave_pools(const stream_facts& facts) noexcept {
  segment_pool::leave(facts.blocks.exchange(nullptr, std::memory_order_acq_rel));
}

void segment_pool::abandon(stream_blocks& of) noexcept {
  learn(of);
  {
    const std::lock_guard naming{of.naming};
    of.is_attached = false;
  }
  {
    const spin_guard guard{lock_};
    of.is_orphan = true;
    ++of.pins;
    unpin(of);
  }
  bury();
}

void segment_pool::add_up(const stream_blocks& last) noexcept {
  totals_->allocations += last.allocations;
  totals_->allocated_bytes += last.allocated_bytes;
  totals_->frees += last.frees;
  totals_->reused += last.reused;
  totals_->allocated -= last.given_back;
}

// What belongs to no stream and has nothing any more goes, but not here: its event is given to the
// driver, which nobody does with a lock of spinning.
void segment_pool::unpin(stream_blocks& of) noexcept {
  --of.pins;
  if (!of.is_orphan || of.pins != 0 || !of.bins.is_empty()) return;
  {
    const spin_guard guard{of.lock};
    if (of.live != 0 || of.has_quick) return;
  }
  for (stream_blocks** at = &homes_; *at != nullptr; at = &(*at)->next_of_pool) {
    if (*at != &of) continue;
    *at = of.next_of_pool;
    break;
  }
  add_up(of);
  of.next_of_pool = dead_;
  dead_ = &of;
}

void segment_pool::bury() noexcept {
  stream_blocks* dead = nullptr;
  {
    const spin_guard guard{lock_};
    dead = std::exchange(dead_, nullptr);
  }
  while (dead != nullptr) delete std::exchange(dead, dead->next_of_pool);
}

void segment_pool::release() noexcept {
  stream_blocks* gone = nullptr;
  {
    const spin_guard guard{pool_attachments};
    if (--holders_ != 0) return;
    while (homes_ != nullptr) {
      stream_blocks& each = *homes_;
      homes_ = each.next_of_pool;
      add_up(each);
      if (each.is_orphan || each.id != 0) {
        each.next_of_pool = gone;
        gone = &each;
      } else {
        each.clear();
        each.of.store(nullptr, std::memory_order_release);
      }
    }
  }
  while (gone != nullptr) delete std::exchange(gone, gone->next_of_pool);
  bury();
  delete this;
}

}  // namespace halfwarp::core
