// SPDX-License-Identifier: Apache-2.0
// Reads little-endian numbers from untrusted bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace halfwarp::emulator::image {

using bytes = std::span<const std::byte>;

// Returns a part of the data, or nullopt if the range exceeds it.
inline std::optional<bytes> part(bytes data, std::uint64_t offset, std::uint64_t size) noexcept {
  if (offset > data.size() || size > data.size() - offset) return std::nullopt;
  return data.subspan(offset, size);
}

// Returns 0 beyond the end. Callers check the size of a structure before reading its fields.
template <class T>
T number_at(bytes data, std::uint64_t offset) noexcept {
  static_assert(std::is_unsigned_v<T>);
  const auto field = part(data, offset, sizeof(T));
  if (!field) return 0;
  T value = 0;
  for (std::size_t i = sizeof(T); i-- > 0;) {
    value =
        static_cast<T>((static_cast<std::uint64_t>(value) << 8) | std::to_integer<T>((*field)[i]));
  }
  return value;
}

inline std::string_view as_text(bytes data) noexcept {
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

}  // namespace halfwarp::emulator::image
