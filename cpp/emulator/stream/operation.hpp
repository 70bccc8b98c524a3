// SPDX-License-Identifier: Apache-2.0
// One piece of work in a stream.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "emulator/report/fault.hpp"

namespace halfwarp::emulator {

class stream;

// A place in a stream: reached when the stream has completed so many operations.
struct stream_point {
  std::shared_ptr<stream> in;
  std::uint64_t ticket = 0;

  bool is_reached() const noexcept;
};

// How an operation ended. A sticky failure breaks the context; another one is told once, by the
// next synchronising call.
struct failure {
  CUresult code = CUDA_SUCCESS;
  bool is_sticky = false;
  std::optional<report::fault> fault;

  explicit operator bool() const noexcept { return code != CUDA_SUCCESS; }
};

// Who runs an operation. Bookkeeping takes no time and is done under the driver's lock, as soon as
// it is its turn and even in a broken context. Work is done by a worker, or by a thread that waits
// for it; functions of the program by a worker only, since the waiting thread may hold locks.
enum class operation_kind : std::uint8_t { work, bookkeeping, host_function };

class operation {
 public:
  explicit operation(operation_kind kind = operation_kind::work) noexcept : kind_{kind} {}
  virtual ~operation() = default;
  operation(const operation&) = delete;  // a queue entry, or a graph, shares it
  operation& operator=(const operation&) = delete;

  virtual failure execute(stream& in) = 0;
  // Called instead of execute() when the context broke before it was this operation's turn.
  virtual void drop() noexcept {}
  // After bookkeeping that is not done yet: the places to wait for until it is executed again. It
  // may have enqueued more work, though none behind itself.
  virtual std::vector<stream_point> unfinished() { return {}; }
  // Called after either, under the driver's lock.
  virtual void finish() noexcept {}

  // As the parameters of a graph node; what they point at lives as long as the operation.
  virtual void describe(CUgraphNodeParams& as) const { as.type = CU_GRAPH_NODE_TYPE_EMPTY; }
  // Whether an address that kernels use is invalid afterwards.
  virtual bool releases_memory() const noexcept { return false; }

  operation_kind kind() const noexcept { return kind_; }

 private:
  operation_kind kind_;
};

}  // namespace halfwarp::emulator
