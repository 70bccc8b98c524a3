// SPDX-License-Identifier: Apache-2.0
// Allocates arrays that a call fills, and converts them to Python lists and arrays.
#pragma once

#include "bindings/converters/frame.hpp"

namespace halfwarp::bindings {

// Second pass: allocates as many bytes or elements as the count argument states; NULL for zero.
bool reserve_output_buffer(frame& c, int i, const param& p);
bool reserve_output_array(frame& c, int i, const param& p);

// Creates a list after the call.
PyObject* list_from_output(frame& c, int i, const param& p);
PyObject* list_from_callee(frame& c, int i, const param& p);

// Allocates `n` elements for an array output.
bool allocate_output(frame& c, int i, const param& p, word n);

// Returns as many elements of an array output as its count output states.
PyObject* counted_output(frame& c, const param& p, int output);

// Allocates memory for a text of `n` characters, or of the length in an argument.
bool allocate_text(frame& c, int i, word n);
bool allocate_sized_text(frame& c, int i, const param& p);

// Allocates a new array whose count is known before the call.
bool allocate_sized(frame& c, int i, const param& p);

}  // namespace halfwarp::bindings
