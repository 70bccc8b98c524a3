// SPDX-License-Identifier: Apache-2.0
// Inserts a check in front of the setter of each property of a class.
#include "python/classes/properties.hpp"

#include <new>

#include "python/reference.hpp"

namespace halfwarp::python {
namespace {

struct property {
  setter set;
  const char* name;
};

int set_or_refuse(PyObject* object, PyObject* value, void* closure) noexcept {
  const auto* const original = static_cast<const property*>(closure);
  if (value != nullptr) return original->set(object, value, nullptr);
  PyErr_Format(PyExc_AttributeError, "property '%s' of '%s' cannot be deleted", original->name,
               Py_TYPE(object)->tp_name);
  return failed;
}

}  // namespace

int refuse_deletions(PyObject* type) noexcept {
  PyGetSetDef* each = reinterpret_cast<PyTypeObject*>(type)->tp_getset;
  for (; each != nullptr && each->name != nullptr; ++each) {
    if (each->set == nullptr || each->closure != nullptr) continue;
    auto* const original = new (std::nothrow) property{each->set, each->name};
    if (original == nullptr) {
      PyErr_NoMemory();
      return failed;
    }
    each->closure = original;  // never freed, like the class
    each->set = &set_or_refuse;
  }
  return 0;
}

}  // namespace halfwarp::python
