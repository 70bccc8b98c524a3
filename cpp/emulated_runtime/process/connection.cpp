// SPDX-License-Identifier: Apache-2.0
// Sets the driver table of the process.
#include "emulated_runtime/process/connection.hpp"

void halfwarp_cudart_connect(const halfwarp::driver::driver_table* driver) noexcept {
  halfwarp::emulated_runtime::table = driver;
}
