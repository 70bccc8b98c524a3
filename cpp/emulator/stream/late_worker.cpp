// SPDX-License-Identifier: Apache-2.0
// Adversarial mode: work is done as late as allowed, so that a missing wait shows.
#include <algorithm>
#include <vector>

#include "emulator/stream/context.hpp"
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

// Memory is released as early as it may be, since that is when a use without order shows; by the
// seed also together with the work before it in its stream.
void scheduler::demand_releases(const context& of) {
  std::vector<stream_point> places;
  for (const auto& each : of.active) {
    for (std::size_t i = 0; i < each->queue_.size(); ++i) {
      if (each->queue_[i].what->releases_memory())
        places.push_back({each, each->completed_ + i + 1});
    }
  }
  std::ranges::sort(places, {}, [](const stream_point& p) { return p.in->number(); });
  for (const stream_point& place : places) {
    const bool is_next = place.ticket == place.in->completed_ + 1;
    if (next_random(random_) % 2 || is_next) demand(place);
  }
}

// One of the ready streams that somebody waits for: one that releases memory next, else one drawn
// from the seed.
std::shared_ptr<stream> scheduler::choose_demanded() {
  std::vector<std::shared_ptr<stream>> candidates;
  for (const auto& [rank, each] : ready_) {
    if (each->queue_.front().what->releases_memory()) return each;
    if (each->completed_ < each->demanded_) candidates.push_back(each);
  }
  return candidates.empty() ? nullptr : candidates[next_random(random_) % candidates.size()];
}

void scheduler::wake_late_worker() {
  if (workers_ == 0) start_worker(&scheduler::work_late);
  work_available_.notify_one();
}

void scheduler::work_late() {
  driver_guard guard{lock_};
  for (unsigned quiet = 0;;) {
    if (const auto next = may_start_another() ? choose_demanded() : nullptr) {
      // Somebody has to watch while this thread is busy.
      if (idle_workers_ == 0 && workers_ < most_workers) start_worker(&scheduler::work_late);
      run_head(guard, next);
      quiet = 0;
      continue;
    }
    const auto calls = calls_;
    ++idle_workers_;
    const auto woken = work_available_.wait_for(guard, patience);
    --idle_workers_;
    const bool is_quiet = woken == std::cv_status::timeout && calls == calls_;
    quiet = is_quiet ? quiet + 1 : 0;
    if (quiet >= quiet_rounds && pending_ > 0) demand_all();
  }
}

}  // namespace halfwarp::emulator
