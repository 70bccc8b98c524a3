// SPDX-License-Identifier: Apache-2.0
// Python modules filled from tables. A function is created on first use; all classes, enumerations
// and constants when the first of them is used.
#pragma once

#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

// Adds the lazy methods to the module of a library.
bool fill_module(const library& lib, PyObject* module);

// Creates all functions, classes, enumerations and constants, and adds them to the module.
bool complete_module(const library& lib);

// Implement `__getattr__`, `__dir__` and `sizeof` of a module.
PyObject* missing_name(const library& lib, PyObject* name);
PyObject* directory(const library& lib);
PyObject* size_of(PyObject* type);

template <const library& Library>
PyObject* module_getattr(PyObject*, PyObject* name) {
  return missing_name(Library, name);
}
template <const library& Library>
PyObject* module_dir(PyObject*, PyObject*) {
  return directory(Library);
}

// Lazy methods of a module; both are removed once the module is complete.
template <const library& Library>
inline PyMethodDef lazy_module_methods[] = {
    {"__getattr__", module_getattr<Library>, METH_O, nullptr},
    {"__dir__", module_dir<Library>, METH_NOARGS, nullptr},
    {}};

}  // namespace halfwarp::bindings
