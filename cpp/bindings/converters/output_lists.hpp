// SPDX-License-Identifier: Apache-2.0
// Arrays that a call fills or owns, to Python lists.
#pragma once

#include "bindings/converters/frame.hpp"

namespace halfwarp::bindings {

// Second pass: memory for as many bytes or elements as the count asks for (NULL for none).
bool make_output_buffer(frame& c, int i, const param& p);
bool make_output_array(frame& c, int i, const param& p);

// After the call: new lists.
PyObject* list_from_output(frame& c, int i, const param& p);
PyObject* list_from_callee(frame& c, int i, const param& p);

}  // namespace halfwarp::bindings
