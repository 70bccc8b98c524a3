// SPDX-License-Identifier: Apache-2.0
// Advances an execution as far as the other ranks allow, and finds out why it cannot.
#include "emulated_nccl/collective/execution.hpp"

#include <bit>
#include <thread>

#include "emulated_nccl/call/kinds.hpp"
#include "emulated_nccl/process/driver.hpp"
#include "emulated_nccl/process/errors.hpp"

namespace halfwarp::emulated_nccl {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds check_interval{50};

constexpr rank_mask only(int rank) noexcept { return rank_mask{1} << rank; }

}  // namespace

execution::execution(const batch& source) noexcept
    : source_{source},
      owner_{*source.owner},
      shared_{*owner_.shared},
      states_(source.tasks.size()),
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

void execution::await(int rank) noexcept { awaited_ |= only(rank); }

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
  own.awaited.store(awaited_);
  own.evaluated.store(bell);
  if (may_sleep) {
    check_others(bell);  // the next step returns an error that it finds
    shared_.wait(bell);
  }
  return outcome::waits;
}

execution::outcome execution::advance(unsigned char* const* views, result& code) {
  auto& own = shared_.rank(owner_.rank);
  own.awaited.store(0);
  has_progressed_ = false;
  awaited_ = 0;
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

// Checks whether the awaited ranks can still arrive.
void execution::check_others(std::uint32_t bell) {
  const auto now = clock::now();
  if (is_in_cycle(bell)) {
    fail_all(
        result::invalid_usage,
        text_of(
            "the ranks call different operations, or in another order, and wait for each other:%s",
            shared_.describe_all().c_str()));
  }
  if (now - last_check_ < check_interval) return;
  last_check_ = now;
  const auto limit = driver()->limit();
  for (rank_mask unread = awaited_; unread; unread &= unread - 1) {
    const int i = std::countr_zero(unread);
    const auto state = shared_.rank(i).state.load();
    if (state == presence::joined && !shared_.is_dead(i)) continue;
    if (shared_.header().bell.load() != bell) return;  // it may have completed its part before
    fail_all(result::remote_error,
             text_of("rank %d has left, or its process has ended, but rank %d waits for it:%s", i,
                     owner_.rank, shared_.describe_all().c_str()));
    return;
  }
  if (now - last_progress_ < std::chrono::seconds{limit}) return;
  fail_all(
      result::timeout,
      text_of("no progress for %u s (option nccl_limit); a rank has not called the operation:%s",
              limit, shared_.describe_all().c_str()));
}

// Returns whether this rank waits for ranks that wait for this rank. Each of them has found, after
// the last change of the segment, that it cannot advance; so none of them ever will.
bool execution::is_in_cycle(std::uint32_t bell) const noexcept {
  const rank_mask self = only(owner_.rank);
  rank_mask reached = 0, fresh = awaited_;
  while (fresh) {
    if (fresh & self) return shared_.header().bell.load() == bell;
    reached |= fresh;
    rank_mask next = 0;
    for (rank_mask unread = fresh; unread; unread &= unread - 1) {
      const auto& entry = shared_.rank(std::countr_zero(unread));
      const auto awaited = entry.awaited.load();
      if (entry.evaluated.load() == bell && entry.state.load() == presence::joined) next |= awaited;
    }
    fresh = next & ~reached;
  }
  return false;
}

}  // namespace halfwarp::emulated_nccl
