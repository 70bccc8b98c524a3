// SPDX-License-Identifier: Apache-2.0
// A compile-time table of the sorted spellings of an enumeration.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace halfwarp::emulator::ptx {

// Each enumerator below `unknown` has a spelling.
template <class Enum, Enum unknown>
class sorted_names {
 public:
  static constexpr std::size_t size = static_cast<std::size_t>(unknown);

  consteval explicit sorted_names(const std::array<std::string_view, size>& spellings)
      : spellings_{spellings} {}

  // Returns false also if the table is shorter than the enumeration.
  constexpr bool is_sorted() const noexcept {
    return std::ranges::is_sorted(spellings_) && !spellings_.back().empty();
  }
  constexpr std::string_view spelling(Enum value) const noexcept {
    return value == unknown ? std::string_view{} : spellings_[static_cast<std::size_t>(value)];
  }
  constexpr Enum find(std::string_view spelling) const noexcept {
    const auto match = std::ranges::lower_bound(spellings_, spelling);
    if (match == spellings_.end() || *match != spelling) return unknown;
    return static_cast<Enum>(match - spellings_.begin());
  }

 private:
  std::array<std::string_view, size> spellings_;
};

}  // namespace halfwarp::emulator::ptx
