// SPDX-License-Identifier: Apache-2.0
// Readiness, order, and the worker threads.
#include "emulator/stream/scheduler.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "emulator/stream/context.hpp"

namespace halfwarp::emulator {
namespace {

// The legacy default stream waits for all blocking streams of its context, and they for it.
void add_implicit_waits(stream& in, std::vector<stream_point>& waits) {
  for (const auto& other : in.owner().active) {
    const bool is_ordered =
        in.is_legacy() ? other->is_blocking() : in.is_blocking() && other->is_legacy();
    if (is_ordered && other.get() != &in) waits.push_back(other->end());
  }
}

// Fault rules may hold back every operation of a stream.
void delay_as_injected(injection& rules, const stream& in) {
  if (!rules.is_armed()) return;
  if (const auto milliseconds = rules.delay_of(in.number())) {
    std::this_thread::sleep_for(std::chrono::milliseconds{milliseconds});
  }
}

failure execute_guarded(operation& what, stream& in) noexcept {
  try {
    return what.execute(in);
  } catch (const std::bad_alloc&) {
    return {CUDA_ERROR_OUT_OF_MEMORY, false, {}};
  }
}

}  // namespace

stream::stream(std::shared_ptr<context> owner, stream_role role, unsigned flags, int priority)
    : object{kind_of, owner->root().id()},  // it outlives a green context
      owner_{std::move(owner)},
      role_{role},
      flags_{flags},
      priority_{priority} {}

scheduler::scheduler(run_mode mode, std::uint64_t seed, std::mutex& lock, fault_log& faults,
                     injection& rules)
    : mode_{mode}, lock_{lock}, faults_{faults}, rules_{rules}, random_{seed} {}

stream_point scheduler::submit(driver_guard& guard, stream& in, std::shared_ptr<operation> what,
                               std::vector<stream_point> waits) {
  const stream_point end = enqueue(in, std::move(what), std::move(waits));
  if (mode_ == run_mode::eager) run_ready(guard);
  if (mode_ == run_mode::adversarial) wake_late_worker();
  if (mode_ == run_mode::async) hold_up(guard, *end.in);
  return end;
}

// A thread that submits without an end gets as far ahead of its stream as with a GPU, and no
// further. Where the stream stands still, it may wait for what this thread does next.
void scheduler::hold_up(driver_guard& guard, stream& in) {
  const auto has_room = [&in] { return in.queue_.size() <= longest_queue / 2; };
  while (in.queue_.size() > longest_queue && in.completed_ != in.stood_still_at_) {
    const std::uint64_t before = in.completed_;
    in.progressed_.wait_for(guard, patience, has_room);
    if (in.completed_ == before) in.stood_still_at_ = before;
  }
}

stream_point scheduler::enqueue(stream& in, std::shared_ptr<operation> what,
                                std::vector<stream_point> waits) {
  add_implicit_waits(in, waits);
  ++in.enqueued_;
  ++pending_;
  in.polls_ = 0;
  ++calls_;
  in.queue_.push_back({std::move(what), std::move(waits), next_sequence_++});
  in.owner().active.insert(in.as_shared());
  const stream_point end = in.end();
  advance(end.in);
  return end;
}

// Looks at the head of a queue, and of every queue that its completion sets free.
void scheduler::advance(std::shared_ptr<stream> from) {
  std::vector<std::shared_ptr<stream>> todo{std::move(from)};
  while (!todo.empty()) {
    const auto next = std::move(todo.back());
    todo.pop_back();
    while (!next->queue_.empty() && next->head_ == stream::head_state::unexamined) {
      if (hold_back(*next)) break;
      auto& head = *next->queue_.front().what;
      if (head.kind() == operation_kind::bookkeeping && mode_ != run_mode::adversarial) {
        if (keep_books(head, *next)) complete_head(*next, todo);
        continue;
      }
      next->head_ = stream::head_state::ready;
      next->rank_ = {next->priority(), next->queue_.front().sequence};
      ready_.emplace(next->rank_, next);
      if (mode_ == run_mode::async) call_worker();
    }
  }
}

// Bookkeeping at the head of a queue; false when it has to wait for what it enqueued.
bool scheduler::keep_books(operation& what, stream& in) {
  in.head_ = stream::head_state::running;  // what it enqueues must leave the head alone
  const failure result = execute_guarded(what, in);
  if (result.fault) faults_.record(*result.fault);
  if (result) in.owner().fail(result);
  auto waits = what.unfinished();
  in.head_ = stream::head_state::unexamined;
  if (waits.empty()) return true;
  if (in.demanded_ > in.completed_) std::ranges::for_each(waits, [&](auto& w) { demand(w); });
  in.queue_.front().waits = std::move(waits);
  return false;
}

// Whether the head waits for another stream, which is then asked to say when it got there.
bool scheduler::hold_back(stream& held) {
  auto& waits = held.queue_.front().waits;
  std::erase_if(waits, [](const stream_point& w) { return w.is_reached(); });
  if (waits.empty()) return false;
  held.head_ = stream::head_state::blocked;
  waits.back().in->waiters_.push_back({held.as_shared(), waits.back().ticket});
  return true;
}

void scheduler::complete_head(stream& in, std::vector<std::shared_ptr<stream>>& freed) {
  in.queue_.pop_front();
  in.head_ = stream::head_state::unexamined;
  ++in.completed_;
  --pending_;
  if (in.is_idle()) in.owner().active.erase(in.as_shared());
  std::erase_if(in.waiters_, [&](const stream::waiter& w) {
    if (in.completed_ < w.ticket) return false;
    w.who->head_ = stream::head_state::unexamined;
    freed.push_back(w.who);
    return true;
  });
  in.progressed_.notify_all();
}

void scheduler::run_head(driver_guard& guard, std::shared_ptr<stream> in) {
  ready_.erase(in->rank_);
  in->head_ = stream::head_state::running;
  ++running_;
  last_start_ = std::chrono::steady_clock::now();
  auto what = in->queue_.front().what;
  context& owner = in->owner();
  bool is_done = true;
  if (what->kind() == operation_kind::bookkeeping) {
    is_done = keep_books(*what, *in);
  } else if (owner.is_broken()) {
    what->drop();
  } else {
    guard.unlock();
    delay_as_injected(rules_, *in);
    const failure result = execute_guarded(*what, *in);
    guard.lock();
    if (result.fault) faults_.record(*result.fault);
    if (result) owner.fail(result);
  }
  --running_;
  waiting_ -= std::exchange(in->may_wait_, false);
  if (is_done) what->finish();
  what.reset();
  std::vector<std::shared_ptr<stream>> freed;
  if (is_done) complete_head(*in, freed);
  advance(in);
  for (auto& each : freed) advance(std::move(each));
  if (!ready_.empty()) work_available_.notify_one();
}

void scheduler::may_wait(stream& in) {
  if (std::exchange(in.may_wait_, true)) return;
  ++waiting_;
  if (ready_.empty()) return;
  if (mode_ == run_mode::async) call_worker();
  if (mode_ == run_mode::adversarial) wake_late_worker();
}

// One after another, unless all that run may be waiting for another.
bool scheduler::may_start_another() const noexcept {
  return running_ == waiting_ || std::chrono::steady_clock::now() - last_start_ > patience;
}

void scheduler::run_ready(driver_guard& guard) {
  while (!ready_.empty()) run_head(guard, ready_.begin()->second);
}

// A thread that waits for a stream may as well do the work: it is awake, the worker has to wake up.
bool scheduler::can_help(const stream& in) const noexcept {
  return mode_ != run_mode::adversarial && in.head_ == stream::head_state::ready &&
         in.rank_ == ready_.begin()->first && may_start_another() &&
         in.queue_.front().what->kind() == operation_kind::work;
}

void scheduler::wait(driver_guard& guard, const stream_point& until) {
  ++calls_;
  if (mode_ == run_mode::adversarial && !until.is_reached()) {
    demand_releases(until.in->owner());
    demand(until);
    wake_late_worker();
  }
  while (!until.is_reached()) {
    if (!has_workers() && !ready_.empty()) {
      run_ready(guard);
    } else if (can_help(*until.in)) {
      run_head(guard, until.in);
    } else {
      until.in->progressed_.wait(guard);
    }
  }
}

void scheduler::wait_for_all(driver_guard& guard, const context& of) {
  std::vector<stream_point> ends;
  for (const auto& each : of.active) ends.push_back(each->end());
  for (const auto& green : of.greens) {
    for (const auto& each : green->active) ends.push_back(each->end());
  }
  // All at once, so that the order among the streams is open.
  if (mode_ == run_mode::adversarial) std::ranges::for_each(ends, [&](auto& end) { demand(end); });
  for (const auto& end : ends) wait(guard, end);
}

// In adversarial mode the second question about unfinished work lets it go.
bool scheduler::poll(driver_guard& guard, const stream_point& until) {
  ++calls_;
  if (until.is_reached()) return true;
  if (mode_ == run_mode::adversarial) {
    if (++until.in->polls_ > 1) demand(until);
    wake_late_worker();
  } else if (!has_workers()) {
    run_ready(guard);
  }
  return until.is_reached();
}

// One worker waits for its turn, and calls the next when that has come, so that a kernel that spins
// until another stream moves on does not stop that stream.
void scheduler::call_worker() {
  if (idle_workers_ > 0) return work_available_.notify_one();
  if (workers_ < most_workers) start_worker(&scheduler::work);
}

void scheduler::start_worker(void (scheduler::*loop)()) {
  sigset_t all, before;  // signals are the business of the program's own threads
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread worker{loop, this};
    pthread_setname_np(worker.native_handle(), "emulated-stream");
    worker.detach();  // never joined: the process may end while a kernel runs
    ++workers_;
  } catch (const std::system_error&) {
    // No thread to be had: another worker, or a call that waits, runs the operation.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void scheduler::work() {
  driver_guard guard{lock_};
  for (;;) {
    ++idle_workers_;
    work_available_.wait(guard, [this] { return !ready_.empty(); });
    while (!ready_.empty() && !may_start_another()) work_available_.wait_for(guard, patience);
    --idle_workers_;
    if (ready_.empty()) continue;
    if (ready_.size() > 1) call_worker();
    run_head(guard, ready_.begin()->second);
  }
}

}  // namespace halfwarp::emulator
