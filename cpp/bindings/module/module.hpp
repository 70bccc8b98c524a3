// SPDX-License-Identifier: Apache-2.0
// Python modules made of tables: each function when it is first used; all classes, enumerations and
// constants when the first of them is.
#pragma once

#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

// Puts what makes everything on demand into the module of a library.
int fill_module(const library& lib, PyObject* module);

// Makes functions, classes, enumerations and constants, and puts them into the module for good.
int complete_module(const library& lib);

// The bodies of `__getattr__`, `__dir__` and `sizeof` of a module.
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

// The table of lazy methods of a module; the two vanish once the module is complete.
template <const library& Library>
inline PyMethodDef lazy_module_methods[] = {
    {"__getattr__", module_getattr<Library>, METH_O, nullptr},
    {"__dir__", module_dir<Library>, METH_NOARGS, nullptr},
    {}};

}  // namespace halfwarp::bindings
