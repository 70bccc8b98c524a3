// SPDX-License-Identifier: Apache-2.0
// A compile-time table between an enumeration and the sorted spellings of its enumerators.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace halfwarp::emulator::ptx {

// Enumerators 0 to unknown - 1 have a spelling each; unknown has none.
template <class Enum, Enum unknown>
class sorted_names {
 public:
  static constexpr std::size_t size = static_cast<std::size_t>(unknown);

  consteval explicit sorted_names(const std::array<std::string_view, size>& spellings)
      : spellings_{spellings} {}

  // False too when the table is shorter than the enumeration: the rest is empty.
  constexpr bool is_sorted() const noexcept {
    return std::ranges::is_sorted(spellings_) && !spellings_.back().empty();
  }
  constexpr std::string_view spelling(Enum value) const noexcept {
    return value == unknown ? std::string_view{} : spellings_[static_cast<std::size_t>(value)];
  }
  constexpr Enum find(std::string_view spelling) const noexcept {
    const auto found = std::ranges::lower_bound(spellings_, spelling);
    if (found == spellings_.end() || *found != spelling) return unknown;
    return static_cast<Enum>(found - spellings_.begin());
  }

 private:
  std::array<std::string_view, size> spellings_;
};

}  // namespace halfwarp::emulator::ptx
