// SPDX-License-Identifier: Apache-2.0
// Access to attributes of Python objects by interned names.
#pragma once

#include <Python.h>

#include <algorithm>
#include <cstddef>

#include "python/calls.hpp"

namespace halfwarp::python {

// Allows a string literal as a template argument.
template <std::size_t Size>
struct literal {
  char text[Size];
  consteval literal(const char (&string)[Size]) { std::copy_n(string, Size, text); }  // NOLINT
};

// Returns the interned str of a literal, borrowed. A new str per lookup would fill CPython's method
// cache. Null with MemoryError set.
template <literal Name>
[[nodiscard]] PyObject* interned() noexcept {
  static PyObject* const name = PyUnicode_InternFromString(Name.text);
  return name != nullptr ? name : PyErr_NoMemory();
}

// Returns `object.Name`; null, with an exception set, if there is no such attribute.
template <literal Name>
[[nodiscard]] reference attribute(PyObject* object) noexcept {
  PyObject* const name = interned<Name>();
  return name ? get_attribute(object, name) : reference{};
}

// Returns `object.Name()`; null with an exception set on failure.
template <literal Name>
[[nodiscard]] reference call_method(PyObject* object) noexcept {
  PyObject* const name = interned<Name>();
  return name ? call_method(object, name) : reference{};
}

template <literal Name>
[[nodiscard]] bool has_attribute(PyObject* object) noexcept {
  PyObject* const name = interned<Name>();
  return name && run_python([=] { return PyObject_HasAttr(object, name); });
}

// Returns whether the class of the instance has the attribute.
template <literal Name>
[[nodiscard]] bool class_has(PyObject* instance) noexcept {
  return has_attribute<Name>(reinterpret_cast<PyObject*>(Py_TYPE(instance)));
}

// Returns the item of a dictionary, or null without an exception.
[[nodiscard]] inline reference find_item(PyObject* dictionary, PyObject* key) noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* item;
  if (PyDict_GetItemRef(dictionary, key, &item) < 0) PyErr_Clear();
  return reference{item};
#else
  return reference::borrow(PyDict_GetItem(dictionary, key));
#endif
}

// Returns an attribute of a module that is already imported, or null. Sets no exception, imports
// nothing, and triggers no lazy loading.
[[nodiscard]] inline reference attribute_of_loaded(PyObject* module, PyObject* name) noexcept {
  if (module == nullptr || name == nullptr) return {};
  const reference module_object = find_item(PyImport_GetModuleDict(), module);
  if (!module_object || !PyModule_Check(module_object.get())) return {};
  return find_item(PyModule_GetDict(module_object.get()), name);
}

template <literal Module, literal Name>
[[nodiscard]] reference attribute_of_loaded() noexcept {
  return attribute_of_loaded(interned<Module>(), interned<Name>());
}

}  // namespace halfwarp::python
