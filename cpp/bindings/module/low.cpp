// SPDX-License-Identifier: Apache-2.0
// Functions of the engine for the extension `cuda.bindings._low`.
#include "bindings/module/low.hpp"

#include <cstring>

#include "bindings/errors/errors.hpp"
#include "bindings/module/module.hpp"
#include "bindings/objects/class_type.hpp"
#include "bindings/objects/enum_type.hpp"
#include "bindings/objects/keep_alive.hpp"
#include "bindings/objects/object_arguments.hpp"
#include "bindings/objects/queries.hpp"
#include "bindings/records/c_calls.hpp"
#include "bindings/threads/shared_objects.hpp"
#include "interpreter/exit_gate.hpp"

namespace halfwarp::bindings {
namespace {

const library* find_library(const char* name) {
  for (const library* lib : libraries)
    if (std::strcmp(lib->module, name) == 0) return lib;
  return raise_error(PyExc_LookupError, "no tables for '%s'", name);
}

const loader_api* loader;

// Returns the loader's name of a table. Tables of libraries come first, in the loader's order;
// further faces follow.
const char* table_name(const library& lib) {
  return short_name(libraries[std::size_t(lib.table)]->module);
}

PyObject* as_object(PyTypeObject* type) { return Py_XNewRef(reinterpret_cast<PyObject*>(type)); }

}  // namespace

int has_function(const library& lib, const function& f) { return loader->has(lib.table, f.slot); }

}  // namespace halfwarp::bindings

using namespace halfwarp::bindings;

int low_attach(const loader_api* api) {
  if (!engine_lock::prepare() || !halfwarp::interpreter::prepare_exit_gate()) return failed;
  loader = api;
  for (const library* lib : libraries) lib->state->slots = api->table(table_name(*lib));
  return 0;
}

int low_fill(PyObject* module) {
  const char* name = PyModule_GetName(module);
  const library* lib = name ? find_library(name) : nullptr;
  return lib && fill_module(*lib, module) ? 0 : failed;
}

PyObject* low_fast_enum(void) { return as_object(fast_enum()); }
PyObject* low_fast_enum_metaclass(void) { return as_object(fast_enum_metaclass()); }
PyObject* low_struct_from_bytes(PyObject* type, PyObject* contents) {
  return struct_from_bytes(type, contents);
}

PyObject* low_native_handle(PyObject* object) {
  class_type* type = any_class_of(object);
  bool is_opaque =
      type && type->record->f & opaque && type->record->f & compares;  // not a function pointer
  return is_opaque ? PyLong_FromUnsignedLongLong(load_handle(object, 8)) : Py_NewRef(Py_None);
}

PyObject* low_new_query(PyObject* parts) { return new_query(parts); }
PyObject* low_query_property(PyObject* query, PyObject* cls, PyObject* name) {
  return query_property(query, cls, name);
}

const void* low_exit_gate(void) { return &halfwarp::interpreter::process_exit_gate; }
const char* low_exit_gate_capsule(void) { return halfwarp::interpreter::exit_gate::capsule; }
void low_close_exit_gate(void) { halfwarp::interpreter::process_exit_gate.close(); }
void low_after_fork(void) {
  engine_lock::reset_after_fork();
  halfwarp::interpreter::reset_passes();
}
