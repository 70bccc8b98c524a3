// SPDX-License-Identifier: Apache-2.0
// Calling functions of the program from a stream.
#include "emulator/work/operations.hpp"

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
