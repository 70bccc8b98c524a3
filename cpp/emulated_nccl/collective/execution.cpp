// SPDX-License-Identifier: Apache-2.0
// Advances an execution as far as the other ranks allow, and finds out why it cannot.
#include "emulated_nccl/collective/execution.hpp"

#include <algorithm>
#include <thread>

#include "emulated_nccl/call/kinds.hpp"
#include "emulated_nccl/process/driver.hpp"
#include "emulated_nccl/process/errors.hpp"

namespace halfwarp::emulated_nccl {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds check_interval{50};

}  // namespace

execution::execution(const batch& source) noexcept
    : source_{source},
      owner_{*source.owner},
      shared_{*owner_.shared},
      states_(source.tasks.size()),
      awaited_(static_cast<std::size_t>(owner_.ranks)),
      last_progress_{clock::now()},
      last_check_{last_progress_} {}

execution::~execution() { leave(); }

// The counters of a rank serve one execution at a time: graphs may run several.
bool execution::acquire() noexcept {
  if (is_active_) return true;
  execution* none = nullptr;
  if (!owner_.active.compare_exchange_strong(none, this)) return false;
  is_active_ = true;
  last_progress_ = clock::now();
  return true;
}

void execution::leave() noexcept {
  if (!is_active_) return;
  auto& own = shared_.rank(owner_.rank);
  own.awaited.store(0);
  own.current.kind = call_kind::none;
  own.completed.fetch_add(1);
  is_active_ = false;
  owner_.active.store(nullptr);
}

void execution::give_up() noexcept {
  if (owner_.is_aborted || owner_.is_revoked) return;
  const std::string text = text_of("the stream of rank %d failed before or during %s", owner_.rank,
                                   describe_call(source_.tasks[0].call).c_str());
  owner_.set_error(result::cuda_error, text);
  if (shared_.set_error(result::remote_error, text)) fail(result::remote_error, text);
}

void execution::fail_all(result code, const std::string& text) {
  if (shared_.set_error(code, text)) fail(code, text);
}

void execution::await(int rank) noexcept {
  awaited_[static_cast<std::size_t>(rank)] = true;
  if (rank < max_masked_ranks) awaited_mask_ |= std::uint64_t{1} << rank;
}

void execution::note_progress() noexcept {
  has_progressed_ = true;
  shared_.ring();
}

execution::outcome execution::step(unsigned char* const* views, bool may_sleep, result& code) {
  if (owner_.is_aborted || owner_.is_revoked) return outcome::done;
  if (!acquire()) {
    if (may_sleep) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    return outcome::waits;
  }
  auto& own = shared_.rank(owner_.rank);
  const auto bell = shared_.header().bell.load();
  auto state = advance(views, code);
  if (state != outcome::waits) return state;
  if (has_progressed_) {
    last_progress_ = clock::now();
    return outcome::waits;
  }
  own.awaited.store(awaited_mask_);
  own.evaluated.store(bell);
  if (may_sleep) code = check_others(bell);
  if (code == result::success) {
    if (may_sleep) shared_.wait(bell);
    return outcome::waits;
  }
  return outcome::failed;
}

execution::outcome execution::advance(unsigned char* const* views, result& code) {
  auto& own = shared_.rank(owner_.rank);
  own.awaited.store(0);
  has_progressed_ = false;
  awaited_mask_ = 0;
  std::fill(awaited_.begin(), awaited_.end(), false);
  bool is_complete = true, is_collective_next = true;
  std::vector<bool> is_used(static_cast<std::size_t>(owner_.ranks) * 2);  // by pair and direction
  own.current.kind = call_kind::none;
  for (std::size_t i = 0; i < states_.size() && shared_.error() == result::success; ++i) {
    auto& state = states_[i];
    const auto& each = source_.tasks[i];
    if (state.is_complete) continue;
    if (own.current.kind == call_kind::none) own.current = each.call;
    auto* const* buffers = views + i * views_per_task;
    if (is_collective(each.call.kind)) {
      if (is_collective_next) advance_collective(each, state, buffers);
      is_collective_next = state.is_complete;
    } else {
      const bool is_send = each.call.kind == call_kind::send;
      const auto lane = static_cast<std::size_t>(each.call.root) * 2 + is_send;
      if (!is_used[lane]) {
        if (is_send) {
          advance_send(each, state, buffers[0]);
        } else {
          advance_receive(each, state, buffers[1]);
        }
      }
      is_used[lane] = !state.is_complete;
    }
    is_complete &= state.is_complete;
  }
  code = shared_.error();
  if (code != result::success) {
    owner_.set_error(code, shared_.header().error_text);
    return outcome::failed;
  }
  return is_complete ? outcome::done : outcome::waits;
}

// Checks whether the awaited ranks can still arrive. A rank that has left is reported only if the
// execution still waits for it afterwards, since it may have completed its part before.
result execution::check_others(std::uint32_t bell) {
  const auto now = clock::now();
  if (is_in_cycle(bell)) {
    fail_all(
        result::invalid_usage,
        text_of(
            "the ranks call different operations, or in another order, and wait for each other:%s",
            shared_.describe_all().c_str()));
    return shared_.error();
  }
  if (now - last_check_ < check_interval) return result::success;
  last_check_ = now;
  const auto limit = driver()->limit();
  for (int i = 0; i < owner_.ranks; ++i) {
    if (!awaited_[static_cast<std::size_t>(i)]) continue;
    const auto state = shared_.rank(i).state.load();
    if (state == presence::joined && !shared_.is_dead(i)) continue;
    if (suspect_ == i) {
      fail_all(result::remote_error,
               text_of("rank %d has left, or its process has ended, but rank %d waits for it:%s", i,
                       owner_.rank, shared_.describe_all().c_str()));
      return shared_.error();
    }
    suspect_ = i;
    return result::success;
  }
  suspect_ = -1;
  if (now - last_progress_ < std::chrono::seconds{limit}) return result::success;
  fail_all(
      result::timeout,
      text_of("no progress for %u s (option nccl_limit); a rank has not called the operation:%s",
              limit, shared_.describe_all().c_str()));
  return shared_.error();
}

// Returns whether this rank waits for ranks that wait for this rank. Each of them has found, after
// the last change of the segment, that it cannot advance; so none of them ever will.
bool execution::is_in_cycle(std::uint32_t bell) const noexcept {
  const int ranks = std::min(owner_.ranks, max_masked_ranks);
  if (owner_.rank >= ranks) return false;
  const std::uint64_t self = std::uint64_t{1} << owner_.rank;
  std::uint64_t reached = 0, fresh = awaited_mask_;
  while (fresh) {
    if (fresh & self) return shared_.header().bell.load() == bell;
    reached |= fresh;
    std::uint64_t next = 0;
    for (int i = 0; i < ranks; ++i) {
      if (!(fresh >> i & 1)) continue;
      const auto& entry = shared_.rank(i);
      const auto awaited = entry.awaited.load();
      if (entry.evaluated.load() == bell && entry.state.load() == presence::joined) next |= awaited;
    }
    fresh = next & ~reached;
  }
  return false;
}

}  // namespace halfwarp::emulated_nccl
