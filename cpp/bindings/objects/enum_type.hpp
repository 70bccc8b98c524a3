// SPDX-License-Identifier: Apache-2.0
// Enumerations: subclasses of FastEnum, whose members are named ints.
#pragma once

#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

struct enum_entry {
  std::int64_t value;
  PyObject* object;  // the member: an instance of the class
  PyObject* name;
  const char* doc;
};

// Enumeration class. `dense` maps values in a range to members; other values are searched.
struct enum_type {
  PyHeapTypeObject heap;
  enum_entry* entries;  // in order of declaration, without aliases
  Py_ssize_t count;
  std::int64_t lowest;
  Py_ssize_t span;
  std::int16_t* dense;
  PyObject* aliases;  // dict: every name, with aliases -> member; created on first use
  PyObject* doc;      // of the class
  PyObject* shown;    // class of Python's `enum` that modules offer instead; created on first use
  bool is_unsigned;   // values of 2^63 and more are stored as int64_t
};

// Return FastEnum and its metaclass; nullptr with an error set.
PyTypeObject* fast_enum();
PyTypeObject* fast_enum_metaclass();

// Whether an object is a member of an enumeration. Takes no lock: a member exists only after its
// metaclass.
bool is_enum_member(PyObject* value);

// Sets the fast call and `__doc__` of a new class.
bool prepare_enum_class(enum_type* type);

// Returns the class of an enumeration, created on first use (borrowed).
enum_type* ready_enum(const library& lib, int index);

// Returns the enumeration as a class of Python's `enum.IntEnum`, created on first use; a new
// reference.
PyObject* python_enum(const library& lib, int index);

// Returns the member of a value. For an unnamed value, creates a member (`UNKNOWN_n`), so that a
// successful call never raises; it is not stored, since structs may hold any bits. A new reference.
PyObject* enum_member(const library& lib, int index, std::int64_t value);

// Returns the int with the 64 bits of a value; a new reference.
inline PyObject* number_of(const enum_type* type, std::int64_t value) {
  return type->is_unsigned ? PyLong_FromUnsignedLongLong(std::uint64_t(value))
                           : PyLong_FromLongLong(value);
}

// Returns the entry of a value, nullptr if there is none.
const enum_entry* find_entry(const enum_type* type, std::int64_t value);

// Adds a member to a class under construction; a known value adds an alias. `name` is borrowed.
bool add_member(enum_type* type, PyObject* name, std::int64_t value, const char* doc,
                PyObject* namespace_);
bool finish_members(enum_type* type);

// Returns the dict behind `__members__` (borrowed); nullptr with an error set.
PyObject* names_of(enum_type* type);

inline enum_type* as_enum(PyTypeObject* type) { return reinterpret_cast<enum_type*>(type); }

}  // namespace halfwarp::bindings
