// SPDX-License-Identifier: Apache-2.0
// The result of a driver function that is not emulated.
#include "emulator/api/refuse.hpp"

#include "emulator/api.hpp"
#include "emulator/report/refusal_notice.hpp"

namespace halfwarp::emulator::api {

CUresult refuse(unsigned function_index) noexcept {
  static constinit refusal_notice<function_count> notice;
  notice.report(function_index, function_names[function_index]);
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace halfwarp::emulator::api
