// SPDX-License-Identifier: Apache-2.0
// Reports as a SARIF 2.1.0 log for code hosts.
#pragma once

#include <map>
#include <string>

#include "emulator/report/fault.hpp"

namespace halfwarp::emulator {

class sarif_log {
 public:
  // Adds a report, or counts it if its mistake is known.
  void add(const report::fault& fault);
  std::string text() const;

 private:
  std::map<std::string, report::fault> results_;  // by kind, kernel and places
};

}  // namespace halfwarp::emulator
