// SPDX-License-Identifier: Apache-2.0
// Where reports go: standard error, or the file that option `report` names.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "emulator/report/fault.hpp"

namespace halfwarp::emulator {

// Thread-safe: kernels report from the threads that run them. Never closed: reports may come until
// the process ends.
class report_stream {
 public:
  // Opens the file at the first report; one that cannot be opened is said so on standard error.
  explicit report_stream(std::string target);

  // One line about something that is no fault of a kernel. `kind` is a short word: "leak",
  // "handle".
  void note(std::string_view kind, std::string_view text);
  void fault(const report::fault& what);

  // How many reports of each kind were written: for `sweep`, and the exit status of `run`.
  std::map<std::string, std::uint64_t, std::less<>> written() const;

 private:
  void write(std::string_view kind, const std::string& text);

  std::string target_;
  int file_ = -1;
  bool as_json_;
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t, std::less<>> written_;
};

// A fault as JSON: the keys are the names of the fields of report::fault.
std::string to_json(const report::fault& what);

}  // namespace halfwarp::emulator
