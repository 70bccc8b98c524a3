// SPDX-License-Identifier: Apache-2.0
// The faults of kernels and copies, kept for whoever asks.
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
  explicit fault_log(report_stream& to) : to_{to} {}

  // Reports a fault at once and keeps it.
  void record(const report::fault& what) {
    to_.fault(what);
    const std::lock_guard lock{mutex_};
    last_ = what;
    ++count_;
    if (faults_.size() < capacity) faults_.push_back(what);
  }
  std::optional<report::fault> last() const {
    const std::lock_guard lock{mutex_};
    return last_;
  }
  // Since the last `clear`, the first of them first, and at most so many.
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
  report_stream& to_;
  mutable std::mutex mutex_;
  std::optional<report::fault> last_;
  std::vector<report::fault> faults_;
  std::uint64_t count_ = 0;
};

}  // namespace halfwarp::emulator
