// SPDX-License-Identifier: Apache-2.0
// The rows of a node in DOT.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace halfwarp::emulator {

class dot_rows {
 public:
  // `flags` are CUgraphDebugDot_flags.
  explicit dot_rows(unsigned flags) noexcept : flags_{flags} {}

  bool is_selected(unsigned flag) const noexcept {
    return flags_ & (flag | CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE);
  }
  void add(std::string_view label, const std::string& value);
  void add(std::string_view label, std::initializer_list<std::uint64_t> values);
  void add_address(std::string_view label, std::uint64_t value);
  template <class Pointer>
  void add_address(std::string_view label, Pointer* value) {
    add_address(label, reinterpret_cast<std::uint64_t>(value));
  }

  const std::string& text() const noexcept { return text_; }

 private:
  unsigned flags_;
  std::string text_;
};

std::string address_text(std::uint64_t value);
// Returns a list of numbers with commas.
std::string list_text(std::initializer_list<std::uint64_t> values);
// Escapes the characters that have a meaning in labels.
std::string escaped(std::string_view text);

}  // namespace halfwarp::emulator
