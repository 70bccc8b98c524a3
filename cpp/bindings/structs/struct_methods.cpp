// SPDX-License-Identifier: Apache-2.0
// Methods of struct classes; documentation and signature, derived from the records of their fields.
#include "bindings/structs/structs.hpp"

#include <cstring>

#include "bindings/errors/errors.hpp"
#include "bindings/numbers/numbers.hpp"
#include "bindings/objects/class_type.hpp"
#include "bindings/objects/keep_alive.hpp"

namespace halfwarp::bindings {
namespace {

// Returns the name of the Python class of a field, for documentation.
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

// Returns the text of the record after its signature, and a line for each field.
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

// Adds inspect.Parameter(name, Parameter.<kind>, default=value).
bool add_parameter(PyObject* list, PyObject* cls, const char* name, const char* kind,
                   PyObject* value) {
  PyObject* parameter = nullptr;
  if (PyObject* word = PyObject_GetAttrString(cls, kind)) {
    const reference arguments{Py_BuildValue("(sN)", name, word)};
    const reference keywords{Py_BuildValue("{sO}", "default", value)};
    if (arguments && keywords) parameter = PyObject_Call(cls, arguments, keywords);
  }
  bool ok = parameter && PyList_Append(list, parameter) == 0;
  Py_XDECREF(parameter);
  return ok;
}

// Returns the inspect.Signature `(_ptr=0, *, field=..., ...)`.
PyObject* signature(const library& lib, const class_record& record) {
  const reference inspect{PyImport_ImportModule("inspect")};
  const reference cls{inspect ? PyObject_GetAttrString(inspect, "Parameter") : nullptr};
  const reference zero{PyLong_FromLong(0)};
  const reference list{cls && zero ? PyList_New(0) : nullptr};
  bool ok = list && add_parameter(list, cls, "_ptr", "POSITIONAL_OR_KEYWORD", zero);
  if (ok && !(record.f & view_only))
    ok = for_each_field(lib, record, [&](const field& f) {
      return f.f & (read_only | is_joint) ||
             add_parameter(list, cls, f.name, "KEYWORD_ONLY", Py_Ellipsis);
    });
  return ok ? PyObject_CallMethod(inspect.get(), "Signature", "O", list.get()) : nullptr;
}

struct note {
  PyObject_HEAD const char* name;
  PyObject* (*make)(const library&, const class_record&);
};

// Returns the attribute of the class itself; instances and user subclasses do not have it.
PyObject* read_note(PyObject* self, PyObject* object, PyObject* type) {
  const auto* descriptor = reinterpret_cast<note*>(self);
  auto* cls = reinterpret_cast<PyTypeObject*>(type);
  if ((object && object != Py_None) || (cls->tp_flags & Py_TPFLAGS_HEAPTYPE))
    return raise_error(PyExc_AttributeError, descriptor->name);
  const class_type& class_ = class_of(cls);
  return descriptor->make(*class_.lib, *class_.record);
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

PyObject* get_ptr(PyObject* self, PyObject*) { return PyLong_FromVoidPtr(as_storage(self)->data); }

PyObject* copy(PyObject* self, PyObject*) {
  class_type& type = class_of(Py_TYPE(self));
  PyObject* object = new_struct(*type.lib, index_of(type));
  if (!object) return nullptr;
  if (copy_struct(as_storage(object), as_storage(object)->data, as_storage(self),
                  as_storage(self)->data, type.record->size) < 0)
    Py_CLEAR(object);
  return object;
}

PyObject* deep_copy(PyObject* self, PyObject*) { return copy(self, nullptr); }

PyObject* as_dict(PyObject* self, PyObject*) {
  class_type& type = class_of(Py_TYPE(self));
  PyObject* dict = PyDict_New();
  bool ok = dict && for_each_field(*type.lib, *type.record, [&](const field& f) {
              PyObject* value = read_field(*type.lib, f, self);
              if (value && f.k == kind::structure) Py_SETREF(value, as_dict(value, nullptr));
              bool stored = value && PyDict_SetItemString(dict, f.name, value) == 0;
              Py_XDECREF(value);
              return stored;
            });
  if (!ok) Py_CLEAR(dict);
  return dict;
}

bool is_pointer(const field& f) {
  return f.k == kind::address || f.k == kind::kernel_params || f.k == kind::field_pointer_list ||
         f.k == kind::handle64;
}

bool is_union(const library& lib, const class_record& record) {
  if (record.base >= 0) return is_union(lib, lib.classes[std::size_t(record.base)]);
  std::span<const field> fields = lib.fields_of(record);
  return fields.size() > 1 && fields[0].offset == fields[1].offset;
}

// Rejects addresses and handles, which are invalid in another process. Accepts a union unchecked:
// nothing states whether its bytes are an address or a number.
bool check_no_addresses(const library& lib, const class_record& record, const char* memory) {
  if (is_union(lib, record)) return true;
  return for_each_field(lib, record, [&](const field& f) -> bool {
    if (f.k == kind::structure)
      return check_no_addresses(lib, lib.classes[std::size_t(f.type)], memory + f.offset);
    word value = 0;
    if (is_pointer(f)) std::memcpy(&value, memory + f.offset, sizeof value);
    if (!value) return true;
    return raise_error(PyExc_TypeError, "cannot pickle %s: '%s' holds an address or a handle",
                       short_name(record.name), f.name.c_str());
  });
}

PyObject* reduce(PyObject* self, PyObject*) {
  class_type& type = class_of(Py_TYPE(self));
  auto* memory = static_cast<const char*>(as_storage(self)->data);
  if (!check_no_addresses(*type.lib, *type.record, memory)) return nullptr;
  return pickled_struct(self, PyBytes_FromStringAndSize(memory, type.record->size));
}

PyObject* indented(PyObject* text) {
  const reference newline{PyUnicode_FromString("\n")};
  const reference wide{PyUnicode_FromString("\n    ")};
  return newline && wide ? PyUnicode_Replace(text, newline, wide, -1) : nullptr;
}

// Puts a multi-line text, or a list of structs, below its name.
PyObject* labeled(const field& f, PyObject* text, bool is_below) {
  if (!text) return nullptr;
  if (!is_below) return PyUnicode_FromFormat("%s : %U", f.name.c_str(), text);
  if (!PyUnicode_GET_LENGTH(text)) return PyUnicode_FromFormat("%s :\n", f.name.c_str());
  const reference inner{indented(text)};
  return inner ? PyUnicode_FromFormat("%s :\n    %U", f.name.c_str(), inner.get()) : nullptr;
}

// Formats the value of a field; bytes of identifier size are hexadecimal.
PyObject* text_of(const field& f, PyObject* value) {
  constexpr int most_of_identifier = 16;
  bool is_identifier = f.k == kind::field_bytes && f.size <= most_of_identifier;
  if (is_identifier) return PyObject_CallMethod(value, "hex", nullptr);
  if (f.k == kind::field_text) return PyUnicode_FromEncodedObject(value, "utf-8", "replace");
  if (f.k == kind::address && !(f.f & prints_as_number))
    return PyUnicode_FromString(hexadecimal{PyLong_AsUnsignedLongLong(value)}.text);
  return PyObject_Repr(value);
}

// Returns `name : value`; a ValueError of the getter is shown by its name.
PyObject* line_of(const library& lib, const field& f, PyObject* self) {
  const reference value{read_field(lib, f, self)};
  if (!value) {
    if (!PyErr_ExceptionMatches(PyExc_ValueError)) return nullptr;
    PyErr_Clear();
    return PyUnicode_FromFormat("%s : <ValueError>", f.name.c_str());
  }
  bool has_structs =
      f.element == kind::structure && PyList_Check(value) && PyList_GET_SIZE(value.get());
  const reference text{text_of(f, value)};
  return labeled(f, text, has_structs || f.k == kind::structure);
}

}  // namespace

bool add_struct_notes(class_type& type) {
  if (!(note_type.tp_flags & Py_TPFLAGS_READY) && PyType_Ready(&note_type) < 0) return false;
  for (note& each : notes) {
    auto* object = reinterpret_cast<PyObject*>(&each);
    if (PyDict_SetItemString(type.type.tp_dict, each.name, object) < 0) return false;
  }
  return true;
}

PyObject* represent_struct(PyObject* self) {
  class_type& type = class_of(Py_TYPE(self));
  PyObject* lines = PyList_New(0);
  bool ok = lines && for_each_field(*type.lib, *type.record, [&](const field& f) {
              return f.f & is_hidden || append(lines, line_of(*type.lib, f, self));
            });
  if (!ok) Py_CLEAR(lines);
  return joined("\n", lines);
}

PyObject* struct_with_contents(PyObject* called, class_type& type, const Py_buffer& contents) {
  if (type.record->size != contents.len) return nullptr;
  PyObject* object = PyObject_CallNoArgs(called);
  if (object) std::memcpy(as_storage(object)->data, contents.buf, std::size_t(contents.len));
  return object;
}

namespace {

const class_record& record_with_lists(const class_type& type) {
  const class_record* record = type.record;
  while (!type.lib->extras_of(*record).joint) record = &type.lib->classes[record->base];
  return *record;
}

// Orders the arguments like the lists, by position or keyword; false with an error set.
bool bind_lists(const joint_lists& joint, PyObject* const* args, Py_ssize_t n, PyObject* names,
                PyObject** bound) {
  Py_ssize_t expected = std::ssize(joint.lists), count = n + (names ? PyTuple_GET_SIZE(names) : 0);
  if (count != expected || n > expected)
    return raise_error(PyExc_TypeError, "%s() takes %zd lists, got %zd", joint.method, expected,
                       count);
  for (Py_ssize_t i = 0; i < expected; ++i) {
    bound[i] = i < n ? args[i] : nullptr;
    for (Py_ssize_t k = 0; names && !bound[i] && k < PyTuple_GET_SIZE(names); ++k)
      if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, k), joint.lists[i]) == 0)
        bound[i] = args[n + k];
    if (bound[i]) continue;
    return raise_error(PyExc_TypeError, "%s() missing required argument '%s'", joint.method,
                       joint.lists[i]);
  }
  return true;
}

