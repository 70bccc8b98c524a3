// SPDX-License-Identifier: Apache-2.0
// Selects the handlers for the host's instruction set and finds them by name.
#include "emulator/exec/handler_table.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <unordered_map>
#include <vector>

namespace halfwarp::emulator::exec {

namespace baseline {
extern const family_list families;
}
#ifdef __x86_64__
namespace x86_64_v3 {
extern const family_list families;
}
namespace x86_64_v4 {
extern const family_list families;
}
#endif

namespace {

using name_map = std::unordered_map<std::string_view, handler>;

const family_list& families_of([[maybe_unused]] instruction_set set) {
#ifdef __x86_64__
  if (set == instruction_set::x86_64_v4) return x86_64_v4::families;
  if (set == instruction_set::x86_64_v3) return x86_64_v3::families;
#endif
  return baseline::families;
}

// All families of one instruction set, created on first use.
struct handler_set {
  std::vector<handler_family> families;
  name_map by_name;

  explicit handler_set(instruction_set set) {
    for (const handler_family* family : families_of(set)) {
      families.push_back(*family);
      for (const handler_entry& entry : *family) by_name.emplace(entry.name, entry.run);
    }
  }
};

const handler_set& handlers_of(instruction_set set) {
  switch (set) {
    case instruction_set::x86_64_v4: {
      static const handler_set v4{instruction_set::x86_64_v4};
      return v4;
    }
    case instruction_set::x86_64_v3: {
      static const handler_set v3{instruction_set::x86_64_v3};
      return v3;
    }
    case instruction_set::baseline:
      break;
  }
  static const handler_set base{instruction_set::baseline};
  return base;
}

std::atomic<instruction_set>& chosen() {
  static std::atomic<instruction_set> set{detected_instruction_set()};
  return set;
}

}  // namespace

bool is_available(instruction_set set) noexcept {
#ifdef __x86_64__
  if (set == instruction_set::x86_64_v4) return __builtin_cpu_supports("x86-64-v4");
  if (set == instruction_set::x86_64_v3) return __builtin_cpu_supports("x86-64-v3");
#endif
  return set == instruction_set::baseline;
}

instruction_set detected_instruction_set() noexcept {
  for (instruction_set set : {instruction_set::x86_64_v4, instruction_set::x86_64_v3}) {
    if (is_available(set)) return set;
  }
  return instruction_set::baseline;
}

void use_instruction_set(instruction_set set) noexcept { chosen() = set; }

handler find_handler(std::string_view name) noexcept {
  const name_map& names = handlers_of(chosen()).by_name;
  auto entry = names.find(name);
  return entry == names.end() ? nullptr : entry->second;
}

std::span<const handler_family> handler_families() noexcept {
  return handlers_of(chosen()).families;
}

std::vector<handler_family> all_handler_families() {
  std::vector<handler_family> all;
  for (auto set :
       {instruction_set::baseline, instruction_set::x86_64_v3, instruction_set::x86_64_v4}) {
    const auto& of_set = handlers_of(set).families;
    all.insert(all.end(), of_set.begin(), of_set.end());
  }
  return all;
}

}  // namespace halfwarp::emulator::exec
