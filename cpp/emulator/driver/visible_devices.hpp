// SPDX-License-Identifier: Apache-2.0
// Applies CUDA_VISIBLE_DEVICES to the devices of the options.
#pragma once

#include <vector>

#include "emulator/settings/options.hpp"

namespace halfwarp::emulator {

// Returns the numbers of the visible devices in the order of their ordinals. `variable` is the
// value of CUDA_VISIBLE_DEVICES: indices or UUIDs, separated by commas; null makes all visible.
// As in a GPU's driver, the first invalid element ends the list, and a repeated one empties it.
[[nodiscard]] std::vector<int> visible_devices(const options& chosen, const char* variable);

}  // namespace halfwarp::emulator
