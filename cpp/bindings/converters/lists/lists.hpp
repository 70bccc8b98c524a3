// SPDX-License-Identifier: Apache-2.0
// Converts lists, sequences and buffers of items to C arrays in the call's scratch memory.
#pragma once

#include "bindings/converters/frame.hpp"

namespace halfwarp::bindings {

// Converts the list at C position `i`. The cell of that position receives its length.
bool list_argument(frame& c, int i, const param& p, PyObject* object);
// Converts a list of at most five handle objects, or None.
bool short_list_argument(frame& c, int i, const param& p, PyObject* object);
// Second pass: refuses a list that is shorter than its count argument.
bool check_list_length(frame& c, int i, const param& p);

// Converts a sequence of ints. For handles, an address or None is accepted too; else the ints have
// 32 bits. The cell receives the length, or `no_length`.
bool sequence_argument(frame& c, int i, PyObject* object, bool is_of_handles);
bool check_sequence(frame& c, int i, const param& p);

// Converts a buffer of items whose size the record states, or a sequence of bytes. The cell
// receives the item count, which must equal the item count of other arguments with the same count
// argument.
bool items_argument(frame& c, int i, const param& p);
bool texts_argument(frame& c, int i, PyObject* object);
bool check_items(frame& c, int i, const param& p);

// Second pass: refuses an array with fewer structs than its count argument.
bool check_numpy_struct_count(frame& c, const param& p);
// Second pass: refuses a buffer with fewer bytes than its size argument.
bool check_buffer_holds(frame& c, int i, const param& p);

// Copies an array that the library owns into a new NumPy array.
PyObject* array_from_callee(frame& c, int i, const param& p);

}  // namespace halfwarp::bindings
