// SPDX-License-Identifier: Apache-2.0
// Queues host functions and runs them in one thread.
#include "emulator/driver/callback_thread.hpp"

#include <pthread.h>
#include <signal.h>

#include <thread>

#include "emulator/driver/lifecycle.hpp"
#include "emulator/driver/thread.hpp"

namespace halfwarp::emulator {

void callback_thread::call(CUhostFn function, void* data) {
  const std::lock_guard guard{lock_};
  queue_.push_back({function, data});
  if (!is_running_) start();
  available_.notify_one();
}

// Creates the thread; after a failure the next call tries again.
void callback_thread::start() {
  sigset_t all, before;  // signals are handled by the program's threads
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread worker{&callback_thread::work, this};
    pthread_setname_np(worker.native_handle(), "emulated-calls");
    worker.detach();
    is_running_ = true;
  } catch (const std::system_error&) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void callback_thread::work() {
  this_thread().is_in_host_function = true;  // the gate refuses its driver calls
  std::unique_lock guard{lock_};
  for (;;) {
    available_.wait(guard, [this] { return !queue_.empty(); });
    const pending next = queue_.front();
    queue_.pop_front();
    guard.unlock();
    if (!lifecycle::is_ending()) next.function(next.data);
    guard.lock();
  }
}

}  // namespace halfwarp::emulator
