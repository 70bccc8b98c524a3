// SPDX-License-Identifier: Apache-2.0
// Properties of fields: those that Python makes for C getters and setters, with a shorter way in.
#include "bindings/structs/structs.hpp"

#include "bindings/objects/struct_class.hpp"

namespace halfwarp::bindings {
namespace {

// What a property is bound to.
struct bound_field {
  const library* lib;
  const field* f;
};

PyObject* get_field(PyObject* self, void* closure) {
  auto* bound = static_cast<const bound_field*>(closure);
  return read_field(*bound->lib, *bound->f, self);
}

int put_field(PyObject* self, PyObject* value, void* closure) {
  auto* bound = static_cast<const bound_field*>(closure);
  return write_field(*bound->lib, *bound->f, self, value);
}

// The record if the object has such a field. Python's own properties ask for the class by its list
// of bases, in two calls; a class of ours is found at once, and all others are left to Python.
const PyGetSetDef* property_of(PyObject* object, PyObject* self) {
  auto* property = reinterpret_cast<PyGetSetDescrObject*>(self);
  PyTypeObject* type = object ? Py_TYPE(object) : nullptr;
  while (type && type != property->d_common.d_type) type = type->tp_base;
  return type ? property->d_getset : nullptr;
}

PyObject* read_property(PyObject* self, PyObject* object, PyObject* type) {
  const PyGetSetDef* own = property_of(object, self);
  if (own) [[likely]]
    return get_field(object, own->closure);
  return PyGetSetDescr_Type.tp_descr_get(self, object, type);
}

int write_property(PyObject* self, PyObject* object, PyObject* value) {
  const PyGetSetDef* own = property_of(object, self);
  if (own && own->set) [[likely]]
    return put_field(object, value, own->closure);
  return PyGetSetDescr_Type.tp_descr_set(self, object, value);
}

PyTypeObject property_type = {
    .ob_base = {PyObject_HEAD_INIT(nullptr) 0},
    .tp_name = "cuda.bindings._low._field",
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_descr_get = read_property,
    .tp_descr_set = write_property,
};

bool ready_property_type() {
  if (property_type.tp_flags & Py_TPFLAGS_READY) return true;
  property_type.tp_base = &PyGetSetDescr_Type;
  return PyType_Ready(&property_type) == 0;
}

}  // namespace

bool add_field_properties(class_type& type) {
  std::span<const field> fields = type.lib->fields_of(*type.record);
  std::size_t n = fields.size();
  if (!n) return true;
  auto* properties = static_cast<PyGetSetDef*>(  // live as long as the type: for ever
      PyMem_Calloc(1, (n + 1) * sizeof(PyGetSetDef) + n * sizeof(bound_field)));
  if (!properties) return PyErr_NoMemory() != nullptr;
  auto* bound = reinterpret_cast<bound_field*>(properties + n + 1);
  for (std::size_t i = 0; i < n; ++i) {
    const field& f = fields[i];
    bound[i] = {type.lib, &f};
    const char* doc = f.f & is_hidden ? padding_doc : nullptr;
    properties[i] = {f.name, get_field, f.f & read_only ? nullptr : put_field, doc, &bound[i]};
  }
  type.type.tp_getset = properties;
  return true;
}

bool quicken_field_properties(class_type& type) {
  if (!ready_property_type()) return false;
  PyObject *name, *value;
  Py_ssize_t at = 0;
  while (PyDict_Next(type.type.tp_dict, &at, &name, &value)) {
    if (Py_TYPE(value) != &PyGetSetDescr_Type) continue;
    auto* property = reinterpret_cast<PyGetSetDescrObject*>(value);
    if (property->d_getset->get == get_field) Py_SET_TYPE(value, &property_type);
  }
  return true;
}

}  // namespace halfwarp::bindings
