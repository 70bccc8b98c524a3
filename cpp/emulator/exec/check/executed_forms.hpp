// SPDX-License-Identifier: Apache-2.0
// The forms of PTX instructions that a launch executes.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "emulator/ptx/ast.hpp"
#include "emulator/ptx/instruction_table.hpp"

namespace halfwarp::emulator::exec {

class executed_forms {
 public:
  explicit executed_forms(const ptx::module& source) : source_{source} {}

  void record(const ptx::instruction& executed) { mnemonics_.insert(executed.mnemonic); }
  std::vector<const ptx::instruction_row*> rows() const {
    std::set<const ptx::instruction_row*> unique;
    for (std::uint32_t each : mnemonics_) unique.insert(ptx::find_row(source_.mnemonics[each]));
    unique.erase(nullptr);
    return {unique.begin(), unique.end()};
  }

 private:
  const ptx::module& source_;
  std::set<std::uint32_t> mnemonics_;
};

}  // namespace halfwarp::emulator::exec
