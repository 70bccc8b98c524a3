// SPDX-License-Identifier: Apache-2.0
// The layouts of handle and struct objects, the static types they are instances of, and what their
// constructors accept.
#pragma once

#include <utility>

#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

// A static type object with its record. Lies in zeroed memory until first use (`ready_class`), so
// that its address is known before it is made and a type check is one comparison.
struct class_type {
  PyTypeObject type;
  const library* lib;
  const class_record* record;
  bool is_ready;
  void* spare;  // structs: the memory of one that died, for the next
};

// A handle: a C value and where it lies. A view points elsewhere and holds the owner of that
// memory.
struct handle_object {
  PyObject_HEAD word value;  // a view: PyObject* of the owner, 0 for foreign memory
  void* data;                // &value unless a view
};

// The memory of structs, one or an array: their own, or what they show of another's.
struct storage {
  PyObject_HEAD char* data;
  PyObject* owner;  // keeps a viewed memory alive
  PyObject* refs;   // dict: offset -> object that an address field depends on (keep_alive.hpp)
};

// A struct: the C struct follows the header, unless it is a view on `owner` or on foreign memory.
struct struct_object : storage {
  PyObject** children;        // borrowed: views of fields, live or resting (struct_fields.cpp)
  PyObject** child_of_owner;  // where the owner remembers this view
};

// Bytes behind each C struct of ours that a call may write over: a driver whose struct has grown
// since our headers writes there, and not into what lies next to the object (docs/design).
inline constexpr std::size_t struct_slack = 128;

// Where the C struct of an object lies: right behind the header, or where its alignment wants it.
template <class Object>
char* storage_of(const Object* object, std::size_t alignment = alignof(void*)) {
  auto address = reinterpret_cast<std::uintptr_t>(object + 1);
  return reinterpret_cast<char*>((address + alignment - 1) & ~(alignment - 1));
}

// Makes a class (and its bases) usable; nullptr with an error set on failure.
class_type* make_class(const library& lib, int index);
inline class_type* ready_class(const library& lib, int index) {
  class_type& type = lib.types[index];
  return __atomic_load_n(&type.is_ready, __ATOMIC_ACQUIRE) ? &type : make_class(lib, index);
}

// The class of an object that is known to be an instance of one of ours or of a user's subclass.
inline class_type& class_of(PyTypeObject* type) {
  while (type->tp_flags & Py_TPFLAGS_HEAPTYPE) type = type->tp_base;
  return *reinterpret_cast<class_type*>(type);
}

// Its place among the classes of its library.
inline int index_of(const class_type& type) { return int(&type - type.lib->types); }
// What messages call the class of an object.
inline const char* class_name(PyObject* object) {
  return short_name(class_of(Py_TYPE(object)).record->name);
}

// The memory of an instance that died, all of one size in a class; nullptr: none is there. The
// interpreter lock guards it.
inline void* pop_spare([[maybe_unused]] class_type& type) {
#ifdef Py_GIL_DISABLED
  return nullptr;
#else
  return std::exchange(type.spare, nullptr);
#endif
}
// Whether the memory is kept for the next instance.
inline bool store_spare([[maybe_unused]] class_type& type, [[maybe_unused]] void* memory) {
#ifndef Py_GIL_DISABLED
  if (!type.spare) return type.spare = memory, true;
#endif
  return false;
}

inline bool is_exactly(PyObject* object, const library& lib, int type) {
  return Py_TYPE(object) == &lib.types[type].type;
}

// Whether `object` is an instance of the class, subclasses included.
inline bool is_instance(PyObject* object, const library& lib, int type) {
  return is_exactly(object, lib, type) || PyType_IsSubtype(Py_TYPE(object), &lib.types[type].type);
}

// Whether a handle may stand for one of the class: an instance, or one of the class in another
// library that the class derives from, since both name the same thing.
inline bool is_accepted(PyObject* object, const library& lib, int type) {
  if (is_instance(object, lib, type)) return true;
  const class_record& record = lib.classes[std::size_t(type)];
  const library* owner = lib.extras_of(record).owner_of_base;
  return owner && is_instance(object, *owner, record.base);
}

// The class that a type of ours is, or derives from; nullptr for other types.
class_type* any_class(PyTypeObject* type);
inline class_type* any_class_of(PyObject* object) { return any_class(Py_TYPE(object)); }

// Where the C value of any handle or struct object lies (what `getPtr()` returns).
void* address_of(PyObject* object);

// New objects; nullptr with an error set on failure.
PyObject* new_handle(const library& lib, int type);
PyObject* new_handle_view(const library& lib, int type, void* data, PyObject* owner);
PyObject* new_struct(const library& lib, int type);
PyObject* new_struct_view(const library& lib, int type, char* data, PyObject* owner);

inline handle_object* as_handle(PyObject* object) {
  return reinterpret_cast<handle_object*>(object);
}
inline storage* as_storage(PyObject* object) { return reinterpret_cast<storage*>(object); }
inline struct_object* as_struct(PyObject* object) {
  return reinterpret_cast<struct_object*>(object);
}

// What makes classes of one kind; false with an error set.
struct class_family {
  bool (*set_slots)(class_type& type);         // of a type that is to be readied
  bool (*finish)(class_type& type) = nullptr;  // what its dictionary has besides
  // An object of a class (or a subclass of it) with these contents, nullptr when they do not fit.
  PyObject* (*from_bytes)(PyObject* called, class_type& type, const Py_buffer& contents) = nullptr;
};

enum class family : std::uint8_t { handle, structure, numpy_struct };
constexpr family family_of(const class_record& record) {
  if (record.numpy) return family::numpy_struct;
  return record.f & is_handle ? family::handle : family::structure;
}

// In the order of `family`: listed where all of them are known (module/module.cpp).
extern const class_family* const class_families[];
extern const class_family handle_family, struct_family, numpy_struct_family;
inline const class_family& family_of(const class_type& type) {
  return *class_families[int(family_of(*type.record))];
}

// `T(init_value=0, _ptr=0)` for handles, `T(_ptr=0)` for structs.
struct constructor_arguments {
  PyObject* value = nullptr;  // borrowed
  void* data = nullptr;       // foreign memory to view

  // For structs `fields` collects nothing: keywords that are not `_ptr` are left to the caller.
  bool parse(const class_record& record, PyObject* const* args, Py_ssize_t n, PyObject* keywords,
             bool takes_value);
  bool parse(const class_record& record, PyObject* args, PyObject* keywords, bool takes_value);

 private:
  bool set_argument(const class_record& record, PyObject* name, PyObject* object, bool takes_value);
  bool set_positional(const class_record& record, PyObject* const* args, Py_ssize_t n,
                      bool takes_value);
  bool set_address(const class_record& record, PyObject* object);
};

// TypeError for more arguments by position than a constructor has; false.
bool raise_too_many(const class_record& record, Py_ssize_t most, Py_ssize_t count);

// Puts class and argument before the message of the error that is set; false.
bool add_argument_context(const class_record& record, const char* name);

// The class has a field of that name: it is a keyword of the constructor.
const field* find_field(const library& lib, const class_record& record, const char* name);

}  // namespace halfwarp::bindings
