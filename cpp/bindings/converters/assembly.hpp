// SPDX-License-Identifier: Apache-2.0
// Structs that the engine builds from several arguments of a call.
#pragma once

#include "bindings/converters/frame.hpp"
#include "bindings/numpy_structs/numpy_struct_fields.hpp"

namespace halfwarp::bindings {

// Copies argument `py` of the call to a field of the struct.
struct assembly_input {
  std::int16_t field;
  std::int8_t py;
};

struct assembly {
  const numpy_record* record;  // of the struct
  std::int16_t type;           // its class
  std::uint8_t version;        // stored in the first field, with the size; 0: none
  std::int16_t output;         // index of the result's field; -1: the struct itself
  std::int16_t list = -1;      // field that points to an array; a first call returns its length
  bool is_plain;               // numbers in, a number or a text out: needs no Python object
  std::span<const assembly_input> inputs;
};

// Returns a new struct with its version and the arguments of the call. On failure returns nullptr
// with an error set that names the argument.
PyObject* assemble(const frame& c, const assembly& a);

// Converts an assembled struct to the result of the call. Steals `object`.
PyObject* disassemble(const frame& c, const assembly& a, PyObject* object);

// Builds an assembled struct that lives until the call returns.
bool fill_assembled(frame& c, const assembly& a, word& out);

// Builds a plain assembly in scratch memory, without a Python object.
bool fill_plain(frame& c, const assembly& a, word& out);
// Returns the result that the call wrote to the memory of a plain assembly.
inline PyObject* plain_output(const assembly& a, const void* data) {
  return read_plain_field(a.record->fields[std::size_t(a.output)], data);
}

// Converts one struct to its address: an object of the class, an integer, or None.
bool numpy_struct_argument(PyObject* object, const library& lib, int type, word& out);

}  // namespace halfwarp::bindings
