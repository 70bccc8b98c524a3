// SPDX-License-Identifier: Apache-2.0
// The result of NVML functions that an emulated board does not support.
#pragma once

#include "headers/nvml.h"

namespace halfwarp::emulated_nvml::api {

constexpr nvmlReturn_t refuse(unsigned) noexcept { return NVML_ERROR_NOT_SUPPORTED; }

}  // namespace halfwarp::emulated_nvml::api
