// SPDX-License-Identifier: Apache-2.0
// Handles, errors and the end of communicators.
#include "emulated_nccl/communicator/communicator.hpp"

#include <map>

#include "emulated_nccl/communicator/joining.hpp"
#include "emulated_nccl/process/driver.hpp"
#include "emulated_nccl/process/errors.hpp"

namespace halfwarp::emulated_nccl {
namespace {

struct handle_table {
  std::mutex mutex;
  std::map<const void*, communicator_ref> live;
};

// Never destroyed: streams may use it until the process ends.
handle_table& handles() noexcept {
  static auto& table = *new handle_table;
  return table;
}

}  // namespace

communicator::communicator() = default;

communicator::~communicator() { close(); }

void communicator::close() noexcept {
  const std::lock_guard guard{mutex};
  if (!context) return;
  {
    const context_scope scope{context};
    if (scope.code() == result::success && last_operation) driver()->destroy_event(last_operation);
  }
  driver()->release_context(device);
  context = nullptr;
  has_operation = false;
}

void communicator::set_error(result code, const std::string& text) noexcept {
  const std::lock_guard guard{error_mutex_};
  if (error_ != result::success) return;
  error_ = code;
  error_text_ = text;
}

result communicator::error() noexcept {
  const std::lock_guard guard{error_mutex_};
  if (error_ == result::success && shared && !is_aborted) {
    error_ = shared->error();
    if (error_ != result::success) error_text_ = shared->header().error_text;
  }
  return error_;
}

const char* communicator::error_text() noexcept {
  error();
  const std::lock_guard guard{error_mutex_};
  return error_text_.c_str();
}

communicator* publish(const communicator_ref& created) {
  const std::lock_guard guard{handles().mutex};
  handles().live.emplace(created.get(), created);
  return created.get();
}

communicator_ref find_communicator(const void* handle) {
  {
    const std::lock_guard guard{handles().mutex};
    const auto match = handles().live.find(handle);
    if (match != handles().live.end()) return match->second;
  }
  fail(result::invalid_argument,
       handle ? "the handle is no communicator, or the communicator was destroyed"
              : "the communicator is null");
  return nullptr;
}

result find_usable(const void* handle, communicator_ref& out) {
  out = find_communicator(handle);
  if (!out) return result::invalid_argument;
  if (const auto code = out->initializing->complete(); code != result::success) {
    record_error(out->error_text());
    return code;
  }
  if (out->is_aborted || out->is_revoked) {
    return fail(result::invalid_usage,
                out->is_aborted ? "the communicator was aborted" : "the communicator was revoked");
  }
  if (const auto code = out->error(); code != result::success) {
    record_error(out->error_text());
    return code;
  }
  return result::success;
}

void retract(const void* handle) {
  communicator_ref removed;
  {
    const std::lock_guard guard{handles().mutex};
    const auto match = handles().live.find(handle);
    if (match == handles().live.end()) return;
    removed = match->second;
    handles().live.erase(match);
  }
  removed->close();
}

void advance_initializations() {
  std::vector<communicator_ref> all;
  {
    const std::lock_guard guard{handles().mutex};
    for (const auto& [handle, each] : handles().live) all.push_back(each);
  }
  for (const auto& each : all) each->initializing->step();
}

result finish_operations(communicator& target) {
  CUevent last;
  {
    const std::lock_guard guard{target.mutex};
    if (!target.has_operation) return result::success;
    last = target.last_operation;
  }
  const context_scope scope{target.context};
  if (scope.code() != result::success) return scope.code();
  const auto code = check(driver()->wait_for_event(last), "cuEventSynchronize");
  if (target.error() == result::success) return code;
  record_error(target.error_text());
  return target.error();
}

}  // namespace halfwarp::emulated_nccl
