// SPDX-License-Identifier: Apache-2.0
// Adversarial mode: work runs as late as allowed, which exposes a missing wait.
#include <algorithm>
#include <vector>

#include "emulator/stream/context.hpp"
#include "emulator/stream/schedule/scheduler.hpp"

namespace halfwarp::emulator {
namespace {

thread_local bool is_late_worker = false;  // its operations may call the driver

// The splitmix64 generator, which is identical on every machine. A number depends on no other one.
std::uint64_t random_number(std::uint64_t seed, std::uint64_t index) noexcept {
  std::uint64_t z = seed + index * 0x9e37'79b9'7f4a'7c15;
  z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9;
  z = (z ^ z >> 27) * 0x94d0'49bb'1331'11eb;
  return z ^ z >> 31;
}

}  // namespace

// Marks all operations that must complete before the point is reached, in every stream.
void scheduler::demand(const stream_point& until) {
  std::vector<stream_point> todo{until};
  while (!todo.empty()) {
    const stream_point next = todo.back();
    todo.pop_back();
    if (!next.stream || next.stream->demanded_ >= next.ticket) continue;
    const auto first_new = std::max(next.stream->demanded_, next.stream->completed_);
    next.stream->demanded_ = next.ticket;
    for (auto ticket = first_new + 1; ticket <= next.ticket; ++ticket) {
      const auto& entry = next.stream->queue_[ticket - next.stream->completed_ - 1];
      todo.insert(todo.end(), entry.waits.begin(), entry.waits.end());
    }
  }
}

void scheduler::demand_all() {
  for (const auto& [rank, each] : ready_) each->demanded_ = each->enqueued_;
}

// Returns a number below `count`.
std::uint64_t scheduler::choose(std::uint64_t count) {
  if (count < 2) return 0;
  const std::uint64_t number = take_choice();
  return number ? random_number(seed_, number) % count : 0;
}

// Releases memory as early as allowed, which exposes an unordered use. The seed determines whether
// the preceding work of the stream runs as well.
void scheduler::demand_releases(const context& owner) {
  std::vector<stream_point> places;
  for (const auto& each : owner.active) {
    for (std::size_t i = 0; i < each->queue_.size(); ++i) {
      if (each->queue_[i].work->releases_memory())
        places.push_back({each, each->completed_ + i + 1});
    }
  }
  std::ranges::sort(places, {}, [](const stream_point& p) { return p.stream->number(); });
  for (const stream_point& place : places) {
    const bool is_next = place.ticket == place.stream->completed_ + 1;
    if (is_next || choose(2)) demand(place);
  }
}

// Returns a demanded ready stream: one whose head releases memory, else a random one.
std::shared_ptr<stream> scheduler::choose_demanded() {
  std::vector<std::shared_ptr<stream>> candidates;
  for (const auto& [rank, each] : ready_) {
    if (each->queue_.front().work->releases_memory()) return each;
    if (each->completed_ < each->demanded_) candidates.push_back(each);
  }
  return candidates.empty() ? nullptr : candidates[choose(candidates.size())];
}

void scheduler::wake_late_worker() {
  if (workers_ == 0) start_worker(&scheduler::work_late);
  work_available_.notify_one();
}

// Returns whether the worker has to run an operation that is ready.
bool scheduler::has_demanded() const {
  return std::ranges::any_of(ready_, [](const auto& entry) {
    const stream& each = *entry.second;
    return each.completed_ < each.demanded_ || each.queue_.front().work->releases_memory();
  });
}

// Waits until the worker has run all that it must, so that the next call of this thread finds the
// same state in each run. An operation may wait for this thread, so the time is limited.
void scheduler::settle(driver_guard& guard) {
  wake_late_worker();
  if (is_late_worker || !has_workers()) return;
  settled_.wait_for(guard, stall_timeout,
                    [this] { return running_ == waiting_ && !has_demanded(); });
}

void scheduler::work_late() {
  is_late_worker = true;
  driver_guard guard{lock_};
  for (unsigned quiet = 0;;) {
    if (const auto next = may_start_another() ? choose_demanded() : nullptr) {
      // Another thread has to watch while this thread runs an operation.
      if (idle_workers_ == 0 && workers_ < max_workers) start_worker(&scheduler::work_late);
      run_head(guard, next);
      quiet = 0;
      continue;
    }
    settled_.notify_all();
    const auto calls = calls_;
    ++idle_workers_;
    const auto woken = work_available_.wait_for(guard, stall_timeout);
    --idle_workers_;
    const bool is_quiet = woken == std::cv_status::timeout && calls == calls_;
    quiet = is_quiet ? quiet + 1 : 0;
    if (quiet >= max_quiet_rounds && pending_ > 0) demand_all();
  }
}

}  // namespace halfwarp::emulator
