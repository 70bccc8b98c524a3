// SPDX-License-Identifier: Apache-2.0
// The handlers of one instruction set of the host, found by name.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "emulator/exec/instruction.hpp"

namespace halfwarp::emulator::exec {

// Named like the PTX spelling without what makes no difference ("add.b32" is add.s32 and add.u32).
struct handler_entry {
  std::string_view name;
  handler run;
};

using handler_family = std::span<const handler_entry>;
using family_list = std::array<const handler_family*, 13>;

constexpr bool is_sorted_by_name(handler_family entries) {
  for (std::size_t i = 1; i < entries.size(); ++i) {
    if (!(entries[i - 1].name < entries[i].name)) return false;
  }
  return true;
}

enum class instruction_set : unsigned char { baseline, x86_64_v3, x86_64_v4 };

// The best one that this machine has.
instruction_set detected_instruction_set() noexcept;
bool is_available(instruction_set set) noexcept;
// Chooses the handlers of kernels decoded from now on; for tests and comparisons.
void use_instruction_set(instruction_set set) noexcept;

// nullptr: there is no handler of that name.
handler find_handler(std::string_view name) noexcept;
std::span<const handler_family> handler_families() noexcept;
// Those of every instruction set that the library has.
std::vector<handler_family> all_handler_families();

}  // namespace halfwarp::emulator::exec
