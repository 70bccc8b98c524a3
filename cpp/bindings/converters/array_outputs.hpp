// SPDX-License-Identifier: Apache-2.0
// Arrays that a call fills: of a length that an argument gives, or that a first call tells.
#pragma once

#include "bindings/converters/frame.hpp"

namespace halfwarp::bindings {

// Gives an array output memory for `n` elements.
bool allocate_output(frame& c, int i, const param& p, word n);

// The elements of an array output that are there, by the count beside it.
PyObject* counted_output(frame& c, const param& p, int output);

// Memory for a text of `n` characters, or of the length that an argument gives.
bool allocate_text(frame& c, int i, word n);
bool allocate_given_text(frame& c, int i, const param& p);

// A new array for the count that is known before the call.
bool allocate_sized(frame& c, int i, const param& p);

}  // namespace halfwarp::bindings
