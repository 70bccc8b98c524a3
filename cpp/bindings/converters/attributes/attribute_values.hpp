// SPDX-License-Identifier: Apache-2.0
// Values behind `void*` whose type another argument, an attribute, decides.
#pragma once

#include "bindings/converters/frame.hpp"

namespace halfwarp::bindings {

// Inputs, in the second pass.
bool attribute_argument(frame& c, int i, const param& p);
bool attribute_options_argument(frame& c, int i, const param& p);

// Outputs: memory for the value in the second pass, the Python value after the call.
bool make_attribute_output(frame& c, int i, const param& p);
bool make_attribute_outputs(frame& c, int i, const param& p);
PyObject* attribute_result(frame& c, int i, const param& p);
PyObject* attribute_results(frame& c, int i, const param& p);

}  // namespace halfwarp::bindings
