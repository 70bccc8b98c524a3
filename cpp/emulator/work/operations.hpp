// SPDX-License-Identifier: Apache-2.0
// The operations that take no memory and no kernel: waiting, recording, calling the host.
#pragma once

#include <cuda.h>

#include <memory>
#include <utility>

#include "emulator/stream/event.hpp"
#include "emulator/stream/operation.hpp"

namespace halfwarp::emulator {

// Does nothing, in its turn: what waits for other places waits through it.
class marker final : public operation {
 public:
  marker() noexcept : operation{operation_kind::bookkeeping} {}
  failure execute(stream&) override { return {}; }
};

class record_event final : public operation {
 public:
  explicit record_event(std::shared_ptr<event_record> what) noexcept
      : operation{operation_kind::bookkeeping}, what_{std::move(what)} {}
  failure execute(stream&) override {
    what_->reached = host_clock::now();
    what_->is_reached = true;
    if (what_->shared) what_->shared->complete(what_->number);
    return {};
  }

 private:
  std::shared_ptr<event_record> what_;
};

// Waits for what another process recorded.
class wait_for_process final : public operation {
 public:
  wait_for_process(std::shared_ptr<sharing::event_state> on, std::uint64_t recording) noexcept
      : on_{std::move(on)}, recording_{recording} {}
  failure execute(stream& in) override;

 private:
  std::shared_ptr<sharing::event_state> on_;
  std::uint64_t recording_;
};

// Until a recording of another process is reached, that process ends, or this one does.
failure wait_elsewhere(const sharing::event_state& on, std::uint64_t recording);

// The operation by which a stream waits for the last recording of an event, and the places that it
// waits for besides; null when there is nothing to wait for.
std::shared_ptr<operation> make_wait(const event& on, std::vector<stream_point>& places);

// Calls a function of the program, which may not call the driver.
class host_call final : public operation {
 public:
  host_call(CUhostFn function, void* data) noexcept
      : operation{operation_kind::host_function}, function_{function}, data_{data} {}
  failure execute(stream&) override;
  void describe(CUgraphNodeParams& as) const override {
    as.type = CU_GRAPH_NODE_TYPE_HOST;
    as.host.fn = function_;
    as.host.userData = data_;
  }

 private:
  CUhostFn function_;
  void* data_;
};

// The older form, which is told the handle and the state of the stream.
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
