// SPDX-License-Identifier: Apache-2.0
// Arrays that a call fills: of a length that an argument gives, or that a first call tells.
#pragma once

#include "bindings/frame.hpp"
#include "bindings/thunk.hpp"

namespace halfwarp::bindings {

// The kind of the elements of an array that a C function fills.
template <class T>
constexpr kind array_kind() {
  if constexpr (std::is_pointer_v<T>) {
    return kind::address;
  } else if constexpr (std::is_enum_v<T>) {
    return scalar_kind<std::underlying_type_t<T>>();
  } else {
    return scalar_kind<T>();
  }
}

// Gives an array output memory for `n` elements.
bool allocate_output(frame& c, int i, const param& p, word n);

// The elements of an array output that are there, by the count beside it.
PyObject* counted_output(frame& c, const param& p, int output);

// Memory for a text whose length an argument gives.
bool allocate_given_text(frame& c, int i, const param& p);

// A new array for the count that is known before the call.
bool allocate_sized(frame& c, int i, const param& p);

}  // namespace halfwarp::bindings
