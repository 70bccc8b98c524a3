// SPDX-License-Identifier: Apache-2.0
// Stores the faults of kernels and copies for queries.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "emulator/observation/report_stream.hpp"
#include "emulator/report/fault.hpp"

namespace halfwarp::emulator {

// Thread-safe.
class fault_log {
 public:
  explicit fault_log(report_stream& reports) : reports_{reports} {}

  // Reports a fault immediately and stores it.
  void record(const report::fault& fault) {
    reports_.fault(fault);
    const std::lock_guard lock{mutex_};
    last_ = fault;
    ++count_;
    if (faults_.size() < capacity) faults_.push_back(fault);
  }
  std::optional<report::fault> last() const {
    const std::lock_guard lock{mutex_};
    return last_;
  }
  // The first faults since the last `clear`, oldest first, at most `capacity`.
  static constexpr std::size_t capacity = 100;
  std::vector<report::fault> faults() const {
    const std::lock_guard lock{mutex_};
    return faults_;
  }
  std::uint64_t count() const {
    const std::lock_guard lock{mutex_};
    return count_;
  }
  void clear() {
    const std::lock_guard lock{mutex_};
    last_.reset();
    faults_.clear();
  }

 private:
  report_stream& reports_;
  mutable std::mutex mutex_;
  std::optional<report::fault> last_;
  std::vector<report::fault> faults_;
  std::uint64_t count_ = 0;
};

}  // namespace halfwarp::emulator
