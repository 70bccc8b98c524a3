// SPDX-License-Identifier: Apache-2.0
// The state of the driver as JSON, for cuda.core.emulation.
#pragma once

#include <string>

#include "emulator/driver/driver.hpp"

namespace halfwarp::emulator {

std::string options_record(const options& source);
// Call the other functions with the driver's lock held.
std::string stats_record(const driver& d);
std::string leaks_record(const driver& d);
std::string fault_record(const driver& d);   // the last fault
std::string faults_record(const driver& d);  // all recorded faults
std::string unused_rules_record(driver& d);  // which the end of the process then omits

}  // namespace halfwarp::emulator
