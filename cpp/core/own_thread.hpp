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

// Runs functions one after another on a thread of its own, which ends with the object. The caller
// waits, without the interpreter lock. The functions must not throw.
class own_thread {
 public:
  using function = void (*)(void*);

  own_thread() {
    // No signal is handled there: a handler of the program's may expect one of its own threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int problem = pthread_create(&thread_, nullptr, &serve, this);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (problem != 0) throw std::system_error{problem, std::generic_category(), "pthread_create"};
  }
  own_thread(const own_thread&) = delete;  // the thread knows where the object is
  own_thread& operator=(const own_thread&) = delete;

  // In the child of a fork there is no thread to end, and its lock may be held for ever.
  ~own_thread() {
    if (!is_of_this_process()) return;
    run(nullptr, nullptr);
    pthread_join(thread_, nullptr);
  }

  // A fork leaves the thread behind.
  [[nodiscard]] bool is_of_this_process() const noexcept { return owner_ == getpid(); }

  // Not for two callers at once.
  void run(function what, void* with) noexcept {
    std::unique_lock lock{mutex_};
    what_ = what;
    with_ = with;
    state_ = state::asked;
    changed_.notify_all();
    changed_.wait(lock, [this] { return state_ == state::answered; });
  }

 private:
  enum class state : unsigned char { idle, asked, answered };

  static void* serve(void* self) noexcept {
    static_cast<own_thread*>(self)->serve();
    return nullptr;
  }

  void serve() noexcept {
    std::unique_lock lock{mutex_};
    for (;;) {
      changed_.wait(lock, [this] { return state_ == state::asked; });
      const function what = what_;
      if (what != nullptr) what(with_);
      state_ = state::answered;
      changed_.notify_all();
      if (what == nullptr) return;
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  function what_ = nullptr;
  void* with_ = nullptr;
  state state_ = state::idle;
  const pid_t owner_ = getpid();
  pthread_t thread_{};
};

}  // namespace halfwarp::core
