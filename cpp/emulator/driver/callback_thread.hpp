// SPDX-License-Identifier: Apache-2.0
// Calls host functions for which no call and no stream waits.
#pragma once

#include <cuda.h>

#include <condition_variable>
#include <deque>
#include <mutex>

namespace halfwarp::emulator {

// Owns a thread, created at the first call and never joined. Functions run in submission order,
// without the driver's lock, and must not call the driver. Process exit drops pending ones.
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
