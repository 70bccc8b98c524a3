// SPDX-License-Identifier: Apache-2.0
#include "emulator/driver/findings/form_log.hpp"

#include "emulator/ptx/vocabulary/opcode.hpp"
#include "emulator/ptx/vocabulary/qualifier.hpp"

namespace halfwarp::emulator {
namespace {

std::string name_of(const ptx::instruction_row& row) {
  std::string name{ptx::spelling(row.name)};
  if (row.form != ptx::qualifier::unknown) name.append(".").append(ptx::spelling(row.form));
  return name;
}

std::string joined(const std::set<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

void form_log::add(const std::string& kernel, std::span<const ptx::instruction_row* const> rows) {
  const std::lock_guard guard{mutex_};
  for (const auto* row : rows) kernels_[row].insert(kernel);
}

std::vector<std::string> form_log::lines() const {
  const std::lock_guard guard{mutex_};
  std::set<std::string> exact;
  std::vector<std::string> lines;
  for (const auto& [row, kernels] : kernels_) {
    if (row->results == ptx::exactness::exact) {
      exact.insert(name_of(*row));
    } else {
      lines.push_back("documented: " + name_of(*row) + " (in " + joined(kernels) + ")");
    }
  }
  if (!exact.empty()) lines.insert(lines.begin(), "exact: " + joined(exact));
  return lines;
}

}  // namespace halfwarp::emulator
