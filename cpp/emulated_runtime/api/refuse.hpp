// SPDX-License-Identifier: Apache-2.0
// The result of runtime functions that are not translated.
#pragma once

#include <driver_types.h>

namespace halfwarp::emulated_runtime::api {

// Returns cudaErrorNotSupported; reports the first call of each function on standard error.
cudaError_t refuse(unsigned function_index) noexcept;

}  // namespace halfwarp::emulated_runtime::api
