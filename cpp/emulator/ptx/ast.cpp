// SPDX-License-Identifier: Apache-2.0
// Looks up symbols of a module.
#include "emulator/ptx/ast.hpp"

#include <algorithm>
#include <bit>
#include <charconv>

namespace halfwarp::emulator::ptx {

std::uint32_t natural_alignment(scalar_type type, std::uint32_t vector_width) noexcept {
  return std::max(std::bit_floor(size_in_bytes(type) * vector_width), 1u);
}

const function* module::find_function(std::string_view name) const noexcept {
  const auto match = symbols.find(name);
  if (match == symbols.end() || match->second.kind != symbol_kind::function) return nullptr;
  return &functions[match->second.index];
}

const variable* module::find_variable(std::string_view name) const noexcept {
  const auto match = symbols.find(name);
  if (match == symbols.end() || match->second.kind != symbol_kind::module_variable) return nullptr;
  return &variables[match->second.index];
}

std::uint32_t module::target_architecture() const noexcept {
  constexpr std::string_view prefix = "sm_";
  if (!target.starts_with(prefix)) return 0;
  std::uint32_t number = 0;
  std::from_chars(target.data() + prefix.size(), target.data() + target.size(), number);
  return number;
}

std::string_view module::file_path(std::uint32_t number) const noexcept {
  for (const source_file& file : files) {
    if (file.number == number) return file.path;
  }
  return {};
}

}  // namespace halfwarp::emulator::ptx
