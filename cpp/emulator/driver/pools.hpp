// SPDX-License-Identifier: Apache-2.0
// Default pools, and the trim of all pools at synchronization.
#pragma once

#include <cuda.h>

#include <memory>

#include "emulator/device/memory_pool.hpp"
#include "emulator/driver/driver.hpp"

namespace halfwarp::emulator {

// Returns the default pool of a device or of the host; creates it at the first use.
std::shared_ptr<memory_pool> default_pool(driver& d, const CUmemLocation& location,
                                          CUmemAllocationType type);

// Trims all pools to their release thresholds. Called at every synchronization.
void trim_pools(driver& d);

}  // namespace halfwarp::emulator
