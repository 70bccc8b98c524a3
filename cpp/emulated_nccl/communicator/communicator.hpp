// SPDX-License-Identifier: Apache-2.0
// A communicator of one rank.
#pragma once

#include <cuda.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "emulated_nccl/segment/segment.hpp"

namespace halfwarp::emulated_nccl {

class execution;
class joining;

// An operation that a program created: multiplies each input by a scalar, then adds.
struct created_operation {
  data_type type = data_type::int8;
  CUdeviceptr address = 0;  // of the scalar in device memory; 0: the bytes below
  unsigned char bytes[8] = {};
  bool is_destroyed = false;
};

struct communicator {
  communicator();
  ~communicator();
  communicator(const communicator&) = delete;  // handles and executions refer to it
  communicator& operator=(const communicator&) = delete;

  segment_name name;
  int ranks = 0, rank = 0, device = 0;
  bool is_blocking = true;
  std::shared_ptr<segment> shared;        // null until the rank has joined
  std::unique_ptr<joining> initializing;  // its result is that of the initialization

  CUcontext context = nullptr;  // the retained primary context
  CUevent last_operation = nullptr;
  CUstream last_stream = nullptr;
  bool has_operation = false;

  std::mutex mutex;  // guards the fields above during a submission, and `created`
  std::vector<created_operation> created;
  std::uint64_t children = 0;  // communicators derived from this one

  std::atomic<bool> is_aborted{false}, is_revoked{false};
  std::atomic<int> registrations{0};
  // The execution that uses the counters of the rank: one at a time.
  std::atomic<execution*> active{nullptr};

  // Destroys the event and releases the context. The last reference may be dropped under the lock
  // of the driver, so the destructor of a closed communicator does not call it.
  void close() noexcept;
  // Records the first error of this rank.
  void set_error(result code, const std::string& text) noexcept;
  // Returns the error of this rank, or of another one.
  result error() noexcept;
  const char* error_text() noexcept;

 private:
  std::mutex error_mutex_;
  result error_ = result::success;
  std::string error_text_;
};

using communicator_ref = std::shared_ptr<communicator>;

// Adds a communicator to those that handles refer to, and returns its handle.
communicator* publish(const communicator_ref& created);
// Returns null if the handle refers to no communicator; records the error.
communicator_ref find_communicator(const void* handle);
// Finds a communicator for an operation. It must have no error; the call completes its
// initialization.
result find_usable(const void* handle, communicator_ref& out);
void retract(const void* handle);
// Advances the initialization of all communicators, which nothing else does for nonblocking ones.
void advance_initializations();

// Waits for the operations of the communicator.
result finish_operations(communicator& target);

}  // namespace halfwarp::emulated_nccl
