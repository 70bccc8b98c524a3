// SPDX-License-Identifier: Apache-2.0
// What a call of the convention "exceptions" returns: its outputs alone.
#pragma once

#include "bindings/frame.hpp"

namespace halfwarp::bindings {

constexpr bool returns_code(const function& f) {
  return !(f.f & (returns_text | returns_number | returns_nothing));
}

// None, the value, or a tuple of `n` values; steals them.
PyObject* unpacked(PyObject** values, int n);

// The Python result of a call from what the C function returned: the outputs, or an exception.
PyObject* result_or_raise(frame& c, word result);

}  // namespace halfwarp::bindings
