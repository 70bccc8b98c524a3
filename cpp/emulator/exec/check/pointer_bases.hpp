// SPDX-License-Identifier: Apache-2.0
// Finds the parameters and variables that the addresses of a kernel begin at.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/ptx/ast.hpp"

namespace halfwarp::emulator::exec {

class pointer_bases {
 public:
  // A bit for each base. The highest bit stands for all other values.
  using set = std::uint64_t;
  struct base {
    const ptx::variable* variable = nullptr;  // null: a parameter
    std::uint64_t offset = 0;                 // of the 8 bytes in the parameters
    friend bool operator==(const base&, const base&) = default;
  };

  pointer_bases(const ptx::module& owner, const ptx::function& function);

  const std::vector<base>& all() const { return all_; }
  // Returns the bases of the address that an instruction accesses.
  set of_access(const ptx::instruction& instr) const;

 private:
  static constexpr set other = set{1} << 63;

  set bit_of(const base& each);
  set of_symbol(const ptx::operand& o) const;
  set of_value(const ptx::operand& o) const;
  bool is_narrow(const ptx::instruction& instr) const;
  set of_result(const ptx::instruction& instr) const;
  bool add_results(const ptx::instruction& instr);

  const ptx::module& owner_;
  const ptx::function& function_;
  std::vector<base> all_;
  std::vector<set> registers_;
};

}  // namespace halfwarp::emulator::exec