// Returns the length that all lists share; -1 with an error set.
Py_ssize_t common_length(const joint_lists& joint, PyObject* const* bound) {
  Py_ssize_t length = PyObject_Length(bound[0]);
  for (std::size_t i = 1; length >= 0 && i < joint.lists.size(); ++i) {
    Py_ssize_t other = PyObject_Length(bound[i]);
    if (other == length) continue;
    if (other >= 0)
      return raise_error(PyExc_ValueError, "%s() lists differ in length: %s has %zd, %s has %zd",
                         joint.method, joint.lists[0], length, joint.lists[i], other);
  }
  return length;
}

PyObject* set_jointly(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  constexpr std::size_t most = 4;
  const class_type& type = class_of(Py_TYPE(self));
  const class_record& record = record_with_lists(type);
  const joint_lists& joint = *type.lib->extras_of(record).joint;
  PyObject* bound[most];
  if (!bind_lists(joint, args, n, names, bound)) return nullptr;
  Py_ssize_t length = common_length(joint, bound);
  const reference count{length < 0 ? nullptr : PyLong_FromSsize_t(length)};
  bool ok = count &&
            store_field(*type.lib, *find_field(*type.lib, record, joint.count), self, count) == 0;
  for (std::size_t i = 0; ok && i < joint.lists.size(); ++i)
    ok =
        store_field(*type.lib, *find_field(*type.lib, record, joint.lists[i]), self, bound[i]) == 0;
  return ok ? Py_NewRef(Py_None) : nullptr;
}

}  // namespace

