// SPDX-License-Identifier: Apache-2.0
// The forms of PTX instructions that the kernels of the program executed.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "emulator/ptx/instruction_table.hpp"

namespace halfwarp::emulator {

// Thread-safe.
class form_log {
 public:
  void add(const std::string& kernel, std::span<const ptx::instruction_row* const> rows);
  // Returns a line for all exact forms, and one for each other form with its kernels.
  std::vector<std::string> lines() const;

 private:
  mutable std::mutex mutex_;
  std::map<const ptx::instruction_row*, std::set<std::string>> kernels_;
};

}  // namespace halfwarp::emulator
