// SPDX-License-Identifier: Apache-2.0
// Records that describe a C library to the engine: one per function, class, field and enumeration.
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

// Texts of all tables.
extern const char texts[];
using table_text = packed_text<texts>;

// Argument of a C call: a value, or the address of one.
using word = std::uint64_t;

// The generated enumeration lists numbers first, then other inputs, then inputs that are also
// returned, then outputs; these functions rely on it. Each kind has one converter (converters/).
constexpr bool is_output(kind k) { return k >= kind::iterator; }
constexpr bool is_integer(kind k) { return k <= kind::u64; }
// Returns the size of a C number or an address.
constexpr int number_size(kind k) {
  if (k == kind::f32) return 4;
  return k >= kind::f64 ? 8 : 1 << int(k) / 2;
}
constexpr bool is_list(kind k) { return k >= kind::list_i32 && k <= kind::list_address; }

constexpr bool optional_list = true;  // name of `param::is_optional` in tables

struct param {
  kind k;
  std::int8_t py;         // position in the Python call; -1: not an argument
  std::int16_t type = 0;  // index of a class, enumeration or attribute table; a length (out_bytes)
  std::int8_t aux = -1;   // C position of the count, or of the attribute
  std::int8_t size = -1;  // C position of the size of an attribute's value
  bool is_optional = false;  // list that may be omitted, regardless of the count

  constexpr bool has_aux() const { return aux >= 0; }
  constexpr bool has_size() const { return size >= 0; }
};

enum function_flags : std::uint16_t {
  releases_gil = 1,
  is_brief = 2,     // releases the GIL only if another thread could acquire it
  passes_gate = 4,  // must not run while the process exits
  second_pass = 8,  // has parameters that depend on other parameters
  // type of the result if it is no result code
  returns_text = 16,
  returns_number = 32,
  returns_nothing = 64,
  is_submission = 128,  // of work or a query: keeps the GIL of a lone thread
  calls_back = 256,     // passes a function to the driver that may need the GIL
};
enum field_flags : std::uint16_t {
  read_only = 1,         // no setter
  is_hidden = 2,         // padding, neither listed nor printed
  prints_as_number = 4,  // an address that is printed in decimal
  is_joint = 8,          // a list that shares its count with others: they are set together
};
enum class_flags : std::uint16_t {
  view_only = 1,  // exists only inside other structs
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

// Handwritten steps of a function. `before` may change the words of the call; `after` receives its
// code; `entry` replaces the whole call.
struct handwritten_steps {
  bool (*before)(frame&) = nullptr;
  bool (*after)(frame&, int code) = nullptr;
  PyObject* (*entry)(const library&, const function&, PyObject* const* args, Py_ssize_t n,
                     PyObject* names) = nullptr;
};

// Records refer to each other by number: the loader would relocate a table of addresses, page by
// page.
struct function {
  table_text name;            // in messages
  table_text names;           // of the Python parameters, NUL-terminated
  std::uint16_t first_param;  // index in all parameters
  std::uint16_t caller;       // index in the thunks
  std::uint16_t slot;
  std::uint8_t handwritten;  // index in the handwritten steps; 0: none
  std::uint8_t n, positional, required, outputs;
  function_flags f;
  std::int16_t size_function = -1;  // function that returns the number of bytes this one writes
};

// Name and documentation of a module function; its entry point has the same index in the entries.
struct method_record {
  table_text name;
  table_text doc;              // what it does; all of the text if it is no C function
  table_text returned = 0;     // its outputs in words, if `doc` does not name them
  std::int16_t function = -1;  // index in all functions; -1: checks a status
};

struct field {
  table_text name;
  kind k;
  field_flags f;
  kind element;        // field_array, field_pointer_list
  std::uint8_t child;  // index among the fields that are views
  std::int16_t type;   // class or enumeration, -1: none
  std::uint16_t offset, size;
};

// Lists of a struct that share a count; one method sets them together.
struct joint_lists {
  const char* method;
  const char* doc;
  const char* count;  // names of fields
  std::span<const char* const> lists;
};

// Python representation of a field.
enum class form : std::uint8_t {
  number,          // one number; in a column, an array of them
  numbers,         // T[n]
  address,         // any pointer, as an integer
  text,            // char[n]: str
  text_pointer,    // const char*: str; the object keeps the characters
  bytes,           // untyped memory: bytes
  structure,       // a struct, or S[n]: an object that views it
  number_list,     // T* with a count field: an array that the object retains
  structure_list,  // S* with a count field: an array that the object retains
};

struct numpy_field {
  table_text name;
  form shape;
  kind element;                       // of numbers
  bool is_hidden;                     // part of the NumPy type only: counts, reserved fields
  bool is_array;                      // T[n], even where n is 1
  std::int16_t type = -1;             // class of structs
  std::int16_t counter = -1;          // field with the number of elements
  std::uint32_t offset, size, count;  // of one element; elements

