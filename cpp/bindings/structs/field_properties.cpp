// SPDX-License-Identifier: Apache-2.0
// Properties of fields: those that Python makes for C getters and setters, with a shorter way in.
#include "bindings/structs/structs.hpp"

#include "bindings/objects/field_properties.hpp"
#include "bindings/objects/keep_alive.hpp"

namespace halfwarp::bindings {
namespace {

constexpr getter get_field = get_bound<field, read_field>;
constexpr setter put_field = put_bound<field, write_field>;

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
  return add_properties(type, type.lib->fields_of(*type.record), [](const field& f) -> PyGetSetDef {
    const char* doc = f.f & is_hidden ? padding_doc : nullptr;
    return {f.name, get_field, f.f & read_only ? nullptr : put_field, doc, nullptr};
  });
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
