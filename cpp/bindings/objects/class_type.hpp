// SPDX-License-Identifier: Apache-2.0
// Layouts of handle and struct objects, their static types, and their constructor arguments.
#pragma once

#include <utility>

#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

// Static type object with its record, in zeroed memory until first use (`ready_class`). Its address
// is a constant, so a type check is one comparison.
struct class_type {
  PyTypeObject type;
  const library* lib;
  const class_record* record;
  bool is_ready;
  void* spare;  // structs: memory of a destroyed instance, for reuse
};

// Handle: a C value and its address. A view points to other memory and owns a reference to its
// owner.
struct handle_object {
  PyObject_HEAD word value;  // of a view: PyObject* of the owner, 0 for foreign memory
  void* data;                // &value, except in a view
};

// Memory of one struct or an array of structs, owned or borrowed from `owner`.
struct storage {
  PyObject_HEAD char* data;
  PyObject* owner;  // keeps the memory of a view alive
  PyObject* refs;   // dict: offset -> referent of an address field (keep_alive.hpp)
};

// Struct: the C struct follows the header, unless it is a view of `owner` or of foreign memory.
struct struct_object : storage {
  PyObject** children;        // borrowed: views of fields, live or dormant (struct_fields.cpp)
  PyObject** child_of_owner;  // the owner's pointer to this view
};

// Size of the writable memory after each C struct. A newer driver, whose struct is larger than in
// our headers, writes there instead of into the next object (docs/design).
inline constexpr std::size_t struct_slack = 128;

// Returns the address of the C struct of an object: after the header, at the next aligned address.
template <class Object>
char* storage_of(const Object* object, std::size_t alignment = alignof(void*)) {
  auto address = reinterpret_cast<std::uintptr_t>(object + 1);
  return reinterpret_cast<char*>((address + alignment - 1) & ~(alignment - 1));
}

// Readies a class and its bases; nullptr with an error set.
class_type* make_class(const library& lib, int index);
inline class_type* ready_class(const library& lib, int index) {
  class_type& type = lib.types[index];
  return __atomic_load_n(&type.is_ready, __ATOMIC_ACQUIRE) ? &type : make_class(lib, index);
}

// Returns the class of a static type of the engine, or of a subclass of it.
inline class_type& class_of(PyTypeObject* type) {
  while (type->tp_flags & Py_TPFLAGS_HEAPTYPE) type = type->tp_base;
  return *reinterpret_cast<class_type*>(type);
}

// Returns the index of a class in its library.
inline int index_of(const class_type& type) { return int(&type - type.lib->types); }
// Returns the class name of an object for messages.
inline const char* class_name(PyObject* object) {
  return short_name(class_of(Py_TYPE(object)).record->name);
}

// Returns the memory of a destroyed instance for reuse, nullptr if there is none; all instances of
// a class have one size. The GIL protects it.
inline void* pop_spare([[maybe_unused]] class_type& type) {
#ifdef Py_GIL_DISABLED
  return nullptr;
#else
  return std::exchange(type.spare, nullptr);
#endif
}
// Stores memory for the next instance; false if another is stored already.
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

// Whether a handle is accepted for the class: an instance, or an instance of the base class in
// another library, since both name the same object.
inline bool is_accepted(PyObject* object, const library& lib, int type) {
  if (is_instance(object, lib, type)) return true;
  const class_record& record = lib.classes[std::size_t(type)];
  const library* owner = lib.extras_of(record).owner_of_base;
  return owner && is_instance(object, *owner, record.base);
}

// Returns the class of a type or of its static base; nullptr for other types.
class_type* any_class(PyTypeObject* type);
inline class_type* any_class_of(PyObject* object) { return any_class(Py_TYPE(object)); }

// Returns the address of the C value of any handle or struct object, like `getPtr()`.
void* address_of(PyObject* object);

// Create objects; nullptr with an error set.
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

// Functions that complete the classes of one kind; false with an error set.
struct class_family {
  bool (*set_slots)(class_type& type);         // before the type is readied
  bool (*finish)(class_type& type) = nullptr;  // adds entries to its dictionary
  // Creates an object of a class (or subclass) from its contents, nullptr if they do not fit.
  PyObject* (*from_bytes)(PyObject* called, class_type& type, const Py_buffer& contents) = nullptr;
};

enum class family : std::uint8_t { handle, structure, numpy_struct };
constexpr family family_of(const class_record& record) {
  if (record.numpy) return family::numpy_struct;
  return record.f & is_handle ? family::handle : family::structure;
}

// Indexed by `family`; defined in module/module.cpp, which knows all families.
extern const class_family* const class_families[];
extern const class_family handle_family, struct_family, numpy_struct_family;
inline const class_family& family_of(const class_type& type) {
  return *class_families[int(family_of(*type.record))];
}

// Arguments of `T(init_value=0, _ptr=0)` for handles, `T(_ptr=0)` for structs.
struct constructor_arguments {
  PyObject* value = nullptr;  // borrowed
  void* data = nullptr;       // foreign memory to view

  // For structs, ignores keywords except `_ptr`: the caller handles field keywords.
  bool parse(const class_record& record, PyObject* const* args, Py_ssize_t n, PyObject* keywords,
             bool takes_value);
  bool parse(const class_record& record, PyObject* args, PyObject* keywords, bool takes_value);

 private:
  bool set_argument(const class_record& record, PyObject* name, PyObject* object, bool takes_value);
  bool set_positional(const class_record& record, PyObject* const* args, Py_ssize_t n,
                      bool takes_value);
  bool set_address(const class_record& record, PyObject* object);
};

// Raises TypeError for too many positional arguments; false.
bool raise_too_many(const class_record& record, Py_ssize_t most, Py_ssize_t count);

// Prepends class and argument to the message of the raised error; false.
bool add_argument_context(const class_record& record, const char* name);

// Returns the field with a name, which is a keyword of the constructor; nullptr if there is none.
const field* find_field(const library& lib, const class_record& record, const char* name);

}  // namespace halfwarp::bindings
