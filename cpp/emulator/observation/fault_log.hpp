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
  void keep(const report::fault& what) {
    to_.fault(what);
    const std::lock_guard lock{mutex_};
    last_ = what;
    ++count_;
    if (kept_.size() < most_kept) kept_.push_back(what);
  }
  std::optional<report::fault> last() const {
    const std::lock_guard lock{mutex_};
    return last_;
  }
  // Since the last `clear`, the first of them first, and at most so many.
  static constexpr std::size_t most_kept = 100;
  std::vector<report::fault> kept() const {
    const std::lock_guard lock{mutex_};
    return kept_;
  }
  std::uint64_t count() const {
    const std::lock_guard lock{mutex_};
    return count_;
  }
  void clear() {
    const std::lock_guard lock{mutex_};
    last_.reset();
    kept_.clear();
  }

 private:
  report_stream& to_;
  mutable std::mutex mutex_;
  std::optional<report::fault> last_;
  std::vector<report::fault> kept_;
  std::uint64_t count_ = 0;
};

}  // namespace halfwarp::emulator
