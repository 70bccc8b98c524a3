// SPDX-License-Identifier: Apache-2.0
// Inserts a check in front of the vectorcall entry point of each method of a class.
#include "python/classes/methods.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "python/reference.hpp"

namespace halfwarp::python {
namespace {

// The entry points of Cython methods: one per calling convention and extension.
constexpr std::size_t most_entries = 8;
std::array<vectorcallfunc, most_entries> original{};

// A Cython method starts like a PyCMethodObject, whose mm_class Cython leaves unused.
PyCMethodObject* as_method(PyObject* function) noexcept {
  return reinterpret_cast<PyCMethodObject*>(function);
}

template <std::size_t index>
PyObject* call_checked(PyObject* function, PyObject* const* arguments, std::size_t flags,
                       PyObject* names) {
  const auto* const method = as_method(function);
  if (PyVectorcall_NARGS(flags) == 0 || PyObject_TypeCheck(arguments[0], method->mm_class)) {
    return original[index](function, arguments, flags, names);
  }
  return PyErr_Format(
      PyExc_TypeError, "descriptor '%s' for '%s' objects doesn't apply to a '%s' object",
      method->func.m_ml->ml_name, method->mm_class->tp_name, Py_TYPE(arguments[0])->tp_name);
}

template <std::size_t... index>
constexpr auto entries_of(std::index_sequence<index...>) {
  return std::array<vectorcallfunc, most_entries>{&call_checked<index>...};
}

constexpr auto checked = entries_of(std::make_index_sequence<most_entries>{});

vectorcallfunc checked_entry(vectorcallfunc entry) noexcept {
  for (std::size_t index = 0; index < most_entries; ++index) {
    if (original[index] == nullptr) original[index] = entry;
    if (original[index] == entry) return checked[index];
  }
  PyErr_SetString(PyExc_SystemError, "Cython methods have more entry points than supported");
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

int check_self_in_methods(PyObject* type_object) noexcept {
  auto* const type = reinterpret_cast<PyTypeObject*>(type_object);
  PyObject *name = nullptr, *value = nullptr;
  Py_ssize_t position = 0;
  if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) return 0;
  while (PyDict_Next(type->tp_dict, &position, &name, &value)) {
    if (!is_unchecked_method(value)) continue;
    const vectorcallfunc entry = checked_entry(as_method(value)->func.vectorcall);
    if (entry == nullptr) return failed;
    as_method(value)->mm_class = reinterpret_cast<PyTypeObject*>(Py_NewRef(type_object));
    as_method(value)->func.vectorcall = entry;
  }
  return 0;
}

}  // namespace halfwarp::python
