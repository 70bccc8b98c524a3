// SPDX-License-Identifier: Apache-2.0
// Decides when the operations of streams run, and in which thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "emulator/memory/address_space.hpp"
#include "emulator/observation/fault_log.hpp"
#include "emulator/observation/injection.hpp"
#include "emulator/settings/options.hpp"
#include "emulator/stream/stream.hpp"

namespace halfwarp::emulator {

class hazards;

using driver_guard = std::unique_lock<std::mutex>;

inline constexpr unsigned max_workers = 64;
// Run time after which an operation counts as waiting for another operation.
inline constexpr std::chrono::milliseconds stall_timeout{50};
// Number of queued operations of one stream above which a submitting call blocks.
inline constexpr std::size_t max_queue_length = 1024;
// Adversarial mode: number of timeouts without a call before all pending work may run.
inline constexpr unsigned max_quiet_rounds = 10;

// Every function is called with the driver's lock held. Functions with a guard parameter release it
// while an operation runs or while they wait.
class scheduler {
 public:
  scheduler(const options& chosen, std::mutex& lock, fault_log& faults, injection& rules);
  ~scheduler();
  scheduler(const scheduler&) = delete;  // worker threads refer to it
  scheduler& operator=(const scheduler&) = delete;

  // Appends an operation, which waits for `waits` and, by the rules of the default streams, for
  // other streams. In eager mode it has run on return unless it must wait.
  stream_point submit(driver_guard& guard, stream& target, std::shared_ptr<operation> work,
                      std::vector<stream_point> waits = {});
  // Appends an operation as submit() does, but runs no work. Bookkeeping may call it.
  stream_point enqueue(stream& target, std::shared_ptr<operation> work,
                       std::vector<stream_point> waits = {});

  void wait(driver_guard& guard, const stream_point& until);
  // Waits until all operations that are now queued in the context are complete.
  void wait_for_all(driver_guard& guard, const context& owner);
  // Returns whether a point is reached, for calls that poll.
  bool poll(driver_guard& guard, const stream_point& until);

  // Called by a running operation that may wait for another one, as a spinning kernel does. Without
  // this call operations run one at a time, so that runs are reproducible.
  void may_wait(stream& target);
  // Adversarial mode: called by an operation that waits for other streams, without a call that
  // demands their work.
  void demand_others();

  std::uint64_t pending() const noexcept { return pending_; }
  // Counts a choice. Returns its number if the seed makes it, or 0 for the default. Thread-safe.
  std::uint64_t take_choice() noexcept;

  // Records the order of all operations from now on, and reports operations without order.
  void check_hazards(const memory::address_space& space);
  emulator::hazards* hazards() const noexcept { return hazards_.get(); }  // null: not checked

 private:
  void throttle(driver_guard& guard, stream& target);
  void advance(std::shared_ptr<stream> from);
  bool block_if_waiting(stream& target);
  bool run_bookkeeping(operation& work, stream& target);
  void apply_result(failure result, stream& target);
  void complete_head(stream& target, std::vector<std::shared_ptr<stream>>& unblocked);
  void run_head(driver_guard& guard, std::shared_ptr<stream> target);
  void run_ready(driver_guard& guard);
  // False if calling threads run ready operations: by mode, or after failed thread creation.
  bool has_workers() const noexcept { return workers_ > 0; }
  bool can_help(const stream& target) const noexcept;
  bool may_start_another() const noexcept;
  void call_worker();
  void start_worker(void (scheduler::*loop)());
  void work();

  // Adversarial mode, in late_worker.cpp: work starts only when a thread waits for it, in an order
  // that the seed determines.
  void demand(const stream_point& until);
  void demand_all();
  std::shared_ptr<stream> choose_demanded();
  std::uint64_t choose(std::uint64_t count);
  void demand_releases(const context& owner);
  bool has_demanded() const;
  void wake_late_worker();
  void settle(driver_guard& guard);
  void work_late();

  run_mode mode_;
  std::unique_ptr<emulator::hazards> hazards_;
  std::mutex& lock_;
  fault_log& faults_;
  injection& rules_;
  std::map<stream_rank, std::shared_ptr<stream>> ready_;
  std::uint64_t next_sequence_ = 0;
  std::uint64_t pending_ = 0;
  unsigned workers_ = 0, idle_workers_ = 0;
  std::condition_variable work_available_;
  std::condition_variable settled_;  // adversarial mode: no demanded operation is ready

  const std::uint64_t seed_;
  const decltype(options::schedule) schedule_;
  std::atomic<std::uint64_t> choices_{0};             // until now
  std::uint64_t calls_ = 0;                           // calls of this class, to detect idle callers
  unsigned running_ = 0, waiting_ = 0;                // operations that run, and that may wait
  std::chrono::steady_clock::time_point last_start_;  // of the newest running operation
};

}  // namespace halfwarp::emulator
