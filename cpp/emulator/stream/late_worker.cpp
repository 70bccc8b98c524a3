// SPDX-License-Identifier: Apache-2.0
// Adversarial mode: work is done as late as allowed, so that a missing wait shows.
#include <algorithm>
#include <vector>

#include "emulator/stream/scheduler.hpp"

namespace halfwarp::emulator {
namespace {

// splitmix64: small, and the same on every machine.
std::uint64_t next_random(std::uint64_t& state) noexcept {
  std::uint64_t z = state += 0x9e37'79b9'7f4a'7c15;
  z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9;
  z = (z ^ z >> 27) * 0x94d0'49bb'1331'11eb;
  return z ^ z >> 31;
}

}  // namespace

// Marks what must be done before a place is reached, in all streams that it waits for.
void scheduler::demand(const stream_point& until) {
  std::vector<stream_point> todo{until};
  while (!todo.empty()) {
    const stream_point next = todo.back();
    todo.pop_back();
    if (!next.in || next.in->demanded_ >= next.ticket) continue;
    const auto first_new = std::max(next.in->demanded_, next.in->completed_);
    next.in->demanded_ = next.ticket;
    for (auto ticket = first_new + 1; ticket <= next.ticket; ++ticket) {
      const auto& entry = next.in->queue_[ticket - next.in->completed_ - 1];
      todo.insert(todo.end(), entry.waits.begin(), entry.waits.end());
    }
  }
}

void scheduler::demand_all() {
  for (const auto& [rank, each] : ready_) each->demanded_ = each->enqueued_;
}

// One of the ready streams that somebody waits for, drawn from the seed.
std::shared_ptr<stream> scheduler::choose_demanded() {
  std::vector<std::shared_ptr<stream>> candidates;
  for (const auto& [rank, each] : ready_) {
    if (each->completed_ < each->demanded_) candidates.push_back(each);
  }
  return candidates.empty() ? nullptr : candidates[next_random(random_) % candidates.size()];
}

// Operations run one after another, unless one has been running so long that it may be waiting for
// another.
bool scheduler::may_start_another() const noexcept {
  return running_ == 0 || std::chrono::steady_clock::now() - last_start_ > patience;
}

void scheduler::wake_late_worker() {
  if (workers_ == 0) start_worker(&scheduler::work_late);
  work_available_.notify_one();
}

void scheduler::work_late() {
  driver_guard guard{lock_};
  for (;;) {
    if (const auto next = may_start_another() ? choose_demanded() : nullptr) {
      // Somebody has to watch while this thread is busy.
      if (idle_workers_ == 0 && workers_ < most_workers) start_worker(&scheduler::work_late);
      run_head(guard, next);
      continue;
    }
    const auto calls = calls_;
    ++idle_workers_;
    const auto woken = work_available_.wait_for(guard, patience);
    --idle_workers_;
    if (woken == std::cv_status::timeout && pending_ > 0 && calls == calls_) demand_all();
  }
}

}  // namespace halfwarp::emulator
