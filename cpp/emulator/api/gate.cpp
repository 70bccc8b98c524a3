// SPDX-License-Identifier: Apache-2.0
// The short way through the gate is a few loads, two additions and a note of the call.
#include "emulator/api/gate.hpp"

#include <atomic>
#include <string>

#include "emulator/api.hpp"
#include "emulator/api/function_policy.hpp"
#include "emulator/driver/driver.hpp"
#include "emulator/driver/lifecycle.hpp"
#include "emulator/driver/thread.hpp"
#include "emulator/object/current_call.hpp"
#include "emulator/observation/driver_log.hpp"
#include "emulator/settings/error_names.hpp"
#include "emulator/stream/context.hpp"

namespace halfwarp::emulator::api {
namespace {

namespace obstacle = lifecycle::obstacle;

constinit std::atomic<std::uint64_t> calls[function_count] = {};

}  // namespace

std::uint64_t calls_of(unsigned function_index) noexcept {
  return calls[function_index].load(std::memory_order_relaxed);
}

void forget_calls() noexcept {
  for (auto& each : calls) each.store(0, std::memory_order_relaxed);
}

gate::gate(unsigned function_index) noexcept : index_{function_index} {
  calls[index_].fetch_add(1, std::memory_order_relaxed);
  enter_call(function_names[index_]);
  // Acquire: another thread may have made the driver, which is read from here on.
  const unsigned obstacles = lifecycle::obstacles.load(std::memory_order_acquire);
  if (obstacles) [[unlikely]]
    look_closer(obstacles);
  if (blocked) return;
  const thread_state& thread = this_thread();
  if (thread.is_in_host_function && !(policies[index_] & is_constant_look_up)) [[unlikely]] {
    block(CUDA_ERROR_NOT_PERMITTED);
    return;
  }
  if (!thread.contexts.empty()) heed_failure(thread.contexts.back()->sticky_code());
}

gate::~gate() {
  leave_call();
  if (code != CUDA_SUCCESS && code != CUDA_ERROR_NOT_READY) [[unlikely]]
    write_log();
  if (!(lifecycle::obstacles.load(std::memory_order_relaxed) & obstacle::tracing)) return;
  if (!(lifecycle::chosen_options().traces & trace::api)) return;
  const auto* entry = find_error(code);
  const std::string text =
      std::string{function_names[index_]} + " -> " + (entry ? entry->name : "?");
  if (!(lifecycle::obstacles.load() & obstacle::uninitialised))
    the_driver().report.note("trace", text);
}

// The child of a fork leaves the log alone, which another thread may have been writing.
void gate::write_log() const noexcept {
  if (lifecycle::obstacles.load(std::memory_order_relaxed) & obstacle::forked) return;
  const thread_state& thread = this_thread();
  const auto* const entry = find_error(code);
  the_log().write(function_names[index_], code, entry ? entry->name : "?",
                  thread.message_code == code ? thread.message : "");
}

CUresult gate::leave(CUresult result) noexcept {
  code = result == CUDA_SUCCESS && afterwards_ != CUDA_SUCCESS ? afterwards_ : result;
  return code;
}

void gate::block(CUresult with) noexcept {
  blocked = true;
  code = with;
}

void gate::look_closer(unsigned obstacles) noexcept {
  const auto policy = policies[index_];
  if (obstacles & obstacle::unannounced) lifecycle::announce();
  if ((obstacles & obstacle::forked) && !(policy & is_constant_look_up)) {
    return block(CUDA_ERROR_NOT_INITIALIZED);
  }
  if (obstacles & obstacle::ended) return block(CUDA_ERROR_DEINITIALIZED);
  if ((obstacles & obstacle::uninitialised) && !(policy & needs_no_init)) {
    return block(CUDA_ERROR_NOT_INITIALIZED);
  }
  if ((obstacles & obstacle::tracing) && (lifecycle::chosen_options().traces & trace::site)) {
    record_call_site();
  }
  if (obstacles & obstacle::injecting) inject();
}

// A call that releases something still does when the injected code says that a kernel failed
// earlier: then the call itself is not what went wrong.
void gate::inject() noexcept {
  const auto policy = policies[index_];
  const auto failure = the_driver().rules.on_call(function_names[index_], !(policy & cannot_fail));
  if (!failure) return;
  if ((policy & releases_something) && is_asynchronous_error(*failure)) {
    afterwards_ = *failure;
  } else {
    this_thread().note(*failure, "this failure was injected by a fault rule");
    block(*failure);
  }
}

void gate::heed_failure(CUresult with) noexcept {
  const auto policy = policies[index_];
  if (with == CUDA_SUCCESS || (policy & ignores_failure)) return;
  if (policy & releases_something) {
    afterwards_ = with;
  } else {
    block(with);
  }
}

}  // namespace halfwarp::emulator::api
