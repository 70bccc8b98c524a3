// SPDX-License-Identifier: Apache-2.0
// Decides when the operations of streams run, and who runs them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "emulator/process/options.hpp"
#include "emulator/stream/stream.hpp"

namespace halfwarp::emulator {

using driver_guard = std::unique_lock<std::mutex>;

inline constexpr unsigned most_workers = 64;

// Every function is called with the driver's lock held. Those that take the guard release it while
// an operation runs or while they wait.
class scheduler {
 public:
  scheduler(run_mode mode, std::mutex& lock);
  scheduler(const scheduler&) = delete;  // worker threads refer to it
  scheduler& operator=(const scheduler&) = delete;

  // Appends an operation, which waits for the places named and, by the rules of the default
  // streams, for others. In eager mode it has run on return, if nothing holds it up.
  stream_point submit(driver_guard& guard, stream& in, std::shared_ptr<operation> what,
                      std::vector<stream_point> waits = {});

  void wait(driver_guard& guard, const stream_point& until);
  // Until every operation that is enqueued now in any stream of the context is complete.
  void wait_for_all(driver_guard& guard, const context& of);
  // Whether a place is reached, for the polling calls.
  bool poll(driver_guard& guard, const stream_point& until);

  std::uint64_t pending() const noexcept { return pending_; }

 private:
  void advance(std::shared_ptr<stream> from);
  bool hold_back(stream& held);
  void complete_head(stream& in, std::vector<std::shared_ptr<stream>>& freed);
  void run_head(driver_guard& guard, std::shared_ptr<stream> in);
  void run_ready(driver_guard& guard);
  // False where calls run what is ready: by the mode, or because no thread could be made.
  bool has_workers() const noexcept { return workers_ > 0; }
  bool can_help(const stream& in) const noexcept;
  void call_worker();
  void work();

  run_mode mode_;
  std::mutex& lock_;
  std::map<stream_rank, std::shared_ptr<stream>> ready_;
  std::uint64_t next_sequence_ = 0;
  std::uint64_t pending_ = 0;
  unsigned workers_ = 0, idle_workers_ = 0;
  std::condition_variable work_available_;
};

}  // namespace halfwarp::emulator
