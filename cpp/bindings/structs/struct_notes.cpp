// SPDX-License-Identifier: Apache-2.0
// Documentation and signature of struct classes, from the records of their fields.
#include "bindings/structs/structs.hpp"

#include <cstring>

namespace halfwarp::bindings {
namespace {

// The Python class of what a field holds, as a reader calls it.
const char* type_of(const library& lib, const field& f) {
  switch (f.k) {
    case kind::enumeration:
      return short_name(lib.enums[std::size_t(f.type)].name);
    case kind::handle32:
    case kind::handle64:
    case kind::structure:
      return short_name(lib.classes[std::size_t(f.type)].name);
    case kind::f32:
    case kind::f64:
      return "float";
    case kind::field_array:
    case kind::field_pointer_list:
      return "list";
    case kind::field_text:
    case kind::field_bytes:
      return "bytes";
    default:
      return "int";
  }
}

// The text of the record, which begins with a signature, and a line for each field.
PyObject* documentation(const library& lib, const class_record& record) {
  const char* end = std::strstr(record.doc, "--\n\n");
  PyObject* text = PyUnicode_FromString(end ? end + 4 : record.doc);
  if (text) Py_SETREF(text, PyUnicode_FromFormat("%U\n\nFields:", text));
  for_each_field(lib, record, [&](const field& f) {
    if (text)
      Py_SETREF(text, PyUnicode_FromFormat("%U\n    %s : %s%s", text, f.name.c_str(),
                                           type_of(lib, f), f.f & read_only ? ", read-only" : ""));
    return text != nullptr;
  });
  return text;
}

// inspect.Parameter(name, Parameter.<kind>, default=value)
bool add_parameter(PyObject* list, PyObject* cls, const char* name, const char* kind,
                   PyObject* value) {
  PyObject* made = nullptr;
  if (PyObject* word = PyObject_GetAttrString(cls, kind)) {
    const reference arguments{Py_BuildValue("(sN)", name, word)};
    const reference keywords{Py_BuildValue("{sO}", "default", value)};
    if (arguments && keywords) made = PyObject_Call(cls, arguments, keywords);
  }
  bool ok = made && PyList_Append(list, made) == 0;
  Py_XDECREF(made);
  return ok;
}

// `(_ptr=0, *, field=..., ...)`, as inspect.Signature
PyObject* signature(const library& lib, const class_record& record) {
  const reference inspect{PyImport_ImportModule("inspect")};
  const reference cls{inspect ? PyObject_GetAttrString(inspect, "Parameter") : nullptr};
  const reference zero{PyLong_FromLong(0)};
  const reference list{cls && zero ? PyList_New(0) : nullptr};
  bool ok = list && add_parameter(list, cls, "_ptr", "POSITIONAL_OR_KEYWORD", zero);
  if (ok && !(record.f & view_only))
    ok = for_each_field(lib, record, [&](const field& f) {
      return f.f & read_only || add_parameter(list, cls, f.name, "KEYWORD_ONLY", Py_Ellipsis);
    });
  return ok ? PyObject_CallMethod(inspect.get(), "Signature", "O", list.get()) : nullptr;
}

struct note {
  PyObject_HEAD const char* name;
  PyObject* (*make)(const library&, const class_record&);
};

// Asked of the class itself; an object and a subclass of the user's have no such attribute.
PyObject* read_note(PyObject* self, PyObject* object, PyObject* type) {
  const auto* asked = reinterpret_cast<note*>(self);
  auto* cls = reinterpret_cast<PyTypeObject*>(type);
  if ((object && object != Py_None) || (cls->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
    PyErr_SetString(PyExc_AttributeError, asked->name);
    return nullptr;
  }
  const class_type& made = class_of(cls);
  return asked->make(*made.lib, *made.record);
}

PyTypeObject note_type = {
    .ob_base = {PyObject_HEAD_INIT(nullptr) 0},
    .tp_name = "cuda.bindings._low._struct_note",
    .tp_basicsize = sizeof(note),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_descr_get = read_note,
};
note notes[] = {{PyObject_HEAD_INIT(&note_type) "__doc__", documentation},
                {PyObject_HEAD_INIT(&note_type) "__signature__", signature}};

}  // namespace

bool add_struct_notes(class_type& type) {
  if (!(note_type.tp_flags & Py_TPFLAGS_READY) && PyType_Ready(&note_type) < 0) return false;
  for (note& each : notes) {
    auto* object = reinterpret_cast<PyObject*>(&each);
    if (PyDict_SetItemString(type.type.tp_dict, each.name, object) < 0) return false;
  }
  return true;
}

}  // namespace halfwarp::bindings
