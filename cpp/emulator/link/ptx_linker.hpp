// SPDX-License-Identifier: Apache-2.0
// Links the PTX texts of several sources into one module.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace halfwarp::emulator::link {

struct ptx_input {
  std::string name;  // for messages
  std::string text;
};

struct ptx_link {
  std::string text;  // the linked module; empty after an error
  std::string log;   // one line per error

  explicit operator bool() const noexcept { return log.empty(); }
};

// The first line of the result of a link, whose kernels may call missing functions.
inline constexpr std::string_view linked_mark = "// linked\n";

struct link_rules {
  bool allows_undefined = false;    // accepts all undefined symbols
  bool accepts_duplicates = false;  // takes the first definition, as nvJitLink does
};

// Names for which `is_built_in` returns true need no definition. `allows_undefined` accepts all
// undefined names, for a result that is linked again.
//
// Symbols without a linking directive are internal to their source, and renamed if two sources use
// the same name. A .visible definition replaces .weak ones. The first .weak and the largest .common
// definition are selected. All .extern .shared variables of one name are one variable.
ptx_link link_ptx(std::span<const ptx_input> inputs, bool (*is_built_in)(std::string_view),
                  link_rules rules = {});

// Checks whether another input defines a symbol that `text` exports.
bool defines_same_symbol(std::string_view text, std::span<const ptx_input> other_inputs);

}  // namespace halfwarp::emulator::link
