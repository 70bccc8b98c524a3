// SPDX-License-Identifier: Apache-2.0
// Conversions that take more than a few lines: lists, buffers, arrays, structs that calls are made
// of, values by attribute.
#pragma once

#include "bindings/converters/frame.hpp"
#include "bindings/numpy_structs/data_fields.hpp"

namespace halfwarp::bindings {

// Converts the list at C position `i`; its length goes into the cell of that position.
bool list_argument(frame& c, int i, const param& p, PyObject* object);
// At most five handle objects, or None.
bool short_list_argument(frame& c, int i, const param& p, PyObject* object);
// Second pass: refuses a list that is shorter than the count that goes with it.
bool check_list_length(frame& c, int i, const param& p);

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

// A sequence of ints: of handles, for which an address or None will do as well, or of 32 bits. The
// cell becomes its length, or `no_length`.
bool sequence_argument(frame& c, int i, PyObject* object, bool is_of_handles);
bool check_sequence(frame& c, int i, const param& p);
// A buffer of items of as many bytes as the record says; a sequence of bytes. The cell becomes
// their number, which all that share a count agree about.
bool items_argument(frame& c, int i, const param& p);
bool texts_argument(frame& c, int i, PyObject* object);
bool check_items(frame& c, int i, const param& p);
// Second pass: refuses an array of fewer structs, a buffer of fewer bytes than the parameter beside
// it says.
bool check_data_count(frame& c, const param& p);
bool check_buffer_holds(frame& c, int i, const param& p);
// A copy of an array that the library owns, as one of NumPy.
PyObject* array_from_callee(frame& c, int i, const param& p);

// Second pass: memory for as many bytes or elements as the count asks for (NULL for none).
bool make_output_buffer(frame& c, int i, const param& p);
bool make_output_array(frame& c, int i, const param& p);

// After the call: new lists.
PyObject* list_from_output(frame& c, int i, const param& p);
PyObject* list_from_callee(frame& c, int i, const param& p);

// Gives an array output memory for `n` elements.
bool allocate_output(frame& c, int i, const param& p, word n);

// The elements of an array output that are there, by the count beside it.
PyObject* counted_output(frame& c, const param& p, int output);

// Memory for a text of `n` characters, or of the length that an argument gives.
bool allocate_text(frame& c, int i, word n);
bool allocate_given_text(frame& c, int i, const param& p);

// A new array for the count that is known before the call.
bool allocate_sized(frame& c, int i, const param& p);

// Inputs, in the second pass.
bool attribute_argument(frame& c, int i, const param& p);
bool attribute_options_argument(frame& c, int i, const param& p);

// Outputs: memory for the value in the second pass, the Python value after the call.
bool make_attribute_output(frame& c, int i, const param& p);
bool make_attribute_outputs(frame& c, int i, const param& p);
PyObject* attribute_result(frame& c, int i, const param& p);
PyObject* attribute_results(frame& c, int i, const param& p);

// An argument of the call, and the field that it goes to.
struct assembly_input {
  std::int16_t field;
  std::int8_t py;
};

struct assembly {
  const data_record* record;  // of the struct
  std::int16_t type;          // its class
  std::uint8_t version;       // stated in the first field, with the size; 0: none
  std::int16_t output;        // field that is the result; -1: the struct itself
  std::int16_t list = -1;     // field that points to an array whose length a first call tells
  bool is_plain;              // numbers go in, a number or a text comes out: no object is needed
  std::span<const assembly_input> inputs;
};

// A new struct with its version and the arguments of the call; nullptr with an error set, which
// names the argument.
PyObject* assemble(const frame& c, const assembly& a);

// What the call gives for a struct that it was made of; steals it.
PyObject* disassemble(const frame& c, const assembly& a, PyObject* object);

// The same contents for the time of the call.
bool lend_assembled(frame& c, const assembly& a, word& out);

// Likewise of a plain assembly, without an object; and what it gives, from that memory.
bool lend_plain(frame& c, const assembly& a, word& out);
inline PyObject* plain_output(const assembly& a, const void* where) {
  return read_plain_field(a.record->fields[std::size_t(a.output)], where);
}

// The address of one struct: an object of the class, an integer, or None.
bool data_argument(PyObject* object, const library& lib, int type, word& out);

// Bytes that a value may take: what is reserved before a call that writes one.
word value_size(const library& lib, const attribute& a);

// `out` becomes the address of the converted value, `size` its length in bytes.
bool value_to_memory(frame& c, const attribute& a, PyObject* object, word& out, word& size);

// Options carry small values in the pointer itself; larger ones by address.
bool option_to_word(frame& c, const attribute& a, PyObject* object, word& out);

// A new reference. `bytes`: the size that the call was given or answered, 0 when there is none.
PyObject* value_from_memory(const library& lib, const attribute& a, const void* memory, word bytes);

}  // namespace halfwarp::bindings
