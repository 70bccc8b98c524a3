// SPDX-License-Identifier: Apache-2.0
// The records that describe a C library to the engine: one per function, class, field and
// enumeration.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <concepts>
#include <cstdint>
#include <span>

#include "bindings/records/kinds.hpp"
#include "bindings/records/reference.hpp"
#include "driver/libraries.hpp"
#include "driver/packed_text.hpp"

namespace halfwarp::bindings {

// The texts of all tables.
extern const char texts[];
using table_text = packed_text<texts>;

// One argument of a C call, as the engine passes it: a value, or the address of one.
using word = std::uint64_t;

// Of the generated enumeration: numbers come first, then other inputs, then what is also returned,
// then pure outputs, so that these are comparisons. Each kind has one converter (converters/).
constexpr bool is_output(kind k) { return k >= kind::iterator; }
constexpr bool is_integer(kind k) { return k <= kind::u64; }
// Bytes of a C number, which an address is as well.
constexpr int number_size(kind k) {
  if (k == kind::f32) return 4;
  return k >= kind::f64 ? 8 : 1 << int(k) / 2;
}
constexpr bool is_list(kind k) { return k >= kind::list_i32 && k <= kind::list_address; }

constexpr bool optional_list = true;  // what tables call `param::is_optional`

struct param {
  kind k;
  std::int8_t py;         // position in the Python call; -1: not an argument
  std::int16_t type = 0;  // index of a class, enumeration or attribute table; a length (out_bytes)
  std::int8_t aux = -1;   // C position of the count, or of the attribute
  std::int8_t size = -1;  // C position of the size of an attribute's value
  bool is_optional = false;  // a list that may be left out, whatever the count
};

enum function_flags : std::uint16_t {
  releases_gil = 1,
  is_brief = 2,     // releases the lock only where another thread could take it
  passes_gate = 4,  // must not run when the process ends
  second_pass = 8,  // has parameters that depend on the value of others
  // what the C function returns instead of a result code
  returns_text = 16,
  returns_number = 32,
  returns_nothing = 64,
};
enum field_flags : std::uint16_t {
  read_only = 1,         // no setter
  is_hidden = 2,         // padding, neither listed nor printed
  prints_as_number = 4,  // an address that is printed in decimal
};
enum class_flags : std::uint16_t {
  view_only = 1,  // exists inside others only
  is_handle = 2,
  compares = 4,  // handle: equality and hash by value
  opaque = 8,    // handle: a pointer, printed in hexadecimal
};
template <class T>
concept flag_set =
    std::same_as<T, function_flags> || std::same_as<T, class_flags> || std::same_as<T, field_flags>;
template <flag_set T>
constexpr T operator|(T a, T b) {
  return T(int(a) | int(b));
}

inline constexpr int max_parameters = 20;

using thunk = word (*)(void* function, const word* arguments);
struct frame;

struct library;
struct function;

// What a function does besides what its record says. `before` may change the words of the call;
// `after` sees its code; `entry` takes the place of the whole call.
struct handwritten_steps {
  bool (*before)(frame&) = nullptr;
  bool (*after)(frame&, int code) = nullptr;
  PyObject* (*entry)(const library&, const function&, PyObject* const* args, Py_ssize_t n,
                     PyObject* names) = nullptr;
};

// Records name each other by number: a table of addresses would be adjusted, page by page, whenever
// the extension is loaded.
struct function {
  table_text name;            // as messages call it
  table_text names;           // of the Python parameters, each ended by NUL
  std::uint16_t first_param;  // place among all parameters
  std::uint16_t caller;       // place among the thunks
  std::uint16_t slot;
  std::uint8_t handwritten;  // place among what is written by hand; 0: nothing
  std::uint8_t n, positional, required, outputs;
  function_flags f;
  std::int16_t size_function = -1;  // the function that tells how many bytes this one writes
};

// What a module shows of a function; what it points to stands at the same place among the entries.
struct method_record {
  table_text name, doc;
  int calling;  // METH_...
};

struct field {
  table_text name;
  kind k;
  field_flags f;
  kind element;        // field_array, field_pointer_list
  std::uint8_t child;  // index among the fields whose objects are views of this one
  std::int16_t type;   // class or enumeration, -1: none
  std::uint16_t offset, size;
};

// Lists of a struct that go with one count: a method sets them together.
struct joint_lists {
  const char* method;
  const char* doc;
  const char* count;  // names of fields
  std::span<const char* const> lists;
};

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

struct numpy_field {
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
struct numpy_record {
  std::span<const numpy_field> fields;
  std::uint32_t size;
  bool is_array;     // made with a length: T(n)
  table_text dtype;  // name of the NumPy type in the module, if any
};

// What few classes have.
struct class_extras {
  const joint_lists* joint = nullptr;
  const library* owner_of_base = nullptr;  // of a base class in another library
};

struct class_record {
  table_text name;                        // dotted
  std::uint16_t first_field, own_fields;  // place among all fields; those of bases are not own
  std::int16_t base;
  std::uint16_t size, alignment;  // of the C type
  class_flags f;
  bool is_signed;
  std::uint8_t children;
  std::uint8_t extras;  // place among them; 0: none
  table_text doc;
  const numpy_record* numpy = nullptr;  // of a data type: its fields, in place of those above
  const void* initial = nullptr;        // what a new object holds, where that is not zero
};

struct member {
  table_text name, doc;
  std::int64_t value;
};

struct enumeration {
  table_text name;  // dotted
  std::uint16_t first_member, own_members;
  bool is_unsigned;  // the 64 bits of a value are a number above zero
};

struct constant {
  table_text name;
  std::int64_t value;
};

struct attribute {
  std::int64_t member;
  value_kind k;
  std::int16_t type = -1;
  const library* owner = nullptr;  // of the type, when it is another library
};
struct attribute_table {
  std::int16_t enumeration;
  std::span<const attribute> attributes;
};

// An exception class of a library whose functions raise. The first of its table is the base of the
// others, and stands for every status that has no class of its own.
struct exception_record {
  table_text name;  // dotted
  table_text doc;
  std::int64_t status;
};
struct error_details;
struct exception_alias {
  table_text name;
  std::int16_t index;  // of the class
};
struct exception_convention {
  std::span<const exception_record> classes;
  PyTypeObject** types;  // one per class, null until made
  initproc init;         // of the exceptions
  const error_details* details = nullptr;
  int insufficient = 0;  // the status that says: too little memory for what is to be written
  std::span<const exception_alias> aliases = {};
  int null_handle = 0;            // the status of a call that got null where it needs a handle
  bool has_python_enums = false;  // the module shows classes of Python's `enum`
};

// An enumeration of another library, under a name of this one.
struct foreign_enum {
  table_text name;
  const library* owner;
  std::int16_t index;
};

struct assembly;  // converters/assembly.hpp
struct class_type;
struct enum_type;

// What of a library changes while the program runs. All of it is made on demand, under the
// interpreter lock or `lock`.
struct library_state {
  void* const* slots;
  PyObject* module;
  PyObject* success;        // the member of the result enumeration that means success
  PyObject* success_tuple;  // shared by every call that returns nothing else
  PyObject* spare;          // a result tuple that is used again when nobody holds it
  PyObject** keywords;      // per function: interned names of its parameters
  PyMethodDef* methods;     // what Python's function objects refer to
};

struct library {
  const char* module;  // dotted
  std::span<const function> functions;
  std::span<const param> params;
  std::span<const thunk> thunks;
  std::span<const handwritten_steps* const> handwritten;
  std::span<const class_record> classes;
  std::span<const field> fields;
  std::span<const class_extras> extras;
  std::span<const enumeration> enums;
  std::span<const member> members;
  std::span<const constant> constants;
  std::span<const attribute_table> attributes;
  class_type* types;                       // one per class record
  enum_type** enum_types;                  // one per enumeration, null until made
  std::span<const method_record> methods;  // by name
  const PyCFunction* entries;
  PyMethodDef* lazy_methods;
  library_state* state;
  std::int16_t result_enum;
  driver::library_id table;                      // of the loader: what holds the functions
  const exception_convention* raises = nullptr;  // null: functions return their result code
  std::span<const assembly> assemblies = {};
  std::span<const foreign_enum> foreign_enums = {};

  constexpr const param& param_of(const function& f, int i) const {
    return params[std::size_t(f.first_param + i)];
  }
  constexpr const handwritten_steps& handwritten_of(const function& f) const {
    return *handwritten[f.handwritten];
  }
  constexpr std::span<const field> fields_of(const class_record& record) const {
    return fields.subspan(record.first_field, record.own_fields);
  }
  constexpr const class_extras& extras_of(const class_record& record) const {
    return extras[record.extras];
  }
  constexpr std::span<const member> members_of(const enumeration& record) const {
    return members.subspan(record.first_member, record.own_members);
  }
};

inline const char* short_name(const char* dotted) {
  const char* name = dotted;
  for (const char* c = dotted; *c; ++c)
    if (*c == '.') name = c + 1;
  return name;
}

// Every library of this extension, by the order of the loader's tables.
extern const std::span<const library* const> libraries;

}  // namespace halfwarp::bindings
