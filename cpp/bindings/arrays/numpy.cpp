// SPDX-License-Identifier: Apache-2.0
// Functions and types of NumPy.
#include "bindings/arrays/typed_array.hpp"

namespace halfwarp::bindings {

PyObject* from_numpy(const char* name) {
  PyObject* numpy = PyImport_ImportModule("numpy");
  PyObject* found = numpy ? PyObject_GetAttrString(numpy, name) : nullptr;
  Py_XDECREF(numpy);
  return found;
}

PyObject* loaded_numpy_function(const char* name) {
  PyObject* modules = PyImport_GetModuleDict();  // borrowed
  PyObject* numpy = modules ? PyMapping_GetItemString(modules, "numpy") : nullptr;
  PyObject* found = numpy ? PyObject_GetAttrString(numpy, name) : nullptr;
  if (!found) PyErr_Clear();  // not loaded, or not yet all of it
  Py_XDECREF(numpy);
  return found;
}

PyObject* numpy_type_of(const char* format) {
  PyObject* constructor = from_numpy("dtype");
  PyObject* made = constructor ? PyObject_CallFunction(constructor, "s", format) : nullptr;
  Py_XDECREF(constructor);
  return made;
}

}  // namespace halfwarp::bindings
