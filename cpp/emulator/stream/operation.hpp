// SPDX-License-Identifier: Apache-2.0
// Operations of streams, and the points that they reach.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/memory/allocation.hpp"
#include "emulator/report/fault.hpp"

namespace halfwarp::emulator {

class stream;

// A point of a stream, reached when the stream has completed `ticket` operations.
struct stream_point {
  std::shared_ptr<emulator::stream> stream;
  std::uint64_t ticket = 0;

  bool is_reached() const noexcept;
};

// The result of an operation. A sticky failure breaks the context; the next synchronizing call
// reports another failure once.
struct failure {
  CUresult code = CUDA_SUCCESS;
  bool is_sticky = false;
  std::optional<report::fault> fault;

  explicit operator bool() const noexcept { return code != CUDA_SUCCESS; }
};

// The effect of an operation on bytes; update: atomic, so that two of them need no order.
enum class byte_use : std::uint8_t { read, write, update, allocate, release };

struct byte_range {
  memory::address first = 0;
  std::uint64_t bytes = 0;
  byte_use use = byte_use::read;
};

// The thread that runs an operation. Bookkeeping is instant and runs under the driver's lock as
// soon as the stream reaches it, even in a broken context. Work runs in a worker or in a thread
// that waits for it. Host functions run in a worker only, since the waiting thread may hold locks.
// An exchange waits for other streams and processes, so it runs in a worker in eager mode too.
enum class operation_kind : std::uint8_t { work, bookkeeping, host_function, exchange };

class operation {
 public:
  explicit operation(operation_kind kind = operation_kind::work) noexcept : kind_{kind} {}
  virtual ~operation() = default;
  operation(const operation&) = delete;  // shared by queue entries and graphs
  operation& operator=(const operation&) = delete;

  virtual failure execute(stream& target) = 0;
  // Called instead of execute() if the context broke before the stream reached the operation.
  virtual void drop() noexcept {}
  // Returns the points to wait for before incomplete bookkeeping executes again. The operation may
  // have enqueued work in other streams.
  virtual std::vector<stream_point> unfinished() { return {}; }
  // Called after execute() or drop(), under the driver's lock.
  virtual void finish() noexcept {}

  // Writes the parameters of a graph node; their pointers are valid as long as the operation.
  virtual void describe(CUgraphNodeParams& params) const { params.type = CU_GRAPH_NODE_TYPE_EMPTY; }
  // Returns whether the operation invalidates an address that kernels use.
  virtual bool releases_memory() const noexcept { return false; }

  // For reports: the name, and the device-visible bytes that the operation uses. A kernel adds its
  // bytes while it runs.
  virtual std::string title() const { return "an operation"; }
  virtual std::vector<byte_range> ranges() const { return {}; }
  // Returns whether the operation waits for a value that any other operation may write.
  virtual bool waits_for_value() const noexcept { return false; }

  operation_kind kind() const noexcept { return kind_; }

 private:
  operation_kind kind_;
};

}  // namespace halfwarp::emulator
