// SPDX-License-Identifier: Apache-2.0
// Puts a setter of ours before each of a class's own.
#include "python/classes/properties.hpp"

#include <new>

namespace halfwarp::python {
namespace {

struct property {
  setter set;
  const char* name;
};

int set_or_refuse(PyObject* object, PyObject* value, void* closure) noexcept {
  const auto* const own = static_cast<const property*>(closure);
  if (value != nullptr) return own->set(object, value, nullptr);
  PyErr_Format(PyExc_AttributeError, "property '%s' of '%s' cannot be deleted", own->name,
               Py_TYPE(object)->tp_name);
  return -1;
}

}  // namespace

int refuse_deletions(PyObject* type) noexcept {
  PyGetSetDef* each = reinterpret_cast<PyTypeObject*>(type)->tp_getset;
  for (; each != nullptr && each->name != nullptr; ++each) {
    if (each->set == nullptr || each->closure != nullptr) continue;
    auto* const own = new (std::nothrow) property{each->set, each->name};
    if (own == nullptr) {
      PyErr_NoMemory();
      return -1;
    }
    each->closure = own;  // lives as long as the class: for ever
    each->set = &set_or_refuse;
  }
  return 0;
}

}  // namespace halfwarp::python
