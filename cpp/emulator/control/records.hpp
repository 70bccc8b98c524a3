// SPDX-License-Identifier: Apache-2.0
// The state of the driver as JSON, for cuda.core.emulation.
#pragma once

#include <string>

#include "emulator/driver/driver.hpp"

namespace halfwarp::emulator {

std::string options_record(const options& of);
// The others with the driver's lock held.
std::string stats_record(const driver& of);
std::string leaks_record(const driver& of);
std::string fault_record(const driver& of);   // the last one
std::string faults_record(const driver& of);  // all that are kept

}  // namespace halfwarp::emulator
