// SPDX-License-Identifier: Apache-2.0
// What nvmlErrorString says of a code.
#pragma once

#include "headers/nvml.h"

namespace halfwarp::emulated_nvml::api {

const char* error_text(nvmlReturn_t code) noexcept;

}  // namespace halfwarp::emulated_nvml::api
