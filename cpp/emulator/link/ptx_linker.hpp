// SPDX-License-Identifier: Apache-2.0
// Joins PTX texts of several sources into one, as a linker joins what was assembled of them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace halfwarp::emulator::link {

struct ptx_input {
  std::string name;  // what messages call it
  std::string text;
};

struct ptx_link {
  std::string text;  // one module that has it all; empty after an error
  std::string log;   // every error, a line each

  explicit operator bool() const noexcept { return log.empty(); }
};

// `is_built_in`: names that need no definition. `may_stay_open`: as do all others; for a result
// that is linked again.
//
// Symbols without a linking directive are of their own source and get another name where two
// sources have the same; .weak gives way to .visible; the first .weak, and the largest .common,
// is taken; .extern .shared of one name is one.
ptx_link link_ptx(std::span<const ptx_input> inputs, bool (*is_built_in)(std::string_view),
                  bool may_stay_open = false);

// Whether `others` define what `text` defines for all sources.
bool is_in_others(std::string_view text, std::span<const ptx_input> others);

}  // namespace halfwarp::emulator::link
