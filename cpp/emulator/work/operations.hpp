// SPDX-License-Identifier: Apache-2.0
// Stream operations without memory or a kernel: waits, event recordings, host calls.
#pragma once

#include <cuda.h>

#include <memory>
#include <utility>

#include "emulator/stream/event.hpp"
#include "emulator/stream/operation.hpp"

namespace halfwarp::emulator {

// Does nothing; carries the waits of its queue entry.
class marker final : public operation {
 public:
  marker() noexcept : operation{operation_kind::bookkeeping} {}
  failure execute(stream&) override { return {}; }
};

class record_event final : public operation {
 public:
  explicit record_event(std::shared_ptr<event_record> recording) noexcept
      : operation{operation_kind::bookkeeping}, recording_{std::move(recording)} {}
  failure execute(stream&) override {
    recording_->reached = host_clock::now();
    recording_->is_reached = true;
    if (recording_->shared) recording_->shared->complete(recording_->number);
    return {};
  }

 private:
  std::shared_ptr<event_record> recording_;
};

// Waits for a recording of another process.
class wait_for_process final : public operation {
 public:
  wait_for_process(std::shared_ptr<sharing::event_state> state, std::uint64_t recording) noexcept
      : state_{std::move(state)}, recording_{recording} {}
  failure execute(stream& target) override;

 private:
  std::shared_ptr<sharing::event_state> state_;
  std::uint64_t recording_;
};

// Waits until a recording of another process completes, or until either process ends.
failure wait_for_remote_recording(const sharing::event_state& state, std::uint64_t recording);

// Returns the operation that makes a stream wait for the last recording of an event, and adds the
// points to wait for to `points`. Returns null if no wait is needed.
// `is_recorded`: order is recorded, so a wait for a reached point is needed too.
std::shared_ptr<operation> make_wait(const event& source, std::vector<stream_point>& points,
                                     bool is_recorded);

// Calls a host function, which must not call the driver.
class host_call final : public operation {
 public:
  host_call(CUhostFn function, void* data) noexcept
      : operation{operation_kind::host_function}, function_{function}, data_{data} {}
  failure execute(stream&) override;
  void describe(CUgraphNodeParams& params) const override {
    params.type = CU_GRAPH_NODE_TYPE_HOST;
    params.host.fn = function_;
    params.host.userData = data_;
  }

 private:
  CUhostFn function_;
  void* data_;
};

// Calls a callback of cuStreamAddCallback, with the handle and the status of the stream.
class stream_callback final : public operation {
 public:
  stream_callback(CUstream raw, CUstreamCallback function, void* data) noexcept
      : operation{operation_kind::host_function}, raw_{raw}, function_{function}, data_{data} {}
  failure execute(stream&) override;

 private:
  CUstream raw_;
  CUstreamCallback function_;
  void* data_;
};

}  // namespace halfwarp::emulator
