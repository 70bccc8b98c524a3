// SPDX-License-Identifier: Apache-2.0
// Reports the use of destroyed handles and freed memory.
#pragma once

#include <string>

#include "emulator/driver/driver.hpp"

namespace halfwarp::emulator {

// Reports a destroyed handle in the calling thread's call, once per handle and function. Call these
// functions with the driver's lock held.
void report_destroyed(driver& d, object_kind expected, std::uint64_t raw);

// Reports the destruction of an object during a call of another thread with its handle.
void report_destroyed_in_use(driver& d, const object& destroyed, const std::string& by_function,
                             const std::string& user);

// Reports the use of freed memory in the calling thread's call; `detail` is a sentence. A GPU
// driver returns an error code.
void report_freed(driver& d, report::fault_kind kind, const std::string& detail);

}  // namespace halfwarp::emulator
