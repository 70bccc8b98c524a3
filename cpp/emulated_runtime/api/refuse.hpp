// SPDX-License-Identifier: Apache-2.0
// The answer of a runtime function that is not translated.
#pragma once

#include <driver_types.h>

namespace halfwarp::emulated_runtime::api {

// cudaErrorNotSupported; says so on standard error at the first call of each function.
cudaError_t refuse(unsigned function_index) noexcept;

}  // namespace halfwarp::emulated_runtime::api
