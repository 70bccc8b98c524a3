// SPDX-License-Identifier: Apache-2.0
// Decides when the operations of streams run, and who runs them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "emulator/observation/fault_log.hpp"
#include "emulator/observation/injection.hpp"
#include "emulator/settings/options.hpp"
#include "emulator/stream/stream.hpp"

namespace halfwarp::emulator {

using driver_guard = std::unique_lock<std::mutex>;

inline constexpr unsigned most_workers = 64;
// How long a function of the program, or a copy, runs before it counts as waiting for others.
inline constexpr std::chrono::milliseconds patience{50};
// How many operations of one stream may wait before a call that submits another one waits as well.
inline constexpr std::size_t longest_queue = 1024;
// Adversarial mode: for how many times that nothing may happen before held work is let go.
inline constexpr unsigned quiet_rounds = 10;

// Every function is called with the driver's lock held. Those that take the guard release it while
// an operation runs or while they wait.
class scheduler {
 public:
  scheduler(run_mode mode, std::uint64_t seed, std::mutex& lock, fault_log& faults,
            injection& rules);
  scheduler(const scheduler&) = delete;  // worker threads refer to it
  scheduler& operator=(const scheduler&) = delete;

  // Appends an operation, which waits for the places named and, by the rules of the default
  // streams, for others. In eager mode it has run on return, if nothing holds it up.
  stream_point submit(driver_guard& guard, stream& in, std::shared_ptr<operation> what,
                      std::vector<stream_point> waits = {});
  // The same, for several at once and from inside of bookkeeping: runs no work.
  stream_point enqueue(stream& in, std::shared_ptr<operation> what,
                       std::vector<stream_point> waits = {});

  void wait(driver_guard& guard, const stream_point& until);
  // Until every operation that is enqueued now in any stream of the context is complete.
  void wait_for_all(driver_guard& guard, const context& of);
  // Whether a place is reached, for the polling calls.
  bool poll(driver_guard& guard, const stream_point& until);

  // Called by an operation that runs: it may be waiting for another one, as a kernel that spins
  // does. Until then operations run one after another, so that equal calls give equal runs.
  void may_wait(stream& in);

  std::uint64_t pending() const noexcept { return pending_; }

 private:
  void hold_up(driver_guard& guard, stream& in);
  void advance(std::shared_ptr<stream> from);
  bool hold_back(stream& held);
  bool keep_books(operation& what, stream& in);
  void complete_head(stream& in, std::vector<std::shared_ptr<stream>>& freed);
  void run_head(driver_guard& guard, std::shared_ptr<stream> in);
  void run_ready(driver_guard& guard);
  // False where calls run what is ready: by the mode, or because no thread could be made.
  bool has_workers() const noexcept { return workers_ > 0; }
  bool can_help(const stream& in) const noexcept;
  bool may_start_another() const noexcept;
  void call_worker();
  void start_worker(void (scheduler::*loop)());
  void work();

  // Adversarial mode, in late_worker.cpp: work starts only when somebody waits for it, in an order
  // drawn from the seed.
  void demand(const stream_point& until);
  void demand_all();
  std::shared_ptr<stream> choose_demanded();
  void demand_releases(const context& of);
  void wake_late_worker();
  void work_late();

  run_mode mode_;
  std::mutex& lock_;
  fault_log& faults_;
  injection& rules_;
  std::map<stream_rank, std::shared_ptr<stream>> ready_;
  std::uint64_t next_sequence_ = 0;
  std::uint64_t pending_ = 0;
  unsigned workers_ = 0, idle_workers_ = 0;
  std::condition_variable work_available_;

  std::uint64_t random_;                              // state of the generator
  std::uint64_t calls_ = 0;                           // of this class: whether anybody is there
  unsigned running_ = 0, waiting_ = 0;                // operations, and those that may wait
  std::chrono::steady_clock::time_point last_start_;  // of the newest of them
};

}  // namespace halfwarp::emulator
