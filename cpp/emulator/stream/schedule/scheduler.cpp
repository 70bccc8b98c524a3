// SPDX-License-Identifier: Apache-2.0
// Readiness and order of operations, and the worker threads.
#include "emulator/stream/schedule/scheduler.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "emulator/stream/context.hpp"
#include "emulator/stream/schedule/hazards.hpp"
#include "emulator/stream/schedule/interruption.hpp"

namespace halfwarp::emulator {
namespace {

// Adds the waits between the legacy default stream and the blocking streams of its context.
void add_implicit_waits(stream& target, std::vector<stream_point>& waits) {
  for (const auto& other : target.owner().active) {
    const bool is_ordered =
        target.is_legacy() ? other->is_blocking() : target.is_blocking() && other->is_legacy();
    if (is_ordered && other.get() != &target) waits.push_back(other->end());
  }
}

// Sleeps if a fault rule delays the operations of the stream.
void delay_as_injected(injection& rules, const stream& target) {
  if (!rules.is_armed()) return;
  if (const auto milliseconds = rules.delay_of(target.number())) {
    std::this_thread::sleep_for(std::chrono::milliseconds{milliseconds});
  }
}

failure execute_guarded(operation& work, stream& target) noexcept {
  try {
    return work.execute(target);
  } catch (const std::bad_alloc&) {
    return {CUDA_ERROR_OUT_OF_MEMORY, false, {}};
  }
}

}  // namespace

stream::stream(std::shared_ptr<context> owner, stream_role role, unsigned flags, int priority)
    : object{kind_of, owner->root().id()},  // a stream outlives its green context
      owner_{std::move(owner)},
      role_{role},
      flags_{flags},
      priority_{priority} {}

scheduler::scheduler(const options& chosen, std::mutex& lock, fault_log& faults, injection& rules)
    : mode_{chosen.mode},
      lock_{lock},
      faults_{faults},
      rules_{rules},
      seed_{chosen.seed},
      schedule_{chosen.schedule} {}

scheduler::~scheduler() = default;

void scheduler::check_hazards(const memory::address_space& space) {
  hazards_ = std::make_unique<emulator::hazards>(space, faults_);
}

std::uint64_t scheduler::take_choice() noexcept {
  const std::uint64_t number = ++choices_;
  const bool is_of_seed = std::ranges::any_of(schedule_, [&](const auto& range) {
    return range.first <= number && number <= range.second;
  });
  return is_of_seed ? number : 0;
}

stream_point scheduler::submit(driver_guard& guard, stream& target, std::shared_ptr<operation> work,
                               std::vector<stream_point> waits) {
  const stream_point end = enqueue(target, std::move(work), std::move(waits));
  if (mode_ == run_mode::eager) run_ready(guard);
  if (mode_ == run_mode::adversarial) settle(guard);
  if (mode_ == run_mode::async) throttle(guard, *end.stream);
  return end;
}

// Blocks a thread that is too far ahead of its stream, as on a GPU. Returns if the stream makes no
// progress: the stream may wait for a later call of this thread.
void scheduler::throttle(driver_guard& guard, stream& target) {
  const auto has_room = [&target] { return target.queue_.size() <= max_queue_length / 2; };
  while (target.queue_.size() > max_queue_length && target.completed_ != target.stalled_at_) {
    const std::uint64_t before = target.completed_;
    target.progressed_.wait_for(guard, stall_timeout, has_room);
    if (target.completed_ == before) target.stalled_at_ = before;
  }
}

stream_point scheduler::enqueue(stream& target, std::shared_ptr<operation> work,
                                std::vector<stream_point> waits) {
  add_implicit_waits(target, waits);
  ++target.enqueued_;
  ++pending_;
  target.polls_ = 0;
  ++calls_;
  target.queue_.push_back({std::move(work), std::move(waits), next_sequence_++});
  target.owner().active.insert(target.as_shared());
  if (hazards_) {
    const auto& added = target.queue_.back();
    hazards_->submit(target, *added.work, added.waits);
  }
  const stream_point end = target.end();
  advance(end.stream);
  return end;
}

// Examines the head of a queue, and of every queue that its completion unblocks.
void scheduler::advance(std::shared_ptr<stream> from) {
  std::vector<std::shared_ptr<stream>> todo{std::move(from)};
  while (!todo.empty()) {
    const auto next = std::move(todo.back());
    todo.pop_back();
    while (!next->queue_.empty() && next->head_ == stream::head_state::unexamined) {
      if (block_if_waiting(*next)) break;
      auto& head = *next->queue_.front().work;
      if (head.kind() == operation_kind::bookkeeping && mode_ != run_mode::adversarial) {
        if (run_bookkeeping(head, *next)) complete_head(*next, todo);
        continue;
      }
      next->head_ = stream::head_state::ready;
      next->rank_ = {next->priority(), next->queue_.front().sequence};
      ready_.emplace(next->rank_, next);
      const bool is_exchange = head.kind() == operation_kind::exchange;
      if (mode_ == run_mode::async || (is_exchange && mode_ == run_mode::eager)) call_worker();
    }
  }
}

// Runs bookkeeping at the head of a queue; returns false if it must wait for enqueued work.
bool scheduler::run_bookkeeping(operation& work, stream& target) {
  // Nested enqueue() calls must not examine the head.
  target.head_ = stream::head_state::running;
  apply_result(execute_guarded(work, target), target);
  auto waits = work.unfinished();
  target.head_ = stream::head_state::unexamined;
  if (waits.empty()) return true;
  if (target.demanded_ > target.completed_)
    std::ranges::for_each(waits, [&](auto& w) { demand(w); });
  target.queue_.front().waits = std::move(waits);
  return false;
}

// Reports the fault of the head, and fails its context.
void scheduler::apply_result(failure result, stream& target) {
  if (result.fault) faults_.record(*result.fault);
  const bool has_hazard = hazards_ && hazards_->take_failure(target);
  if (has_hazard && !result) result = {CUDA_ERROR_LAUNCH_FAILED, true, {}};
  if (result) target.owner().fail(result);
}

// Returns whether the head must wait for another stream, and registers it as a waiter there.
bool scheduler::block_if_waiting(stream& target) {
  auto& waits = target.queue_.front().waits;
  std::erase_if(waits, [](const stream_point& w) { return w.is_reached(); });
  if (waits.empty()) return false;
  target.head_ = stream::head_state::blocked;
  waits.back().stream->waiters_.push_back({target.as_shared(), waits.back().ticket});
  return true;
}

void scheduler::complete_head(stream& target, std::vector<std::shared_ptr<stream>>& unblocked) {
  target.queue_.pop_front();
  target.head_ = stream::head_state::unexamined;
  ++target.completed_;
  --pending_;
  if (target.is_idle()) target.owner().active.erase(target.as_shared());
  std::erase_if(target.waiters_, [&](const stream::waiter& w) {
    if (target.completed_ < w.ticket) return false;
    w.blocked->head_ = stream::head_state::unexamined;
    unblocked.push_back(w.blocked);
    return true;
  });
  target.progressed_.notify_all();
}

void scheduler::run_head(driver_guard& guard, std::shared_ptr<stream> target) {
  ready_.erase(target->rank_);
  target->head_ = stream::head_state::running;
  ++running_;
  last_start_ = std::chrono::steady_clock::now();
  auto work = target->queue_.front().work;
  context& owner = target->owner();
  bool is_done = true;
  if (work->kind() == operation_kind::bookkeeping) {
    is_done = run_bookkeeping(*work, *target);
  } else if (owner.is_broken()) {
    work->drop();
  } else {
    if (hazards_ && work->kind() == operation_kind::host_function) {
      hazards_->synchronize({target, target->completed()});  // the function may tell the host
    }
    guard.unlock();
    delay_as_injected(rules_, *target);
    failure result = execute_guarded(*work, *target);
    guard.lock();
    apply_result(std::move(result), *target);
  }
  --running_;
  waiting_ -= std::exchange(target->may_wait_, false);
  if (is_done) work->finish();
  work.reset();
  std::vector<std::shared_ptr<stream>> unblocked;
  if (is_done) complete_head(*target, unblocked);
  advance(target);
  for (auto& each : unblocked) advance(std::move(each));
  if (!ready_.empty()) work_available_.notify_one();
}

void scheduler::may_wait(stream& target) {
  if (std::exchange(target.may_wait_, true)) return;
  ++waiting_;
  if (ready_.empty()) return;
  if (mode_ == run_mode::adversarial) {
    wake_late_worker();
  } else if (mode_ == run_mode::async || has_workers()) {
    call_worker();
  }
}

void scheduler::demand_others() {
  if (mode_ != run_mode::adversarial) return;
  demand_all();
  wake_late_worker();
}

// Returns whether another operation may start: if none runs, or all running ones may wait.
bool scheduler::may_start_another() const noexcept {
  return running_ == waiting_ || std::chrono::steady_clock::now() - last_start_ > stall_timeout;
}

void scheduler::run_ready(driver_guard& guard) {
  if (ready_.empty()) return;
  const interruptible_wait scope;
  const auto runs_here = [this](const auto& entry) {
    const auto kind = entry.second->queue_.front().work->kind();
    return kind != operation_kind::exchange || !has_workers();
  };
  for (;;) {
    const auto next = std::ranges::find_if(ready_, runs_here);
    if (next == ready_.end()) return;
    run_head(guard, next->second);
  }
}

// Returns whether the waiting thread may run the head itself, which avoids waking a worker.
bool scheduler::can_help(const stream& target) const noexcept {
  return mode_ != run_mode::adversarial && target.head_ == stream::head_state::ready &&
         target.rank_ == ready_.begin()->first && may_start_another() &&
         target.queue_.front().work->kind() == operation_kind::work;
}

void scheduler::wait(driver_guard& guard, const stream_point& until) {
  ++calls_;
  if (hazards_) hazards_->synchronize(until);
  if (until.is_reached()) return;
  const interruptible_wait scope;
  if (mode_ == run_mode::adversarial && !until.is_reached()) {
    demand_releases(until.stream->owner());
    demand(until);
    wake_late_worker();
  }
  while (!until.is_reached()) {
    if (!has_workers() && !ready_.empty()) {
      run_ready(guard);
    } else if (can_help(*until.stream)) {
      run_head(guard, until.stream);
    } else {
      until.stream->progressed_.wait(guard);
    }
  }
  if (mode_ == run_mode::adversarial) settle(guard);
}

void scheduler::wait_for_all(driver_guard& guard, const context& owner) {
  std::vector<stream_point> ends;
  for (const auto& each : owner.active) ends.push_back(each->end());
  for (const auto& green : owner.greens) {
    for (const auto& each : green->active) ends.push_back(each->end());
  }
  // Demand all ends first, so that the order among the streams stays open.
  if (mode_ == run_mode::adversarial) std::ranges::for_each(ends, [&](auto& end) { demand(end); });
  for (const auto& end : ends) wait(guard, end);
  if (hazards_) hazards_->synchronize(owner);
}

// In adversarial mode the second query of pending work allows it to run.
bool scheduler::poll(driver_guard& guard, const stream_point& until) {
  ++calls_;
  if (until.is_reached()) {
    if (hazards_) hazards_->synchronize(until);
    return true;
  }
  if (mode_ == run_mode::adversarial) {
    if (++until.stream->polls_ > 1) demand(until);
    settle(guard);
  } else if (!has_workers()) {
    run_ready(guard);
  }
  if (hazards_ && until.is_reached()) hazards_->synchronize(until);
  return until.is_reached();
}

// Wakes or starts one worker. It wakes the next before it runs, so that a kernel that spins until
// another stream makes progress does not block that stream.
void scheduler::call_worker() {
  if (idle_workers_ > 0) return work_available_.notify_one();
  if (workers_ < max_workers) start_worker(&scheduler::work);
}

void scheduler::start_worker(void (scheduler::*loop)()) {
  sigset_t all, before;  // signals are handled by the program's threads
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread worker{loop, this};
    pthread_setname_np(worker.native_handle(), "emulated-stream");
    worker.detach();  // never joined: the process may end while a kernel runs
    ++workers_;
  } catch (const std::system_error&) {
    // Without a thread another worker or a waiting call runs the operation.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void scheduler::work() {
  driver_guard guard{lock_};
  for (;;) {
    ++idle_workers_;
    work_available_.wait(guard, [this] { return !ready_.empty(); });
    while (!ready_.empty() && !may_start_another()) work_available_.wait_for(guard, stall_timeout);
    --idle_workers_;
    if (ready_.empty()) continue;
    if (ready_.size() > 1) call_worker();
    run_head(guard, ready_.begin()->second);
  }
}

}  // namespace halfwarp::emulator
