// SPDX-License-Identifier: Apache-2.0
// The symbols of all sources of a link, with the selected definition of each.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/ptx/ast.hpp"

namespace halfwarp::emulator::link {

struct source {
  std::string name;
  std::shared_ptr<ptx::module> module;
};

// A definition that is visible to all sources.
struct definition {
  std::size_t source = 0;
  bool is_function = false;
  std::uint32_t index = 0;  // in the functions or variables of its module
  ptx::linkage linkage = ptx::linkage::visible;
};

class symbol_table {
 public:
  // Appends a line to `log` for each duplicate definition.
  symbol_table(const std::vector<source>& sources, std::string& log);

  // Returns null if no source exports the name.
  const definition* find(std::string_view name) const;
  // Checks whether another source also uses the name.
  bool is_in_other_source(std::string_view name, std::size_t source) const;

 private:
  void add(std::string_view name, const definition& added, std::string& log);

  const std::vector<source>& sources_;
  std::map<std::string_view, definition> definitions_;
  std::map<std::string_view, std::set<std::size_t>> sources_by_name_;
};

// Checks whether a symbol is visible in its own source only.
bool is_internal(const ptx::function& f) noexcept;
bool is_internal(const ptx::variable& v) noexcept;
// Checks whether a symbol is declared but not defined.
bool is_undefined(const ptx::function& f) noexcept;
bool is_undefined(const ptx::variable& v) noexcept;
// Checks for dynamic shared memory, which is never defined and shared by all sources.
bool is_dynamic_shared(const ptx::variable& v) noexcept;

// Appends "error   : <problem> 'name' in 'source'<suffix>", the format of linkers.
void report(std::string& log, std::string_view problem, std::string_view name,
            std::string_view source, std::string_view suffix = {});

}  // namespace halfwarp::emulator::link
