// SPDX-License-Identifier: Apache-2.0
// Calling functions of the program from a stream.
#include "emulator/work/operations.hpp"

#include <mutex>

#include "emulator/driver/driver.hpp"
#include "emulator/driver/lifecycle.hpp"
#include "emulator/driver/thread.hpp"

namespace halfwarp::emulator {
namespace {

// While one lives, the gate refuses driver calls of this thread.
class host_function_scope {
 public:
  host_function_scope() { this_thread().is_in_host_function = true; }
  ~host_function_scope() { this_thread().is_in_host_function = false; }
  host_function_scope(const host_function_scope&) = delete;  // a scope
  host_function_scope& operator=(const host_function_scope&) = delete;
};

}  // namespace

failure wait_elsewhere(const sharing::event_state& on, std::uint64_t recording) {
  while (!lifecycle::is_ending()) {
    switch (on.of(recording)) {
      case sharing::progress::completed:
        return {};
      case sharing::progress::pending:
        on.wait();
        break;
      case sharing::progress::lost:
        the_driver().report.note("ipc",
                                 "the process that recorded the event has ended before the work "
                                 "that it was recorded behind was done");
        return {CUDA_ERROR_EXTERNAL_DEVICE, false, {}};
    }
  }
  return {};
}

failure wait_for_process::execute(stream& in) {
  if (on_->of(recording_) != sharing::progress::completed) {
    auto& d = the_driver();
    const std::lock_guard guard{d.lock};
    d.streams.may_wait(in);
  }
  return wait_elsewhere(*on_, recording_);
}

std::shared_ptr<operation> make_wait(const event& on, std::vector<stream_point>& places) {
  if (const auto recording = on.recorded_elsewhere()) {
    return std::make_shared<wait_for_process>(on.shared, recording);
  }
  if (!on.last || on.last->is_reached) return nullptr;
  places.push_back(on.last->at);
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
