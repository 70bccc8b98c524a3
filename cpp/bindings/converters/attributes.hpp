// SPDX-License-Identifier: Apache-2.0
// Converts values whose type depends on an attribute of the same call.
#pragma once

#include "bindings/converters/frame.hpp"

namespace halfwarp::bindings {

// Second pass: converts inputs.
bool attribute_argument(frame& c, int i, const param& p);
bool attribute_options_argument(frame& c, int i, const param& p);

// Outputs: the second pass allocates memory for the value, the result is created after the call.
bool reserve_attribute_output(frame& c, int i, const param& p);
bool reserve_attribute_outputs(frame& c, int i, const param& p);
PyObject* attribute_result(frame& c, int i, const param& p);
PyObject* attribute_results(frame& c, int i, const param& p);

// Returns the number of bytes to reserve before a call that writes a value of `a`.
word value_size(const library& lib, const attribute& a);

// `out` receives the address of the converted value, `size` its length in bytes.
bool value_to_memory(frame& c, const attribute& a, PyObject* object, word& out, word& size);

// Stores a small value in the option pointer itself, a larger one by address.
bool option_to_word(frame& c, const attribute& a, PyObject* object, word& out);

// Returns a new reference. `bytes` is the size argument or size result of the call; 0: none.
PyObject* value_from_memory(const library& lib, const attribute& a, const void* memory, word bytes);

}  // namespace halfwarp::bindings
