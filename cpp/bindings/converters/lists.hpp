// SPDX-License-Identifier: Apache-2.0
// Lists and tuples to C arrays.
#pragma once

#include "bindings/converters/frame.hpp"

namespace halfwarp::bindings {

// Converts the list at C position `i`; its length goes into the cell of that position.
bool list_argument(frame& c, int i, const param& p, PyObject* object);
// At most five handle objects, or None.
bool short_list_argument(frame& c, int i, const param& p, PyObject* object);
// Second pass: refuses a list that is shorter than the count that goes with it.
bool check_list_length(frame& c, int i, const param& p);

}  // namespace halfwarp::bindings
