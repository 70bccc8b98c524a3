// SPDX-License-Identifier: Apache-2.0
#include "bindings/objects/queries.hpp"

#include "bindings/records/reference.hpp"

namespace halfwarp::bindings {
namespace {

enum index { source, name, functions, module, type, target };

PyObject* part(PyObject* self, index at) { return PyTuple_GET_ITEM(self, at); }

PyObject* get_attribute(PyObject* self, PyObject* object) {
  reference owner(PyObject_GetAttr(object, part(self, source)));
  return owner ? PyObject_GetAttr(owner, part(self, name)) : nullptr;
}

PyObject* value_of(PyObject* self, PyObject* handle) {
  if (part(self, name) == Py_None) return Py_NewRef(handle);
  PyObject* function = PyDict_GetItemWithError(part(self, functions), part(self, name));
  if (function) return PyObject_CallOneArg(function, handle);
  if (PyErr_Occurred()) return nullptr;
  reference first(PyObject_GetAttr(part(self, module), part(self, name)));
  return first ? PyObject_CallOneArg(first, handle) : nullptr;
}

PyObject* query(PyObject* self, PyObject* object) {
  reference handle(PyObject_GetAttr(object, part(self, source)));
  if (!handle) return nullptr;
  reference value(value_of(self, handle));
  if (!value || part(self, type) == Py_None) return value.release();
  auto* record_type = reinterpret_cast<PyTypeObject*>(part(self, type));
  reference record(record_type->tp_alloc(record_type, 0));
  if (!record || PyObject_SetAttr(record, part(self, target), value) < 0) return nullptr;
  return record.release();
}

}  // namespace

PyObject* property_getter(PyObject* parts) {
  const Py_ssize_t last = PyTuple_GET_SIZE(parts) - 1;
  const char* documentation = PyUnicode_AsUTF8(PyTuple_GET_ITEM(parts, last));
  if (!documentation) return nullptr;
  // The function holds its definition, as an object of the tuple.
  const PyMethodDef method{"get", last > 2 ? query : get_attribute, METH_O, documentation};
  reference definition(
      PyBytes_FromStringAndSize(reinterpret_cast<const char*>(&method), sizeof method));
  reference held(definition ? PyTuple_Pack(1, definition.get()) : nullptr);
  reference self(held ? PySequence_Concat(parts, held) : nullptr);
  if (!self) return nullptr;
  return PyCFunction_New(reinterpret_cast<PyMethodDef*>(PyBytes_AS_STRING(definition.get())), self);
}

}  // namespace halfwarp::bindings
