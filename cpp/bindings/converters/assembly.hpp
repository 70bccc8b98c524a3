// SPDX-License-Identifier: Apache-2.0
// Structs that a call is made of: arguments go into their fields, and one of these may come out.
#pragma once

#include "bindings/converters/frame.hpp"
#include "bindings/numpy_structs/data_fields.hpp"

namespace halfwarp::bindings {

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

}  // namespace halfwarp::bindings
