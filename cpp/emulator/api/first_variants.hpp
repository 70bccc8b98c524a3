// SPDX-License-Identifier: Apache-2.0
// Driver functions of CUDA 8 to 12 whose newest variants have other parameters.
#pragma once

#include <span>

#include "emulator/api/entry_points.hpp"

namespace halfwarp::emulator::api {

// Sorted by name, then version. Each is older than the variants in entry_points().
std::span<const entry_point> first_variants() noexcept;

}  // namespace halfwarp::emulator::api
