// SPDX-License-Identifier: Apache-2.0
// Tells of mistakes with what a program has given back: destroyed handles, freed memory.
#pragma once

#include <string>

#include "emulator/driver/driver.hpp"

namespace halfwarp::emulator {

// A handle of something destroyed was given to the calling thread's call. Told once for each handle
// and function. All with the driver's lock held.
void tell_destroyed(driver& d, object_kind expected, std::uint64_t raw);

// An object is being destroyed while another thread is in a call with its handle.
void tell_destroyed_in_use(driver& d, const object& gone, const std::string& by,
                           const std::string& user);

// `what`: a sentence about memory that the calling thread's call was given after its free. The
// driver of a GPU answers with an error code.
void tell_freed(driver& d, report::fault_kind kind, const std::string& what);

}  // namespace halfwarp::emulator
