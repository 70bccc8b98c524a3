// SPDX-License-Identifier: Apache-2.0
// Texts that constant tables refer to by offset.
#pragma once

#include <cstdint>

namespace halfwarp {

// The offset of a text in a pool. A table of addresses needs relocations when its extension is
// loaded; a table of offsets does not. Offset 0 is the empty text, which converts to false.
template <const char* pool>
class packed_text {
 public:
  constexpr packed_text(std::uint32_t start) : start_{start} {}
  packed_text(const packed_text&) = delete;  // a copy through `...` would pass the offset
  packed_text& operator=(const packed_text&) = delete;

  const char* c_str() const { return pool + start_; }
  operator const char*() const { return c_str(); }
  constexpr explicit operator bool() const { return start_ != 0; }

 private:
  std::uint32_t start_;
};

}  // namespace halfwarp
