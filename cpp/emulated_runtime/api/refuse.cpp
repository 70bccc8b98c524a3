// SPDX-License-Identifier: Apache-2.0
// The result of runtime functions that are not translated.
#include "emulated_runtime/api/refuse.hpp"

#include "emulated_runtime/api.hpp"
#include "emulator/report/refusal_notice.hpp"

namespace halfwarp::emulated_runtime::api {

cudaError_t refuse(unsigned function_index) noexcept {
  static constinit emulator::refusal_notice<function_count> notice;
  notice.report(function_index, function_names[function_index]);
  return cudaErrorNotSupported;
}

}  // namespace halfwarp::emulated_runtime::api
