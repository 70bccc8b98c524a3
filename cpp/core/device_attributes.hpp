// SPDX-License-Identifier: Apache-2.0
// The attributes of a device: their names in Python, and how the driver's answer is read.
#pragma once

#include <cuda.h>

#include <span>

namespace halfwarp::core {

struct device_attribute {
  enum value_kind : unsigned char { integer, boolean };
  enum caching : unsigned char { cached, asked_anew };  // asked_anew: it may change while we run

  const char* name;  // the enumerator's, in lower case and without its prefix
  CUdevice_attribute id;
  value_kind kind;
  caching keeps = cached;
  int fallback = 0;  // the value when the driver does not know the attribute
};

inline constexpr int device_attribute_count = 143;

// Sorted by name.
[[nodiscard]] std::span<const device_attribute, device_attribute_count>
device_attributes() noexcept;

}  // namespace halfwarp::core
