// SPDX-License-Identifier: Apache-2.0
// The pools that are there without being made, and what all pools do at a synchronisation.
#pragma once

#include <cuda.h>

#include <memory>

#include "emulator/device/memory_pool.hpp"
#include "emulator/driver/driver.hpp"

namespace halfwarp::emulator {

// The pool that a device, or the host, has without being asked.
std::shared_ptr<memory_pool> default_pool(driver& d, const CUmemLocation& where,
                                          CUmemAllocationType type);

// At every synchronisation: pools give back what their thresholds do not let them keep.
void settle_pools(driver& d);

}  // namespace halfwarp::emulator
