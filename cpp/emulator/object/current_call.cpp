// SPDX-License-Identifier: Apache-2.0
// Stores the current call of each thread.
#include "emulator/object/current_call.hpp"

#include <unistd.h>

#include <atomic>

namespace halfwarp::emulator {
namespace {

std::atomic<call_site_source> installed{nullptr};
constinit std::atomic<moment> latest{0};

current_call& call_of_thread() noexcept {
  static thread_local current_call call;
  return call;
}

}  // namespace

const current_call& this_call() noexcept { return call_of_thread(); }

const std::string& call_site() { return call_of_thread().site; }

moment next_moment() noexcept { return latest.fetch_add(1, std::memory_order_relaxed) + 1; }

void enter_call(std::string_view function) noexcept {
  auto& call = call_of_thread();
  call.function = function;
  call.entered = next_moment();
  if (call.thread == 0) call.thread = ::gettid();
}

void leave_call() noexcept { call_of_thread().function = {}; }

void set_call_site_source(call_site_source source) noexcept { installed.store(source); }

void record_call_site() {
  const auto source = installed.load(std::memory_order_acquire);
  char text[512];
  const int length = source ? source(text, sizeof text) : 0;
  call_of_thread().site.assign(text, length > 0 ? static_cast<std::size_t>(length) : 0);
}

}  // namespace halfwarp::emulator
