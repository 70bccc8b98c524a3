// SPDX-License-Identifier: Apache-2.0
// The runtime's error codes: from the driver's, and by number.
#include "emulated_runtime/process/errors.hpp"

#include <algorithm>

namespace halfwarp::emulated_runtime {

const error_entry* find_error(cudaError_t code) noexcept {
  const auto entries = error_entries();
  const auto found = std::ranges::lower_bound(entries, code, {}, &error_entry::code);
  return found != entries.end() && found->code == code ? &*found : nullptr;
}

// A number that both enums have means the same in both. What the driver alone has
// (CONTEXT_ALREADY_CURRENT, MULTICAST_RESOURCE_FULL, KEY_ROTATION) no runtime function is about.
cudaError_t from_driver(CUresult code) noexcept {
  const auto same = static_cast<cudaError_t>(code);
  return code == CUDA_SUCCESS || find_error(same) ? same : cudaErrorUnknown;
}

}  // namespace halfwarp::emulated_runtime
