// SPDX-License-Identifier: Apache-2.0
// Enumerations: classes derived from FastEnum, whose members are ints that know their name.
#pragma once

#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

struct enum_entry {
  std::int64_t value;
  PyObject* object;  // the member: an instance of the class
  PyObject* name;
  const char* doc;
};

// A class whose metaclass is FastEnumMetaclass. `dense` finds a member by value at once; values
// beyond it are searched.
struct enum_type {
  PyHeapTypeObject heap;
  enum_entry* entries;  // in order of declaration, without aliases
  Py_ssize_t count;
  std::int64_t lowest;
  Py_ssize_t span;
  std::int16_t* dense;
  PyObject* aliases;  // dict: every name, aliases included -> member; made when asked for
  PyObject* doc;      // of the class
  PyObject* shown;    // class of Python's `enum` that modules show in its place, once it is made
  bool is_unsigned;   // values of 2^63 and more are kept as their 64 bits
};

// FastEnum and its metaclass, ready; nullptr with an error set.
PyTypeObject* fast_enum();
PyTypeObject* fast_enum_metaclass();

// Gives a class made by `type` what its metaclass promises: the fast call and `__doc__`.
bool prepare_enum_class(enum_type* type);

// The class of a library's enumeration, made when first needed (borrowed).
enum_type* ready_enum(const library& lib, int index);

// The same as a class of Python's own `enum.IntEnum`, made when first needed; a new reference.
PyObject* python_enum(const library& lib, int index);

// The member of a value; a new one (`UNKNOWN_n`) for values that have no name, so that no
// successful call raises. They are not kept: structs hold any bits. A new reference.
PyObject* enum_member(const library& lib, int index, std::int64_t value);

// The int that the 64 bits of a value stand for; a new reference.
inline PyObject* number_of(const enum_type* type, std::int64_t value) {
  return type->is_unsigned ? PyLong_FromUnsignedLongLong(std::uint64_t(value))
                           : PyLong_FromLongLong(value);
}

// The entry of a value, nullptr when there is none.
const enum_entry* find_entry(const enum_type* type, std::int64_t value);

// Fills an enumeration under construction: distinct values only; `name` is borrowed.
bool add_member(enum_type* type, PyObject* name, std::int64_t value, const char* doc,
                PyObject* namespace_);
bool finish_members(enum_type* type);

// The dict behind `__members__` (borrowed); nullptr with an error set.
PyObject* names_of(enum_type* type);

inline enum_type* as_enum(PyTypeObject* type) { return reinterpret_cast<enum_type*>(type); }

}  // namespace halfwarp::bindings
