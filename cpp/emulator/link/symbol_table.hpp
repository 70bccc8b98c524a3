// SPDX-License-Identifier: Apache-2.0
// The symbols of all sources of a link: which is defined where, and which of two is taken.
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

// A definition that all sources see.
struct definition {
  std::size_t source = 0;
  bool is_function = false;
  std::uint32_t index = 0;  // in the functions or variables of its module
  ptx::linkage linkage = ptx::linkage::visible;
};

class symbol_table {
 public:
  // Appends a line for each symbol that is defined twice to `log`.
  symbol_table(const std::vector<source>& sources, std::string& log);

  // Null when no source defines the name for all.
  const definition* find(std::string_view name) const;
  // Whether a name of one source is also that of another symbol elsewhere.
  bool is_in_another(std::string_view name, std::size_t source) const;

 private:
  void add(std::string_view name, const definition& found, std::string& log);

  const std::vector<source>& sources_;
  std::map<std::string_view, definition> definitions_;
  std::map<std::string_view, std::set<std::size_t>> seen_in_;
};

// Of its own source only: neither shown to others nor taken from them.
bool is_internal(const ptx::function& f) noexcept;
bool is_internal(const ptx::variable& v) noexcept;
// Declared, to be found elsewhere.
bool is_open(const ptx::function& f) noexcept;
bool is_open(const ptx::variable& v) noexcept;
// Dynamic shared memory: one for all, and nowhere defined.
bool is_dynamic_shared(const ptx::variable& v) noexcept;

// "error   : <what> 'name' in 'source'<more>", a line as linkers write it.
void report(std::string& log, std::string_view what, std::string_view name, std::string_view source,
            std::string_view more = {});

}  // namespace halfwarp::emulator::link
