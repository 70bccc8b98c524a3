// SPDX-License-Identifier: Apache-2.0
// The managed variables of a library, whose modules on all devices share them.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "emulator/memory/address_space.hpp"

namespace halfwarp::emulator::exec {

// Owns the memory of the variables. The driver's lock guards it.
class managed_variables {
 public:
  explicit managed_variables(memory::address_space& space) noexcept : space_{&space} {}
  ~managed_variables() {
    for (const auto& [name, base] : addresses_) space_->release(base);
  }
  managed_variables(const managed_variables&) = delete;  // owns memory
  managed_variables& operator=(const managed_variables&) = delete;

  // Returns 0 for a variable without memory.
  memory::address find(std::string_view name) const {
    const auto match = addresses_.find(name);
    return match == addresses_.end() ? 0 : match->second;
  }
  void add(std::string_view name, memory::address base) { addresses_.emplace(name, base); }

 private:
  memory::address_space* space_;
  std::map<std::string, memory::address, std::less<>> addresses_;
};

}  // namespace halfwarp::emulator::exec
