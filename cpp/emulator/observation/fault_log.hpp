// SPDX-License-Identifier: Apache-2.0
// Stores the faults of kernels and copies for queries.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "emulator/observation/report_stream.hpp"
#include "emulator/report/fault.hpp"
#include "emulator/settings/suppressions.hpp"

namespace halfwarp::emulator {

// Thread-safe.
class fault_log {
 public:
  // If `is_strict`, a finding fails its operation.
  fault_log(report_stream& reports, suppressions known, bool is_strict);

  // Reports a fault immediately and stores it, unless it is a known finding. Returns whether it is
  // a finding that fails its operation.
  bool record(const report::fault& fault);
  // Returns the rules of known findings that covered none, with their places.
  std::vector<std::string> unused_rules() const;
  std::optional<report::fault> last() const;
  // The first faults since the last `clear`, oldest first, at most `capacity`.
  static constexpr std::size_t capacity = 100;
  std::vector<report::fault> faults() const;
  std::uint64_t count() const;
  void clear();

 private:
  bool is_known(const report::fault& fault);

  report_stream& reports_;
  suppressions known_;
  const bool is_strict_;
  mutable std::mutex mutex_;
  std::optional<report::fault> last_;
  std::vector<report::fault> faults_;
  std::uint64_t count_ = 0;
};

}  // namespace halfwarp::emulator
