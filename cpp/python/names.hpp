// SPDX-License-Identifier: Apache-2.0
// Attributes of Python objects by names that are made once.
#pragma once

#include <Python.h>

#include <algorithm>
#include <cstddef>

#include "python/calls.hpp"

namespace halfwarp::python {

// Lets a string literal be a template argument.
template <std::size_t Size>
struct literal {
  char text[Size];
  consteval literal(const char (&given)[Size]) { std::copy_n(given, Size, text); }  // NOLINT
};

// The interned str of a literal, borrowed: a fresh str for each look-up would fill Python's method
// cache. Null with MemoryError set.
template <literal Name>
[[nodiscard]] PyObject* interned() noexcept {
  static PyObject* const made = PyUnicode_InternFromString(Name.text);
  return made != nullptr ? made : PyErr_NoMemory();
}

// `object.Name`; none, with an exception set, when there is no such attribute.
template <literal Name>
[[nodiscard]] reference attribute(PyObject* object) noexcept {
  PyObject* const name = interned<Name>();
  return name ? get_attribute(object, name) : reference{};
}

// `object.Name()`; none with an exception set when it fails.
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

// Whether instances have the attribute by their class.
template <literal Name>
[[nodiscard]] bool class_has(PyObject* instance) noexcept {
  return has_attribute<Name>(reinterpret_cast<PyObject*>(Py_TYPE(instance)));
}

// What a dictionary has under a key, without an exception when there is nothing.
[[nodiscard]] inline reference item_of(PyObject* dictionary, PyObject* key) noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* found;
  if (PyDict_GetItemRef(dictionary, key, &found) < 0) PyErr_Clear();
  return reference{found};
#else
  return reference::borrow(PyDict_GetItem(dictionary, key));
#endif
}

// What a module that is imported already has under a name; none when there is no such module or
// name. Sets no exception, imports nothing, and asks no lazy module for more than it holds.
[[nodiscard]] inline reference attribute_of_loaded(PyObject* module, PyObject* name) noexcept {
  if (module == nullptr || name == nullptr) return {};
  const reference found = item_of(PyImport_GetModuleDict(), module);
  if (!found || !PyModule_Check(found.get())) return {};
  return item_of(PyModule_GetDict(found.get()), name);
}

template <literal Module, literal Name>
[[nodiscard]] reference attribute_of_loaded() noexcept {
  return attribute_of_loaded(interned<Module>(), interned<Name>());
}

}  // namespace halfwarp::python
