// SPDX-License-Identifier: Apache-2.0
// FastEnum and FastEnumMetaclass: behavior of members and of enumeration classes.
#include <cstring>

#include "bindings/errors/errors.hpp"
#include "bindings/numbers/numbers.hpp"
#include "bindings/objects/enum_type.hpp"
#include "bindings/threads/shared_objects.hpp"

namespace halfwarp::bindings {
namespace {

extern PyTypeObject metaclass;
extern enum_type base_class;

bool is_enum_class(PyTypeObject* type) {
  return type != &base_class.heap.ht_type &&
         PyObject_TypeCheck(reinterpret_cast<PyObject*>(type), &metaclass);
}

std::int64_t value_of(PyObject* member) {
  Py_ssize_t compact;
  if (compact_value(member, compact)) return compact;
  return std::int64_t(PyLong_AsUnsignedLongLongMask(member));
}

PyObject* digits_of(PyObject* member) { return PyLong_Type.tp_repr(member); }

// Converts an int to the 64-bit value of a member; false if no member of the class can have it.
bool is_in_range(const enum_type* type, PyObject* number, std::int64_t& value) {
  int overflow = 0;
  value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (!type->is_unsigned || (!overflow && value >= 0)) return !overflow;
  if (overflow <= 0) return false;
  value = std::int64_t(PyLong_AsUnsignedLongLong(number));
  bool is_too_large = PyErr_Occurred() != nullptr;
  if (is_too_large) PyErr_Clear();
  return !is_too_large;
}

const enum_entry* entry_of(PyObject* member) {
  return find_entry(as_enum(Py_TYPE(member)), value_of(member));
}

// ---- members

PyObject* member_name(PyObject* self, void*) {
  if (!is_enum_class(Py_TYPE(self))) Py_RETURN_NONE;
  const enum_entry* entry = entry_of(self);
  if (entry) return Py_NewRef(entry->name);
  return PyUnicode_FromFormat("UNKNOWN_%lld", value_of(self));
}

PyObject* member_value(PyObject* self, void*) {
  return number_of(as_enum(Py_TYPE(self)), value_of(self));
}

PyObject* member_represent(PyObject* self) {
  const reference name{member_name(self, nullptr)};
  const reference type_name{name ? PyType_GetName(Py_TYPE(self)) : nullptr};
  const reference digits{type_name ? digits_of(self) : nullptr};
  return digits ? PyUnicode_FromFormat("<%U.%U: %U>", type_name.get(), name.get(), digits.get())
                : nullptr;
}

// Formats a member as its representation; with a format specification, as a number.
PyObject* member_format(PyObject* self, PyObject* specification) {
  if (!PyUnicode_Check(specification)) return raise_expected("str", specification);
  if (PyUnicode_GET_LENGTH(specification) == 0) return member_represent(self);
  const reference number{member_value(self, nullptr)};
  return number ? PyObject_Format(number, specification) : nullptr;
}

PyObject* member_reduce(PyObject* self, PyObject*) {
  return Py_BuildValue("(O(N))", Py_TYPE(self), member_value(self, nullptr));
}

PyObject* member_itself(PyObject* self, PyObject*) { return Py_NewRef(self); }

PyMethodDef member_methods[] = {{"__format__", member_format, METH_O, nullptr},
                                {"__reduce__", member_reduce, METH_NOARGS, nullptr},
                                {"__copy__", member_itself, METH_NOARGS, nullptr},
                                {"__deepcopy__", member_itself, METH_O, nullptr},
                                {}};
PyGetSetDef member_properties[] = {
    {"name", member_name, nullptr, "The name that the header gives the value.", nullptr},
    {"value", member_value, nullptr, "The value as a plain int.", nullptr},
    {}};

// Base class of enumerations. Has the size of derived classes, since functions of the metaclass
// read their fields.
enum_type base_class = {
    .heap = {
        .ht_type = {
            .ob_base = {PyObject_HEAD_INIT(&metaclass) 0},
            .tp_name = "cuda.bindings._internal._fast_enum.FastEnum",
            .tp_repr = member_represent,
            .tp_str = member_represent,
            .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE,
            .tp_doc =
                "FastEnum(value)\n--\n\n"
                "An enumeration whose members are ints. `E(value)` is the member of that value.",
            .tp_methods = member_methods,
            .tp_getset = member_properties,
        }}};

// ---- `__doc__` of the class and of its members

// Lists the members, one per line, with their explanations.
PyObject* list_members(enum_type* type) {
  PyObject* text = PyUnicode_FromString("An enumeration of the C API.\n\nMembers:");
  for (Py_ssize_t i = 0; text && i < type->count; ++i) {
    const enum_entry& entry = type->entries[i];
    bool is_explained = entry.doc && *entry.doc;
    const reference digits{digits_of(entry.object)};
    PyObject* line =
        digits ? PyUnicode_FromFormat("%U\n    %U = %U%s%s", text, entry.name, digits.get(),
                                      is_explained ? ": " : "", is_explained ? entry.doc : "")
               : nullptr;
    Py_SETREF(text, line);
  }
  return text;
}

PyObject* read_doc(PyObject*, PyObject* member, PyObject* type) {
  auto* enum_class = as_enum(reinterpret_cast<PyTypeObject*>(type));
  if (!member || member == Py_None)
    return enum_class->doc ? Py_NewRef(enum_class->doc) : list_members(enum_class);
  const enum_entry* entry = entry_of(member);
  if (!entry || !entry->doc) Py_RETURN_NONE;
  return PyUnicode_FromString(entry->doc);
}

PyTypeObject doc_type = {
    .ob_base = {PyObject_HEAD_INIT(nullptr) 0},
    .tp_name = "cuda.bindings._low._enum_documentation",
    .tp_basicsize = sizeof(PyObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_descr_get = read_doc,
};
struct descriptor {
  PyObject_HEAD
};
descriptor doc_descriptor = {PyObject_HEAD_INIT(&doc_type)};

// ---- classes

PyObject* raise_invalid(PyTypeObject* type, PyObject* value) {
  const reference name{PyType_GetName(type)};
  if (name.get()) return raise_error(PyExc_ValueError, "%S is not a valid %U", value, name.get());
}

PyObject* call_slow(PyTypeObject* type, PyObject* value) {
  if (Py_TYPE(value) == type) return Py_NewRef(value);
  const reference number{PyIndex_Check(value) ? PyNumber_Index(value) : nullptr};
  std::int64_t integer;
  bool is_possible = number && is_in_range(as_enum(type), number, integer);
  if (!number && PyErr_Occurred()) return nullptr;
  const enum_entry* entry = is_possible ? find_entry(as_enum(type), integer) : nullptr;
  return entry ? Py_NewRef(entry->object) : raise_invalid(type, value);
}

// `E(value)`
PyObject* call_class(PyObject* callable, PyObject* const* args, std::size_t flagged,
                     PyObject* keywords) {
  auto* type = reinterpret_cast<PyTypeObject*>(callable);
  bool is_named = keywords && PyTuple_GET_SIZE(keywords) == 1 &&
                  PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, 0), "value") == 0;
  if (PyVectorcall_NARGS(flagged) + is_named != 1 ||
      (keywords && !is_named && PyTuple_GET_SIZE(keywords)))
    return raise_error(PyExc_TypeError, "%s() takes one value", type->tp_name);
  Py_ssize_t value;
  if (PyLong_CheckExact(args[0]) && compact_value(args[0], value) &&
      (value >= 0 || !as_enum(type)->is_unsigned)) [[likely]] {
    const enum_entry* entry = find_entry(as_enum(type), value);
    if (entry) return Py_NewRef(entry->object);
  }
  return call_slow(type, args[0]);
}

bool add_from_class_body(enum_type* type, PyObject* name, PyObject* value, PyObject* namespace_) {
  const char* text = PyUnicode_AsUTF8(name);
  if (!text || text[0] == '_') return text != nullptr;
  PyObject* number =
      PyTuple_Check(value) && PyTuple_GET_SIZE(value) == 2 ? PyTuple_GET_ITEM(value, 0) : value;
  if (!PyLong_Check(number)) return true;
  std::int64_t converted = PyLong_AsLongLong(number);
  if (converted == -1 && PyErr_Occurred()) return false;
  // the class is immortal, so its texts are never freed
  const char* doc =
      number == value ? nullptr : PyUnicode_AsUTF8(Py_NewRef(PyTuple_GET_ITEM(value, 1)));
  if (number != value && !doc) return false;
  return add_member(type, name, converted, doc, namespace_);
}

bool add_class_body(enum_type* type) {
  PyObject* namespace_ = type->heap.ht_type.tp_dict;
  const reference body{PyDict_Copy(namespace_)};
  PyObject *name, *value;
  Py_ssize_t at = 0;
  bool ok = body != nullptr;
  while (ok && PyDict_Next(body, &at, &name, &value))
    ok = add_from_class_body(type, name, value, namespace_);
  return ok && finish_members(type);
}

// `class E(FastEnum): NAME = value` or `NAME = (value, "text")`
PyObject* make_class(PyTypeObject* meta, PyObject* args, PyObject* keywords) {
  PyObject* cls = PyType_Type.tp_new(meta, args, keywords);
  if (!cls) return nullptr;
  auto* type = as_enum(reinterpret_cast<PyTypeObject*>(cls));
  if (!prepare_enum_class(type) || !add_class_body(type)) Py_CLEAR(cls);
  return cls;
}

PyObject* member_list(enum_type* type) {
  PyObject* list = PyList_New(type->count);
  for (Py_ssize_t i = 0; list && i < type->count; ++i)
    PyList_SET_ITEM(list, i, Py_NewRef(type->entries[i].object));
  return list;
}

PyObject* iterate(PyObject* self) {
  const reference list{member_list(as_enum(reinterpret_cast<PyTypeObject*>(self)))};
  return list ? PyObject_GetIter(list) : nullptr;
}

Py_ssize_t length(PyObject* self) { return as_enum(reinterpret_cast<PyTypeObject*>(self))->count; }

int contains(PyObject* self, PyObject* value) {
  if (!PyLong_Check(value)) return 0;
  const enum_type* type = as_enum(reinterpret_cast<PyTypeObject*>(self));
  std::int64_t integer;
  return is_in_range(type, value, integer) && find_entry(type, integer) != nullptr;
}

PyObject* by_name(PyObject* self, PyObject* name) {
  PyObject* names = names_of(as_enum(reinterpret_cast<PyTypeObject*>(self)));
  PyObject* member = names ? PyDict_GetItemWithError(names, name) : nullptr;
  if (!member && !PyErr_Occurred()) PyErr_SetObject(PyExc_KeyError, name);
  return Py_XNewRef(member);
}

PyObject* class_represent(PyObject* self) {
  const reference name{PyType_GetName(reinterpret_cast<PyTypeObject*>(self))};
  return name ? PyUnicode_FromFormat("<enum '%U'>", name.get()) : nullptr;
}

PyObject* members(PyObject* self, void*) {
  PyObject* names = names_of(as_enum(reinterpret_cast<PyTypeObject*>(self)));
  return names ? PyDictProxy_New(names) : nullptr;
}

PyGetSetDef class_properties[] = {
    {"__members__", members, nullptr, "All names, aliases included, with their members.", nullptr},
    {}};
PyMappingMethods class_mapping = {.mp_length = length, .mp_subscript = by_name};
PySequenceMethods class_sequence = {.sq_contains = contains};

PyTypeObject metaclass = {
    .ob_base = {PyObject_HEAD_INIT(nullptr) 0},
    .tp_name = "cuda.bindings._internal._fast_enum.FastEnumMetaclass",
    .tp_basicsize = sizeof(enum_type),
    .tp_vectorcall_offset = offsetof(PyTypeObject, tp_vectorcall),
    .tp_repr = class_represent,
    .tp_as_sequence = &class_sequence,
    .tp_as_mapping = &class_mapping,
    .tp_call = PyVectorcall_Call,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_TYPE_SUBCLASS |
                Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_doc = "The type of enumeration classes.",
    .tp_iter = iterate,
    .tp_getset = class_properties,
    .tp_base = &PyType_Type,
    .tp_new = make_class,
};

bool ready_types() {
  engine_lock lock;
  PyTypeObject& base = base_class.heap.ht_type;
  if (base.tp_flags & Py_TPFLAGS_READY) return true;
  base.tp_base = &PyLong_Type;
  base.tp_vectorcall = call_class;
  return PyType_Ready(&metaclass) == 0 && PyType_Ready(&doc_type) == 0 && PyType_Ready(&base) == 0;
}

}  // namespace

PyTypeObject* fast_enum() { return ready_types() ? &base_class.heap.ht_type : nullptr; }
PyTypeObject* fast_enum_metaclass() { return ready_types() ? &metaclass : nullptr; }

bool is_enum_member(PyObject* value) { return is_enum_class(Py_TYPE(value)); }

bool prepare_enum_class(enum_type* type) {
  PyTypeObject& slots = type->heap.ht_type;
  slots.tp_vectorcall = call_class;
  type->doc = slots.tp_doc ? PyUnicode_FromString(slots.tp_doc) : nullptr;
  return (type->doc || !PyErr_Occurred()) &&
         PyDict_SetItemString(slots.tp_dict, "__doc__",
                              reinterpret_cast<PyObject*>(&doc_descriptor)) == 0;
}

}  // namespace halfwarp::bindings
