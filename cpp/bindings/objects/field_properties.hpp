// SPDX-License-Identifier: Apache-2.0
// Properties for the fields of both kinds of struct classes.
#pragma once

#include "bindings/objects/class_type.hpp"

namespace halfwarp::bindings {

// Closure of a property.
template <class Field>
struct bound_field {
  const library* lib;
  const Field* f;
};

template <class Field, PyObject* (*Read)(const library&, const Field&, PyObject*)>
PyObject* get_bound(PyObject* self, void* closure) {
  auto* bound = static_cast<const bound_field<Field>*>(closure);
  return Read(*bound->lib, *bound->f, self);
}

template <class Field, int (*Write)(const library&, const Field&, PyObject*, PyObject*)>
int put_bound(PyObject* self, PyObject* value, void* closure) {
  auto* bound = static_cast<const bound_field<Field>*>(closure);
  return Write(*bound->lib, *bound->f, self, value);
}

// Adds a property per field, as returned by `describe`, to a class that is not ready yet. A
// property without a name is omitted. `extra` properties come first. The memory is never freed,
// like the type.
template <class Field, class Describe>
bool add_properties(class_type& type, std::span<const Field> fields, Describe describe,
                    std::span<const PyGetSetDef> extra = {}) {
  std::size_t n = fields.size(), count = extra.size() + n + 1;
  auto* properties = static_cast<PyGetSetDef*>(
      PyMem_Calloc(1, count * sizeof(PyGetSetDef) + n * sizeof(bound_field<Field>)));
  if (!properties) return PyErr_NoMemory() != nullptr;
  auto* bound = reinterpret_cast<bound_field<Field>*>(properties + count);
  PyGetSetDef* next = properties;
  for (const PyGetSetDef& property : extra) *next++ = property;
  for (const Field& f : fields) {
    *next = describe(f);
    next->closure = bound;
    if (next->name) ++next;
    *bound++ = {type.lib, &f};
  }
  *next = {};
  type.type.tp_getset = properties;
  return true;
}

}  // namespace halfwarp::bindings
