// SPDX-License-Identifier: Apache-2.0
// Puts a function of ours before the one that each of a class's methods is entered by.
#include "python/classes/methods.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

namespace halfwarp::python {
namespace {

// What Cython enters methods by: one function for each calling convention and extension.
constexpr std::size_t most_entries = 8;
std::array<vectorcallfunc, most_entries> original{};

// A method of Cython begins like one of Python, whose class is free for us.
PyCMethodObject* as_method(PyObject* function) noexcept {
  return reinterpret_cast<PyCMethodObject*>(function);
}

template <std::size_t place>
PyObject* enter(PyObject* function, PyObject* const* arguments, std::size_t flags,
                PyObject* names) {
  const auto* const method = as_method(function);
  if (PyVectorcall_NARGS(flags) == 0 || PyObject_TypeCheck(arguments[0], method->mm_class)) {
    return original[place](function, arguments, flags, names);
  }
  return PyErr_Format(
      PyExc_TypeError, "descriptor '%s' for '%s' objects doesn't apply to a '%s' object",
      method->func.m_ml->ml_name, method->mm_class->tp_name, Py_TYPE(arguments[0])->tp_name);
}

template <std::size_t... place>
constexpr auto entries_of(std::index_sequence<place...>) {
  return std::array<vectorcallfunc, most_entries>{&enter<place>...};
}

constexpr auto checked = entries_of(std::make_index_sequence<most_entries>{});

vectorcallfunc checked_entry(vectorcallfunc given) noexcept {
  for (std::size_t place = 0; place < most_entries; ++place) {
    if (original[place] == nullptr) original[place] = given;
    if (original[place] == given) return checked[place];
  }
  PyErr_SetString(PyExc_SystemError, "methods are entered in more ways than there is room for");
  return nullptr;
}

bool is_unchecked_method(PyObject* value) noexcept {
  const PyTypeObject* const type = Py_TYPE(value);
  const char* const name = std::strrchr(type->tp_name, '.');
  return name != nullptr && std::strcmp(name, ".cython_function_or_method") == 0 &&
         type->tp_vectorcall_offset == offsetof(PyCFunctionObject, vectorcall) &&
         as_method(value)->func.vectorcall != nullptr && as_method(value)->mm_class == nullptr;
}

}  // namespace

int check_self_in_methods(PyObject* given) noexcept {
  auto* const type = reinterpret_cast<PyTypeObject*>(given);
  PyObject *name = nullptr, *value = nullptr;
  Py_ssize_t position = 0;
  if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) return 0;
  while (PyDict_Next(type->tp_dict, &position, &name, &value)) {
    if (!is_unchecked_method(value)) continue;
    const vectorcallfunc entry = checked_entry(as_method(value)->func.vectorcall);
    if (entry == nullptr) return -1;
    as_method(value)->mm_class = reinterpret_cast<PyTypeObject*>(Py_NewRef(given));
    as_method(value)->func.vectorcall = entry;
  }
  return 0;
}

}  // namespace halfwarp::python
