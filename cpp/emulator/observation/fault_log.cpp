// SPDX-License-Identifier: Apache-2.0
// Known findings, and the faults that queries return.
#include "emulator/observation/fault_log.hpp"

#include <utility>

namespace halfwarp::emulator {

fault_log::fault_log(report_stream& reports, suppressions known, bool is_strict)
    : reports_{reports}, known_{std::move(known)}, is_strict_{is_strict} {}

bool fault_log::record(const report::fault& fault) {
  const bool is_finding = report::is_finding(fault.kind);
  if (is_finding && is_known(fault)) return false;
  reports_.fault(fault);
  const std::lock_guard lock{mutex_};
  last_ = fault;
  ++count_;
  if (faults_.size() < capacity) faults_.push_back(fault);
  return is_finding && is_strict_;
}

std::vector<std::string> fault_log::unused_rules() const {
  const std::lock_guard lock{mutex_};
  return known_.unused();
}

std::optional<report::fault> fault_log::last() const {
  const std::lock_guard lock{mutex_};
  return last_;
}

std::vector<report::fault> fault_log::faults() const {
  const std::lock_guard lock{mutex_};
  return faults_;
}

std::uint64_t fault_log::count() const {
  const std::lock_guard lock{mutex_};
  return count_;
}

void fault_log::clear() {
  const std::lock_guard lock{mutex_};
  last_.reset();
  faults_.clear();
}

bool fault_log::is_known(const report::fault& fault) {
  const std::lock_guard lock{mutex_};
  return known_.cover(std::string{report::name(fault.kind)}, report::demangled(fault.kernel),
                      fault.source_file, fault.source_line);
}

}  // namespace halfwarp::emulator
