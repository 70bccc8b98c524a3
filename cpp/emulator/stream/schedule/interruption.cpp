// SPDX-License-Identifier: Apache-2.0
// Replaces the handler of SIGINT during a wait of the main thread.
#include "emulator/stream/schedule/interruption.hpp"

#include <signal.h>
#include <unistd.h>

namespace halfwarp::emulator {

constinit std::atomic<std::uint64_t> interruptions{0};

namespace {

struct sigaction program_action;  // written by the main thread while `count_signal` is not set
unsigned depth = 0;               // of the main thread
bool is_installed = false;

bool is_main_thread() noexcept {
  thread_local const bool result = gettid() == getpid();
  return result;
}

void count_signal(int number, siginfo_t* info, void* context) {
  interruptions.fetch_add(1, std::memory_order_relaxed);
  if (program_action.sa_flags & SA_SIGINFO) {
    program_action.sa_sigaction(number, info, context);
  } else {
    program_action.sa_handler(number);
  }
}

bool is_ours(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == &count_signal;
}

bool has_handler(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 ||
         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

}  // namespace

interruptible_wait::interruptible_wait() noexcept {
  if (!is_main_thread() || depth++ > 0) return;
  struct sigaction current;
  if (sigaction(SIGINT, nullptr, &current) != 0 || !has_handler(current) || is_ours(current)) {
    return;
  }
  program_action = current;
  current.sa_flags |= SA_SIGINFO;
  current.sa_sigaction = &count_signal;
  is_installed = sigaction(SIGINT, &current, nullptr) == 0;
}

// A handler that the program installed during the wait stays.
interruptible_wait::~interruptible_wait() {
  if (!is_main_thread() || --depth > 0 || !is_installed) return;
  is_installed = false;
  struct sigaction current;
  if (sigaction(SIGINT, nullptr, &current) == 0 && is_ours(current)) {
    sigaction(SIGINT, &program_action, nullptr);
  }
}

}  // namespace halfwarp::emulator
