// SPDX-License-Identifier: Apache-2.0
// The engine's side of the extension `cuda.bindings._low`.
#include "bindings/low.hpp"

#include <algorithm>
#include <cstring>

#include "bindings/arguments/objects.hpp"
#include "bindings/engine.hpp"
#include "bindings/enums/enum_type.hpp"
#include "bindings/module.hpp"
#include "bindings/special/callback_gate.hpp"
#include "bindings/structs/struct_methods.hpp"
#include "bindings/types/class_type.hpp"
#include "bindings/types/engine_lock.hpp"

namespace halfwarp::bindings {
namespace {

const library* find_library(const char* name) {
  for (const library* lib : libraries)
    if (std::strcmp(short_name(lib->module), name) == 0) return lib;
  PyErr_Format(PyExc_LookupError, "no tables for '%s'", name);
  return nullptr;
}

const loader_api* loader;

PyObject* as_object(PyTypeObject* type) { return Py_XNewRef(reinterpret_cast<PyObject*>(type)); }

}  // namespace

// The tables stand in the loader's order.
int has_function(const library& lib, const function& f) {
  auto place = std::find(libraries.begin(), libraries.end(), &lib) - libraries.begin();
  return loader->has(driver::library_id(place), f.slot);
}

}  // namespace halfwarp::bindings

using namespace halfwarp::bindings;

int low_attach(const loader_api* api) {
  if (!engine_lock::prepare() || !callback_gate::prepare()) return -1;
  loader = api;
  for (const library* lib : libraries) lib->state->slots = api->table(short_name(lib->module));
  return 0;
}

int low_fill(PyObject* module) {
  const char* name = PyModule_GetName(module);
  const library* lib = name ? find_library(short_name(name)) : nullptr;
  return lib ? fill_module(*lib, module) : -1;
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

void low_stop_callbacks(void) { callback_gate::close(); }
void low_after_fork(void) {
  engine_lock::forget();
  callback_gate::forget();
}
