// SPDX-License-Identifier: Apache-2.0
// The initialization of a communicator, which waits for the other ranks without blocking a group.
#pragma once

#include <chrono>
#include <optional>

#include "emulated_nccl/communicator/communicator.hpp"

namespace halfwarp::emulated_nccl {

class joining {
 public:
  // The ranks of the new communicator are known.
  explicit joining(communicator& target);
  // The ranks with the same color of `parent` form the new communicator.
  joining(communicator& target, communicator_ref parent, int color, int key);
  joining(const joining&) = delete;  // refers to shared memory
  joining& operator=(const joining&) = delete;

  // Advances; returns the result once it is known.
  std::optional<result> step();
  // Advances until the result is known.
  result complete();

 private:
  enum class stage : std::uint8_t { post, collect, attach, wait, complete };
  std::optional<result> advance();
  void post();
  std::optional<result> collect();
  std::optional<result> attach();
  std::optional<result> wait();
  result check_devices() const;
  template <class Absence>
  std::optional<result> check_absent(const segment& ranks, int rank, const char* phase,
                                     Absence&& is_absent) const;
  result end(result code);

  std::mutex mutex_;
  communicator& target_;  // owns this
  communicator_ref parent_;
  int color_ = 0, key_ = 0;
  stage stage_;
  std::uint64_t split_ = 0;
  std::chrono::steady_clock::time_point begun_;
  result result_ = result::success;
};

// Prepares a rank: retains the primary context of the device and creates the event.
result prepare(communicator& target);

}  // namespace halfwarp::emulated_nccl
