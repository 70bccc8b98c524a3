// SPDX-License-Identifier: Apache-2.0
// The attributes of a device: their names in Python, and how to interpret the driver's values.
#pragma once

#include <cuda.h>

#include <span>

namespace halfwarp::core {

struct device_attribute {
  enum value_kind : unsigned char { integer, boolean };
  enum caching : unsigned char { cached, uncached };  // uncached: the value may change at run time

  const char* name;  // the enumerator in lower case, without its prefix
  CUdevice_attribute id;
  value_kind kind;
  caching cache = cached;
  int fallback = 0;  // value if the driver does not know the attribute
};

inline constexpr int device_attribute_count = 143;

// Returns the table of attributes, sorted by name.
[[nodiscard]] std::span<const device_attribute, device_attribute_count>
device_attributes() noexcept;

}  // namespace halfwarp::core
