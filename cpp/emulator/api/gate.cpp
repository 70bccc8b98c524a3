// SPDX-License-Identifier: Apache-2.0
// The fast path of the gate costs a few loads, two additions and the entry of the call.
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

std::uint64_t call_count(unsigned function_index) noexcept {
  return calls[function_index].load(std::memory_order_relaxed);
}

void reset_call_counts() noexcept {
  for (auto& each : calls) each.store(0, std::memory_order_relaxed);
}

gate::gate(unsigned function_index) noexcept : index_{function_index} {
  calls[index_].fetch_add(1, std::memory_order_relaxed);
  enter_call(function_names[index_]);
  // Acquire: another thread may have created the driver, which the call reads.
  const unsigned obstacles = lifecycle::obstacles.load(std::memory_order_acquire);
  if (obstacles) [[unlikely]]
    handle_obstacles(obstacles);
  if (blocked) return;
  const thread_state& thread = this_thread();
  if (thread.is_in_host_function && !(policies[index_] & is_constant_lookup)) [[unlikely]] {
    block(CUDA_ERROR_NOT_PERMITTED);
    return;
  }
  if (!thread.contexts.empty()) apply_failure(thread.contexts.back()->sticky_code());
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
  if (!(lifecycle::obstacles.load() & obstacle::uninitialized))
    the_driver().report.note("trace", text);
}

// A child process must not write the log, since another thread may have held its lock at the fork.
void gate::write_log() const noexcept {
  if (lifecycle::obstacles.load(std::memory_order_relaxed) & obstacle::forked) return;
  const thread_state& thread = this_thread();
  const auto* const entry = find_error(code);
  the_log().write(function_names[index_], code, entry ? entry->name : "?",
                  thread.message_code == code ? thread.message : "");
}

CUresult gate::leave(CUresult result) noexcept {
  code = result == CUDA_SUCCESS && deferred_code_ != CUDA_SUCCESS ? deferred_code_ : result;
  return code;
}

void gate::block(CUresult error) noexcept {
  blocked = true;
  code = error;
}

void gate::handle_obstacles(unsigned obstacles) noexcept {
  const auto policy = policies[index_];
  if (obstacles & obstacle::unannounced) lifecycle::announce();
  if ((obstacles & obstacle::forked) && !(policy & is_constant_lookup)) {
    return block(CUDA_ERROR_NOT_INITIALIZED);
  }
  if (obstacles & obstacle::ended) return block(CUDA_ERROR_DEINITIALIZED);
  if ((obstacles & obstacle::uninitialized) && !(policy & needs_no_init)) {
    return block(CUDA_ERROR_NOT_INITIALIZED);
  }
  if (obstacles & obstacle::tracing) {
    const options& chosen = lifecycle::chosen_options();
    if ((chosen.traces & trace::site) || chosen.checks_for(check::hazard)) record_call_site();
  }
  if (obstacles & obstacle::injecting) inject();
}

// Defers an injected asynchronous error for calls that release resources: such an error reports an
// earlier kernel, so the call itself still succeeds.
void gate::inject() noexcept {
  const auto policy = policies[index_];
  const auto failure = the_driver().rules.on_call(function_names[index_], !(policy & cannot_fail));
  if (!failure) return;
  if ((policy & releases_resource) && is_asynchronous_error(*failure)) {
    deferred_code_ = *failure;
  } else {
    this_thread().note(*failure, "this failure was injected by a fault rule");
    block(*failure);
  }
}

void gate::apply_failure(CUresult error) noexcept {
  const auto policy = policies[index_];
  if (error == CUDA_SUCCESS || (policy & ignores_failure)) return;
  if (policy & releases_resource) {
    deferred_code_ = error;
  } else {
    block(error);
  }
}

}  // namespace halfwarp::emulator::api
