// SPDX-License-Identifier: Apache-2.0
// Converts driver error codes and looks up runtime error codes.
#include "emulated_runtime/process/errors.hpp"

#include <algorithm>

namespace halfwarp::emulated_runtime {

const error_entry* find_error(cudaError_t code) noexcept {
  const auto entries = error_entries();
  const auto match = std::ranges::lower_bound(entries, code, {}, &error_entry::code);
  return match != entries.end() && match->code == code ? &*match : nullptr;
}

// A code that both enums contain has one meaning. Codes of the driver alone
// (CONTEXT_ALREADY_CURRENT, MULTICAST_RESOURCE_FULL, KEY_ROTATION) concern no runtime function.
cudaError_t from_driver(CUresult code) noexcept {
  const auto same = static_cast<cudaError_t>(code);
  return code == CUDA_SUCCESS || find_error(same) ? same : cudaErrorUnknown;
}

}  // namespace halfwarp::emulated_runtime
