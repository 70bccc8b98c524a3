// SPDX-License-Identifier: Apache-2.0
// One converter per kind of attribute value, in both directions.
#pragma once

#include "bindings/converters/frame.hpp"

namespace halfwarp::bindings {

// Bytes that a value may take: what is reserved before a call that writes one.
word value_size(const library& lib, const attribute& a);

// `out` becomes the address of the converted value, `size` its length in bytes.
bool value_to_memory(frame& c, const attribute& a, PyObject* object, word& out, word& size);

// Options carry small values in the pointer itself; larger ones by address.
bool option_to_word(frame& c, const attribute& a, PyObject* object, word& out);

// A new reference. `bytes`: the size that the call was given or answered, 0 when there is none.
PyObject* value_from_memory(const library& lib, const attribute& a, const void* memory, word bytes);

}  // namespace halfwarp::bindings
