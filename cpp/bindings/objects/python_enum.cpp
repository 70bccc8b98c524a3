// SPDX-License-Identifier: Apache-2.0
// Enumerations as classes of Python's own `enum`, for the library whose programs ask for those.
#include "bindings/objects/class_type.hpp"
#include "bindings/objects/enum_type.hpp"
#include "bindings/threads/shared_objects.hpp"

namespace halfwarp::bindings {
namespace {

// Name -> plain int, aliases included, in the order of declaration.
PyObject* values_by_name(enum_type* made) {
  PyObject *names = names_of(made), *values = names ? PyDict_New() : nullptr, *name, *member;
  Py_ssize_t at = 0;
  while (values && PyDict_Next(names, &at, &name, &member)) {
    const reference value{PyNumber_Index(member)};
    const reference plain{value ? PyLong_FromLongLong(PyLong_AsLongLong(value)) : nullptr};
    if (!plain || PyDict_SetItem(values, name, plain) < 0) Py_CLEAR(values);
  }
  return values;
}

// `enum.IntEnum(name, values, module=module)`.
PyObject* call_functional_form(const char* name, PyObject* values, const char* module) {
  const reference package{PyImport_ImportModule("enum")};
  const reference base{package ? PyObject_GetAttrString(package, "IntEnum") : nullptr};
  const reference args{base ? Py_BuildValue("(sO)", name, values) : nullptr};
  const reference keywords{args ? Py_BuildValue("{ss}", "module", module) : nullptr};
  return keywords ? PyObject_Call(base, args, keywords) : nullptr;
}

bool explain(PyObject* object, PyObject* doc) {
  bool ok = doc && PyObject_SetAttrString(object, "__doc__", doc) == 0;
  Py_XDECREF(doc);
  return ok;
}

bool explain_members(PyObject* made, const enum_type* from) {
  for (Py_ssize_t i = 0; i < from->count; ++i) {
    const enum_entry& entry = from->entries[i];
    if (!entry.doc || !*entry.doc) continue;
    const reference member{PyObject_GetAttr(made, entry.name)};
    bool ok = member && explain(member, PyUnicode_FromString(entry.doc));
    if (!ok) return false;
  }
  return true;
}

PyObject* make(const library& lib, int index, enum_type* from) {
  const reference values{values_by_name(from)};
  if (!values) return nullptr;
  const char* name = short_name(lib.enums[std::size_t(index)].name);
  PyObject* made = call_functional_form(name, values, lib.module);
  auto* as_object = reinterpret_cast<PyObject*>(from);
  bool ok = made && explain(made, PyObject_GetAttrString(as_object, "__doc__")) &&
            explain_members(made, from);
  if (!ok) Py_CLEAR(made);
  return made;
}

}  // namespace

PyObject* python_enum(const library& lib, int index) {
  enum_type* from = ready_enum(lib, index);
  if (!from) return nullptr;
  engine_lock lock;
  if (!from->shown) from->shown = make(lib, index, from);
  return Py_XNewRef(from->shown);
}

}  // namespace halfwarp::bindings
