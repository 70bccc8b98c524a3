// SPDX-License-Identifier: Apache-2.0
// The records of data types: the structs of the libraries that raise exceptions.
#pragma once

#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

// What Python sees of a field.
enum class form : std::uint8_t {
  number,          // one number; in a column, an array of them
  numbers,         // T[n]
  address,         // any pointer, as an integer
  text,            // char[n]: str
  text_pointer,    // const char*: str; the object keeps the characters
  bytes,           // memory that no type describes: bytes
  structure,       // a struct, or S[n]: an object that views it
  number_list,     // T* with a count beside it: an array that the object keeps
  structure_list,  // S* with a count beside it: likewise
};

struct data_field {
  table_text name;
  form shape;
  kind element;                       // of numbers
  bool is_hidden;                     // known to NumPy only: counts, reserved fields
  bool is_array;                      // T[n], even where n is 1
  std::int16_t type = -1;             // class of structs
  std::int16_t counter = -1;          // field that says how many of the elements are meant
  std::uint32_t offset, size, count;  // of one element; elements
};

// Hangs at the class record of a data type.
struct data_record {
  std::span<const data_field> fields;
  std::uint32_t size;
  bool is_array;     // made with a length: T(n)
  table_text dtype;  // name of the NumPy type in the module, if any
};

}  // namespace halfwarp::bindings
