// SPDX-License-Identifier: Apache-2.0
// Converts strings, lists of strings and buffers of the caller.
#pragma once

#include "bindings/converters/frame.hpp"

namespace halfwarp::bindings {

// Cell value of an argument whose length is unknown: an address or None.
inline constexpr word no_length = ~word{0};

// const char*: converts a str to UTF-8.
bool name_argument(PyObject* object, word& out);

// const char**: converts a sequence of str or bytes, or the address of such an array. The cell
// receives the length of the sequence, or `no_length`.
bool options_argument(frame& c, int i, PyObject* object);

// Converts a buffer, an address or None. The cell receives the length of the buffer, or
// `no_length`.
bool buffer_argument(frame& c, int i, PyObject* object, bool writable);

// Second pass: refuses a buffer whose size differs from its size argument.
bool check_buffer_size(frame& c, int i, const param& p);
// Second pass: refuses a list that is shorter than its count argument.
bool check_options_count(frame& c, int i, const param& p);

}  // namespace halfwarp::bindings
