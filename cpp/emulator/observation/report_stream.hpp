// SPDX-License-Identifier: Apache-2.0
// The destination of reports: standard error, or the file of option `report`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "emulator/observation/sarif.hpp"
#include "emulator/report/fault.hpp"

namespace halfwarp::emulator {

// Thread-safe: the threads that run kernels report faults. Never closed, since reports may follow
// until the process ends.
class report_stream {
 public:
  // Opens the file at the first report; a failure is written to standard error.
  explicit report_stream(std::string target);

  // Writes one line that is not about a fault of a kernel. `kind` is a short word: "leak" or
  // "handle".
  void note(std::string_view kind, std::string_view text);
  void fault(const report::fault& record);

  // Returns the number of reports by kind, for `sweep` and the exit status of `run`.
  std::map<std::string, std::uint64_t, std::less<>> written() const;

 private:
  void open();
  void write(std::string_view kind, const std::string& text);
  void rewrite(const report::fault& record);

  std::string target_;
  int file_ = -1;
  bool as_json_, as_sarif_;
  sarif_log log_;
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t, std::less<>> written_;
};

// Converts a fault to JSON; the keys are the fields of report::fault.
std::string to_json(const report::fault& record);

}  // namespace halfwarp::emulator
