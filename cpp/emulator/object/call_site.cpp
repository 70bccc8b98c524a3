// SPDX-License-Identifier: Apache-2.0
// Keeps the call site of each thread's current call.
#include "emulator/object/call_site.hpp"

#include <atomic>

namespace halfwarp::emulator {
namespace {

std::atomic<call_site_source> installed{nullptr};
thread_local std::string site;

}  // namespace

void set_call_site_source(call_site_source source) noexcept { installed.store(source); }

void note_call_site() {
  const auto source = installed.load(std::memory_order_acquire);
  char text[512];
  const int length = source ? source(text, sizeof text) : 0;
  site.assign(text, length > 0 ? static_cast<std::size_t>(length) : 0);
}

const std::string& call_site() { return site; }

}  // namespace halfwarp::emulator
