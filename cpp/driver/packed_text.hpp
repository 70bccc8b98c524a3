// SPDX-License-Identifier: Apache-2.0
// Texts that constant tables refer to by number.
#pragma once

#include <cstdint>

namespace halfwarp {

// Where a text starts in a pool. A table of addresses is adjusted whenever its extension is loaded;
// a table of numbers stays as it lies in the file. Number 0 is the empty text, which is false.
template <const char* pool>
class packed_text {
 public:
  constexpr packed_text(std::uint32_t start) : start_{start} {}
  packed_text(const packed_text&) = delete;  // one that was passed through `...` would be a number
  packed_text& operator=(const packed_text&) = delete;

  const char* c_str() const { return pool + start_; }
  operator const char*() const { return c_str(); }
  constexpr explicit operator bool() const { return start_ != 0; }

 private:
  std::uint32_t start_;
};

}  // namespace halfwarp
