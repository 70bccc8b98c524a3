// SPDX-License-Identifier: Apache-2.0
// A thread for calls of a library that must all come from one thread.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <system_error>

namespace halfwarp::core {

// Runs functions sequentially on a dedicated thread, which ends with the object. The caller waits,
// and must release the GIL first. The functions must not throw.
class own_thread {
 public:
  using function = void (*)(void*);

  own_thread() {
    // Block all signals there: a signal handler of the program may rely on running on its threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int problem = pthread_create(&thread_, nullptr, &serve, this);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (problem != 0) throw std::system_error{problem, std::generic_category(), "pthread_create"};
  }
  own_thread(const own_thread&) = delete;  // the thread holds the object's address
  own_thread& operator=(const own_thread&) = delete;

  // In a child process the thread does not exist, and its lock may be held forever.
  ~own_thread() {
    if (!is_of_this_process()) return;
    run(nullptr, nullptr);
    pthread_join(thread_, nullptr);
  }

  // Returns false in a child process, which does not have the thread.
  [[nodiscard]] bool is_of_this_process() const noexcept { return owner_ == getpid(); }

  // Supports one caller at a time.
  void run(function to_call, void* argument) noexcept {
    std::unique_lock lock{mutex_};
    function_ = to_call;
    argument_ = argument;
    state_ = state::requested;
    changed_.notify_all();
    changed_.wait(lock, [this] { return state_ == state::completed; });
  }

 private:
  enum class state : unsigned char { idle, requested, completed };

  static void* serve(void* self) noexcept {
    static_cast<own_thread*>(self)->serve();
    return nullptr;
  }

  void serve() noexcept {
    std::unique_lock lock{mutex_};
    for (;;) {
      changed_.wait(lock, [this] { return state_ == state::requested; });
      const function to_call = function_;
      if (to_call != nullptr) to_call(argument_);
      state_ = state::completed;
      changed_.notify_all();
      if (to_call == nullptr) return;
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  function function_ = nullptr;
  void* argument_ = nullptr;
  state state_ = state::idle;
  const pid_t owner_ = getpid();
  pthread_t thread_{};
};

}  // namespace halfwarp::core