  constexpr bool has_counter() const { return counter >= 0; }
};

// Fields of a NumPy struct; its class record points to it.
struct numpy_record {
  std::span<const numpy_field> fields;
  std::uint32_t size;
  bool is_array;     // constructed with a length: T(n)
  table_text dtype;  // name of the NumPy type in the module, if any
};

// Properties that few classes have.
struct class_extras {
  const joint_lists* joint = nullptr;
  const library* owner_of_base = nullptr;  // of a base class in another library
};

struct class_record {
  table_text name;                        // dotted
  std::uint16_t first_field, own_fields;  // index in all fields; inherited fields do not count
  std::int16_t base;
  std::uint16_t size, alignment;  // of the C type
  class_flags f;
  bool is_signed;
  std::uint8_t children;
  std::uint8_t extras;  // index in the extras; 0: none
  table_text doc;
  const numpy_record* numpy =
      nullptr;                    // of a NumPy struct: its fields, instead of the fields above
  const void* initial = nullptr;  // initial value, if it is not zero
};

struct member {
  table_text name, doc;
  std::int64_t value;
};

struct enumeration {
  table_text name;  // dotted
  std::uint16_t first_member, own_members;
  bool is_unsigned;  // values are unsigned 64-bit numbers
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

// Exception class of a library whose functions raise. The first one is the base of the others, and
// the class of every status without its own.
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
  PyTypeObject** types;  // one per class, null until created
  initproc init;         // of the exceptions
  const error_details* details = nullptr;
  int insufficient = 0;  // status of an output buffer that is too small
  std::span<const exception_alias> aliases = {};
  int null_handle = 0;            // status of a call with a null handle
  bool has_python_enums = false;  // the module offers classes of Python's `enum`
};

// Enumeration of another library, under a name of this one.
struct foreign_enum {
  table_text name;
  const library* owner;
  std::int16_t index;
};

struct assembly;  // converters/assembly.hpp
struct class_type;
struct enum_type;

// Mutable state of a library. All of it is created on demand, under the GIL or `engine_lock`.
struct library_state {
  void* const* slots;
  PyObject* module;
  PyObject* success;        // success member of the result enumeration
  PyObject* success_tuple;  // shared by all calls without outputs
  PyObject* spare;          // result tuple that is reused if no other reference exists
  PyObject** keywords;      // per function: interned parameter names
  PyMethodDef* methods;     // definitions that function objects refer to
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
  enum_type** enum_types;                  // one per enumeration, null until created
  std::span<const table_text> phrases;     // what each parameter is, in Python's order
  std::span<const method_record> methods;  // by name
  const PyCFunction* entries;
  PyMethodDef* lazy_methods;
  library_state* state;
  std::int16_t result_enum;
  driver::library_id table;                      // table of the loader with the functions
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

// All libraries of this extension, in the order of the loader's tables.
extern const std::span<const library* const> libraries;

}  // namespace halfwarp::bindings
