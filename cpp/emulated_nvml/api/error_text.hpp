// SPDX-License-Identifier: Apache-2.0
// The texts of nvmlErrorString.
#pragma once

#include "headers/nvml.h"

namespace halfwarp::emulated_nvml::api {

const char* error_text(nvmlReturn_t code) noexcept;

}  // namespace halfwarp::emulated_nvml::api