const char* joint_method_of(PyObject* self) {
  const class_type& type = class_of(Py_TYPE(self));
  return type.lib->extras_of(record_with_lists(type)).joint->method;
}

PyMethodDef* methods_of(const library& lib, const class_record& record) {
  const joint_lists* joint = lib.extras_of(record).joint;
  if (!joint) return struct_methods;
  std::size_t n = 0;
  while (struct_methods[n].ml_name) ++n;
  auto* methods = static_cast<PyMethodDef*>(PyMem_Calloc(n + 2, sizeof(PyMethodDef)));
  if (!methods) return PyErr_NoMemory(), nullptr;
  std::memcpy(methods, struct_methods, n * sizeof(PyMethodDef));
  methods[n] = {joint->method,
                reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(set_jointly)),
                METH_FASTCALL | METH_KEYWORDS, joint->doc};
  return methods;
}

PyMethodDef struct_methods[] = {
    {"getPtr", get_ptr, METH_NOARGS,
     "getPtr($self)\n--\n\nReturn the address of the C struct. Host only."},
    {"copy", copy, METH_NOARGS,
     "copy($self)\n--\n\nReturn a copy that owns its memory. Host only."},
    {"asdict", as_dict, METH_NOARGS,
     "asdict($self)\n--\n\nReturn field names and values; nested structs as dictionaries. Host "
     "only."},
    {"__dir__", list_attributes, METH_NOARGS, nullptr},
    {"__copy__", copy, METH_NOARGS, nullptr},
    {"__deepcopy__", deep_copy, METH_O, nullptr},
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {}};

}  // namespace halfwarp::bindings
