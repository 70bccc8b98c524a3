// SPDX-License-Identifier: Apache-2.0
// The names that are visible in a function body: nested scopes and register ranges.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulator/ptx/ast.hpp"

namespace halfwarp::emulator::ptx::syntax {

enum class name_kind : std::uint8_t {
  register_,  // index: function::register_declarations
  local_variable,
  parameter,
  return_parameter,
  label,
  target_list,
  prototype,
};

struct declaration_ref {
  name_kind kind = name_kind::label;
  std::uint32_t index = 0;
  std::uint32_t depth = 0;  // of the declaring scope; 0: parameters
};

symbol_kind as_symbol_kind(name_kind kind) noexcept;

class scopes {
 public:
  void open();
  void close();  // removes the names of the innermost scope
  std::uint32_t depth() const noexcept { return static_cast<std::uint32_t>(starts_.size()); }

  // Returns false if the innermost scope already declares the name.
  bool declare(std::string_view name, name_kind kind, std::uint32_t index);
  // Declares a range: "%r<10>" declares %r0 to %r9.
  bool declare_range(std::string_view prefix, std::uint32_t count, std::uint32_t declaration);

  std::optional<declaration_ref> find(std::string_view name) const noexcept;

  struct register_name {
    std::uint32_t declaration = 0;
    std::uint32_t number = 0;  // within the range
  };
  // Returns the innermost register of that name, or nullopt if another entity hides it.
  std::optional<register_name> find_register(std::string_view name) const noexcept;

 private:
  struct entry {
    declaration_ref ref;
    std::uint32_t count = 0;          // of a range
    std::uint32_t hidden = no_index;  // entry of an outer scope with the same name
    bool is_range = false;
    std::string_view name;
  };
  using table = std::unordered_map<std::string_view, std::uint32_t>;

  bool insert(table& names, entry added);
  const entry* look_up(const table& names, std::string_view name) const noexcept;

  table names_, ranges_;
  std::vector<entry> entries_;        // a stack, in declaration order
  std::vector<std::size_t> starts_;   // entries_.size() at the start of each open scope
  bool has_single_numbered_ = false;  // a single register has a name like a range register
};

}  // namespace halfwarp::emulator::ptx::syntax
