// SPDX-License-Identifier: Apache-2.0
// Calls host functions from streams.
#include "emulator/work/operations.hpp"

#include <mutex>

#include "emulator/driver/driver.hpp"
#include "emulator/driver/lifecycle.hpp"
#include "emulator/driver/thread.hpp"

namespace halfwarp::emulator {
namespace {

// Makes the gate refuse driver calls of this thread during its lifetime.
class host_function_scope {
 public:
  host_function_scope() { this_thread().is_in_host_function = true; }
  ~host_function_scope() { this_thread().is_in_host_function = false; }
  host_function_scope(const host_function_scope&) = delete;  // a scope
  host_function_scope& operator=(const host_function_scope&) = delete;
};

}  // namespace

failure wait_for_remote_recording(const sharing::event_state& state, std::uint64_t recording) {
  while (!lifecycle::is_ending()) {
    switch (state.of(recording)) {
      case sharing::progress::completed:
        return {};
      case sharing::progress::pending:
        state.wait();
        break;
      case sharing::progress::lost:
        the_driver().report.note(
            "ipc", "the process that recorded the event ended before the recording completed");
        return {CUDA_ERROR_EXTERNAL_DEVICE, false, {}};
    }
  }
  return {};
}

failure wait_for_process::execute(stream& target) {
  if (state_->of(recording_) != sharing::progress::completed) {
    auto& d = the_driver();
    const std::lock_guard guard{d.lock};
    d.streams.may_wait(target);
  }
  return wait_for_remote_recording(*state_, recording_);
}

std::shared_ptr<operation> make_wait(const event& source, std::vector<stream_point>& points,
                                     bool is_recorded) {
  if (const auto recording = source.remote_recording()) {
    return std::make_shared<wait_for_process>(source.shared, recording);
  }
  if (!source.last || (source.last->is_reached && !is_recorded)) return nullptr;
  points.push_back(source.last->point);
  return std::make_shared<marker>();
}

failure host_call::execute(stream&) {
  if (lifecycle::is_ending()) return {};
  const host_function_scope scope;
  function_(data_);
  return {};
}

failure stream_callback::execute(stream&) {
  if (lifecycle::is_ending()) return {};
  const host_function_scope scope;
  function_(raw_, CUDA_SUCCESS, data_);
  return {};
}

}  // namespace halfwarp::emulator
