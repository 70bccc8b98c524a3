// SPDX-License-Identifier: Apache-2.0
#include "bindings/objects/queries.hpp"

#include <structmember.h>

#include "bindings/records/reference.hpp"
#include "bindings/threads/shared_objects.hpp"

namespace halfwarp::bindings {
namespace {

enum index { source, name, functions, module, type, target };

PyObject* part(PyObject* self, index at) { return PyTuple_GET_ITEM(self, at); }

// The place of an attribute in objects of a class with `__slots__`.
struct slot {
  PyTypeObject* owner;  // the class that declares the slot; null: not known
  Py_ssize_t offset;

  PyObject** in(PyObject* object) const {
    if (!owner || !PyObject_TypeCheck(object, owner)) return nullptr;
    return reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + offset);
  }
};

// The definition of a getter, and the slots that it reads and writes. A slot of a class never
// moves, and the getter keeps the class.
struct definition {
  PyMethodDef method;
  slot read, written;
};

definition& definition_of(PyObject* self) {
  PyObject* bytes = PyTuple_GET_ITEM(self, PyTuple_GET_SIZE(self) - 1);
  return *reinterpret_cast<definition*>(PyBytes_AS_STRING(bytes));
}

// Finds the slot of an attribute, if the class declares one. An attribute of another kind is no
// error.
void find_slot(PyTypeObject* cls, PyObject* attribute, slot& result) {
  const reference member(PyObject_GetAttr(reinterpret_cast<PyObject*>(cls), attribute));
  if (!member) return PyErr_Clear();
  if (!Py_IS_TYPE(member.get(), &PyMemberDescr_Type)) return;
  auto* descriptor = reinterpret_cast<PyMemberDescrObject*>(member.get());
  if (descriptor->d_member->type != T_OBJECT_EX) return;
  result = {PyDescr_TYPE(descriptor), descriptor->d_member->offset};
  Py_INCREF(result.owner);
}

#ifdef Py_GIL_DISABLED
// Another thread may write the slot at the same time.
PyObject* read_slot(slot&, PyObject* object, PyObject* attribute) {
  return PyObject_GetAttr(object, attribute);
}
bool write_slot(slot&, PyObject* object, PyObject* attribute, PyObject* value) {
  return PyObject_SetAttr(object, attribute, value) == 0;
}
#else
PyObject* read_slot(slot& known, PyObject* object, PyObject* attribute) {
  if (!known.owner) find_slot(Py_TYPE(object), attribute, known);
  PyObject** place = known.in(object);
  return place && *place ? Py_NewRef(*place) : PyObject_GetAttr(object, attribute);
}

// Sets an attribute of a new object, whose slot is empty.
bool write_slot(slot& known, PyObject* object, PyObject* attribute, PyObject* value) {
  if (!known.owner) find_slot(Py_TYPE(object), attribute, known);
  PyObject** place = known.in(object);
  if (!place || *place) return PyObject_SetAttr(object, attribute, value) == 0;
  *place = Py_NewRef(value);
  return true;
}
#endif

PyObject* get_attribute(PyObject* self, PyObject* object) {
  const reference owner(read_slot(definition_of(self).read, object, part(self, source)));
  return owner ? PyObject_GetAttr(owner, part(self, name)) : nullptr;
}

// Calls a function of a module. A function of cuda.bindings needs no check of its result.
PyObject* call_with(PyObject* function, PyObject* argument) {
  using entry = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
  constexpr int convention = METH_FASTCALL | METH_KEYWORDS;
  if (!PyCFunction_CheckExact(function) || PyCFunction_GET_FLAGS(function) != convention)
    return PyObject_CallOneArg(function, argument);
  void* address = reinterpret_cast<void*>(PyCFunction_GET_FUNCTION(function));
  return reinterpret_cast<entry>(address)(PyCFunction_GET_SELF(function), &argument, 1, nullptr);
}

PyObject* value_of(PyObject* self, PyObject* handle) {
  if (part(self, name) == Py_None) return Py_NewRef(handle);
  const reference function(item_of(part(self, functions), part(self, name)));
  if (function) return call_with(function, handle);
  if (PyErr_Occurred()) return nullptr;
  const reference first(PyObject_GetAttr(part(self, module), part(self, name)));
  return first ? PyObject_CallOneArg(first, handle) : nullptr;
}

PyObject* query(PyObject* self, PyObject* object) {
  definition& own = definition_of(self);
  const reference handle(read_slot(own.read, object, part(self, source)));
  if (!handle) return nullptr;
  reference value(value_of(self, handle));
  if (!value || part(self, type) == Py_None) return value.release();
  auto* record_type = reinterpret_cast<PyTypeObject*>(part(self, type));
  reference record(record_type->tp_alloc(record_type, 0));
  if (!record || !write_slot(own.written, record, part(self, target), value)) return nullptr;
  return record.release();
}

}  // namespace

PyObject* property_getter(PyObject* parts) {
  const Py_ssize_t last = PyTuple_GET_SIZE(parts) - 1;
  const char* documentation = PyUnicode_AsUTF8(PyTuple_GET_ITEM(parts, last));
  if (!documentation) return nullptr;
  // The function holds its definition, as an object of the tuple.
  const definition own{
      {"get", last > 2 ? query : get_attribute, METH_O, documentation}, {nullptr, 0}, {nullptr, 0}};
  reference bytes(PyBytes_FromStringAndSize(reinterpret_cast<const char*>(&own), sizeof own));
  reference held(bytes ? PyTuple_Pack(1, bytes.get()) : nullptr);
  reference self(held ? PySequence_Concat(parts, held) : nullptr);
  return self ? PyCFunction_New(&definition_of(self).method, self) : nullptr;
}

}  // namespace halfwarp::bindings
