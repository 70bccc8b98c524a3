// SPDX-License-Identifier: Apache-2.0
// Texts, lists of texts and buffers of the caller, as libraries whose functions raise take them.
#pragma once

#include "bindings/converters/frame.hpp"

namespace halfwarp::bindings {

// const char*: a str, as UTF-8.
bool name_argument(PyObject* object, word& out);

// const char**: a sequence of str or bytes, or the address of such an array. The cell becomes the
// length of the sequence, or `no_length`.
bool options_argument(frame& c, int i, PyObject* object);

// Memory of the caller: a buffer, an address or None. The cell becomes the length of the buffer,
// or `no_length`.
bool buffer_argument(frame& c, int i, PyObject* object, bool writable);

inline constexpr word no_length = ~word{0};

// Second pass: refuses a buffer of another size than the parameter beside it says, and a list that
// is shorter than its count.
bool check_buffer_size(frame& c, int i, const param& p);
bool check_options_count(frame& c, int i, const param& p);

}  // namespace halfwarp::bindings
