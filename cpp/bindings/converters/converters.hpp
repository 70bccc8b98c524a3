// SPDX-License-Identifier: Apache-2.0
// All converters: of a kind that is known, and by the record of a call.
#pragma once

#include "bindings/converters/face_kinds.hpp"

namespace halfwarp::bindings {

// Converts the arguments of a call: the C position of the one that was refused, -1 for none.
int convert(frame& c);

// The objects of all outputs, in order: how many, -1 with a Python error set.
int make_outputs(frame& c, PyObject** values);

}  // namespace halfwarp::bindings
