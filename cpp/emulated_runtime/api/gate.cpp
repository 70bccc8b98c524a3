// SPDX-License-Identifier: Apache-2.0
// Prepares the context of each call and records its error.
#include "emulated_runtime/api/gate.hpp"

#include "emulated_runtime/api.hpp"
#include "emulated_runtime/process/connection.hpp"
#include "emulated_runtime/process/context.hpp"
#include "emulated_runtime/process/thread.hpp"
#include "emulated_runtime/program/registry.hpp"
#include "emulated_runtime/requirements.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

cudaError_t prepare(unsigned function_index) noexcept {
  switch (requirements[function_index].state) {
    case needs::nothing:
      return cudaSuccess;
    case needs::connection:
      return ensure_connection() ? cudaSuccess : cudaErrorInsufficientDriver;
    case needs::driver:
      return initialize();
    case needs::context: {
      const cudaError_t code = make_context_current();
      if (code == cudaSuccess) program::load_registered();
      return code;
    }
  }
  return cudaErrorUnknown;
}

// Returns whether the function returns the last error, which must not be recorded again.
constexpr bool returns_last_error(unsigned index) {
  return index == index_of("cudaGetLastError") || index == index_of("cudaPeekAtLastError");
}

}  // namespace

gate::gate(unsigned function_index) noexcept : index_{function_index} {
  code = prepare(function_index);
  blocked = code != cudaSuccess;
  if (blocked) this_thread.last_error = code;
}

cudaError_t gate::leave(cudaError_t result) noexcept {
  if (result != cudaSuccess && !returns_last_error(index_)) this_thread.last_error = result;
  return code = result;
}

}  // namespace halfwarp::emulated_runtime::api
