// SPDX-License-Identifier: Apache-2.0
// Tables of handlers by name, one per instruction set of the host.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "emulator/exec/instruction.hpp"

namespace halfwarp::emulator::exec {

// A handler and its name: the PTX mnemonic without irrelevant parts. "add.b32" implements add.s32
// and add.u32.
struct handler_entry {
  std::string_view name;
  handler run;
};

using handler_family = std::span<const handler_entry>;
using family_list = std::array<const handler_family*, 14>;

constexpr bool is_sorted_by_name(handler_family entries) {
  for (std::size_t i = 1; i < entries.size(); ++i) {
    if (!(entries[i - 1].name < entries[i].name)) return false;
  }
  return true;
}

enum class instruction_set : unsigned char { baseline, x86_64_v3, x86_64_v4 };

// Returns the widest instruction set that the host supports.
instruction_set detected_instruction_set() noexcept;
bool is_available(instruction_set set) noexcept;
// Selects the handlers of kernels that are decoded later. For tests and comparisons.
void use_instruction_set(instruction_set set) noexcept;

// Returns nullptr if no handler has that name.
handler find_handler(std::string_view name) noexcept;
std::span<const handler_family> handler_families() noexcept;
// Returns the families of every instruction set that the library contains.
std::vector<handler_family> all_handler_families();

}  // namespace halfwarp::emulator::exec
