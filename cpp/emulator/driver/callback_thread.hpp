// SPDX-License-Identifier: Apache-2.0
// Calls functions of the program that no call and no stream waits for.
#pragma once

#include <cuda.h>

#include <condition_variable>
#include <deque>
#include <mutex>

namespace halfwarp::emulator {

// One thread, made at the first call and never joined. They come one by one, in the order given,
// without the driver's lock, and may not call the driver. At the end of the process they are
// dropped.
class callback_thread {
 public:
  callback_thread() = default;
  callback_thread(const callback_thread&) = delete;  // the thread refers to it
  callback_thread& operator=(const callback_thread&) = delete;

  void call(CUhostFn function, void* data);

 private:
  struct pending {
    CUhostFn function;
    void* data;
  };
  void start();
  void work();

  std::mutex lock_;
  std::condition_variable available_;
  std::deque<pending> queue_;
  bool is_running_ = false;
};

}  // namespace halfwarp::emulator
