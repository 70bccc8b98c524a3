// SPDX-License-Identifier: Apache-2.0
// The answer of an NVML function that an emulated board has nothing for.
#pragma once

#include "headers/nvml.h"

namespace halfwarp::emulated_nvml::api {

constexpr nvmlReturn_t refuse(unsigned) noexcept { return NVML_ERROR_NOT_SUPPORTED; }

}  // namespace halfwarp::emulated_nvml::api
