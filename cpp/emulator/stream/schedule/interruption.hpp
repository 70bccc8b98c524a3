// SPDX-License-Identifier: Apache-2.0
// Lets Ctrl-C end the kernels that the main thread waits for.
#pragma once

#include <atomic>
#include <cstdint>

namespace halfwarp::emulator {

// Number of SIGINT signals during an interruptible_wait. A kernel ends when the number changes.
extern constinit std::atomic<std::uint64_t> interruptions;

// While one exists on the main thread, SIGINT is counted before the handler of the program runs.
// Without such a handler the signal terminates the process or is ignored, as before.
class interruptible_wait {
 public:
  interruptible_wait() noexcept;
  ~interruptible_wait();
  interruptible_wait(const interruptible_wait&) = delete;  // restores the handler once
  interruptible_wait& operator=(const interruptible_wait&) = delete;
};

}  // namespace halfwarp::emulator
