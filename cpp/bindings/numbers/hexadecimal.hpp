// SPDX-License-Identifier: Apache-2.0
// Addresses as text: PyUnicode_FromFormat of Python 3.11 has no 64-bit hexadecimal.
#pragma once

#include <cstdio>

namespace halfwarp::bindings {

struct hexadecimal {
  explicit hexadecimal(unsigned long long value) {
    std::snprintf(text, sizeof text, "0x%llx", value);
  }
  char text[20];
};

}  // namespace halfwarp::bindings
