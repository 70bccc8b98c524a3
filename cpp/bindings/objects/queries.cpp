// SPDX-License-Identifier: Apache-2.0
#include "bindings/objects/queries.hpp"

#include <structmember.h>

#include <cstddef>
#include <cstdint>

#include "bindings/records/reference.hpp"
#include "bindings/threads/shared_objects.hpp"

namespace halfwarp::bindings {
namespace {

constexpr int most_arguments = 3;

enum part_index { declaration, arguments, name, module, type, target };

// The place of an attribute in objects of a class with `__slots__`.
struct slot {
  PyTypeObject* owner;  // the class that declares the slot; null: not known
  Py_ssize_t offset;

  PyObject** in(PyObject* object) const {
    if (!owner || !PyObject_TypeCheck(object, owner)) return nullptr;
    return reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + offset);
  }
};

struct query {
  PyObject ob_base;
  vectorcallfunc call;
  PyObject* (*answer)(query&, PyObject*);
  PyObject* parts;
  PyObject* names;        // the module's dictionary; null: not known
  PyObject* known;        // the function, or the descriptor of the member; null: not known
  std::uint64_t version;  // of the dictionary that has the known function
  PyTypeObject* owner;    // the class of the objects with the member; null: not known
  slot read[most_arguments], written;
  PyGetSetDef property;  // of the class, if the query is a property
};

PyObject* part(const query& self, part_index at) { return PyTuple_GET_ITEM(self.parts, at); }

// Finds the slot of an attribute, if the class declares one, which keeps the class. A slot of a
// class never moves. An attribute of another kind is no error.
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

// Calls the getter of a member that `find_member` found, without a lookup of its name.
PyObject* known_member(query& self, PyObject* owner) {
  const PyGetSetDef& member = *reinterpret_cast<PyGetSetDescrObject*>(self.known)->d_getset;
  return member.get(owner, member.closure);
}

#ifdef Py_GIL_DISABLED
void find_member(query&, PyObject*) {}  // another thread may read the member at the same time
#else
// Finds the descriptor of the member in the immutable class of its owner, if there is one.
void find_member(query& self, PyObject* owner) {
  PyTypeObject* cls = Py_TYPE(owner);
  const bool is_fixed = cls->tp_flags & Py_TPFLAGS_IMMUTABLETYPE;
  if (!is_fixed || self.owner || cls->tp_getattro != PyObject_GenericGetAttr) return;
  reference member(PyObject_GetAttr(reinterpret_cast<PyObject*>(cls), part(self, name)));
  if (!member) return PyErr_Clear();
  if (!Py_IS_TYPE(member.get(), &PyGetSetDescr_Type)) return;
  self.known = member.release();
  self.owner = cls;
}
#endif

PyObject* read_member(query& self, PyObject* object) {
  PyObject* attribute = PyTuple_GET_ITEM(part(self, arguments), 0);
  const reference owner(read_slot(self.read[0], object, attribute));
  if (!owner) return nullptr;
  if (self.owner == Py_TYPE(owner.get())) return known_member(self, owner);
  find_member(self, owner);
  return PyObject_GetAttr(owner, part(self, name));
}

#if defined(Py_GIL_DISABLED) || PY_VERSION_HEX >= 0x030E0000
PyObject* function_in(query& self, PyObject* names) { return item_of(names, part(self, name)); }
#else
// The version of a dictionary, which each change of it replaces. Python 3.12 and 3.13 call it
// deprecated, and have it.
std::uint64_t version_of(PyObject* dictionary) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  return reinterpret_cast<PyDictObject*>(dictionary)->ma_version_tag;
#pragma GCC diagnostic pop
}

// A lookup takes a tenth of the time of a short query.
PyObject* function_in(query& self, PyObject* names) {
  const std::uint64_t version = version_of(names);
  if (version != self.version) {
    PyObject* function = item_of(names, part(self, name));
    if (!function) return nullptr;
    Py_XSETREF(self.known, function);
    self.version = version;
  }
  return Py_NewRef(self.known);
}
#endif

// Returns the function that the module has now: a new reference, nullptr with an error set. The
// first call imports the module, whose dictionary its proxy has from then on.
PyObject* function_of(query& self) {
  PyObject* names = published(&self.names);
  PyObject* function = names ? function_in(self, names) : nullptr;
  if (function || PyErr_Occurred()) return function;
  function = PyObject_GetAttr(part(self, module), part(self, name));
  if (!function || names) return function;
  names = PyObject_GenericGetDict(part(self, module), nullptr);
  if (names)
    publish(&self.names, names);
  else
    Py_CLEAR(function);
  return function;
}

// Calls a function of a module. A function of cuda.bindings needs no check of its result.
PyObject* call_with(PyObject* function, PyObject* const* values, Py_ssize_t n) {
  using entry = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
  constexpr int convention = METH_FASTCALL | METH_KEYWORDS;
  if (!PyCFunction_CheckExact(function) || PyCFunction_GET_FLAGS(function) != convention)
    return PyObject_Vectorcall(function, values, std::size_t(n), nullptr);
  void* address = reinterpret_cast<void*>(PyCFunction_GET_FUNCTION(function));
  return reinterpret_cast<entry>(address)(PyCFunction_GET_SELF(function), values, n, nullptr);
}

// Returns the result of the function, or the first argument of a query without a function.
PyObject* value_of(query& self, PyObject* const* values, Py_ssize_t n) {
  if (part(self, name) == Py_None) return Py_NewRef(values[0]);
  const reference function(function_of(self));
  return function ? call_with(function, values, n) : nullptr;
}

PyObject* call_with_attributes(query& self, PyObject* object) {
  PyObject *values[most_arguments]{}, *sources = part(self, arguments), *result = nullptr;
  Py_ssize_t n = 0;
  for (; n < PyTuple_GET_SIZE(sources); ++n) {
    PyObject* source = PyTuple_GET_ITEM(sources, n);
    values[n] =
        PyUnicode_CheckExact(source) ? read_slot(self.read[n], object, source) : Py_NewRef(source);
    if (!values[n]) break;
  }
  if (n == PyTuple_GET_SIZE(sources)) result = value_of(self, values, n);
  while (n--) Py_DECREF(values[n]);
  return result;
}

// A query of a function with one attribute needs no list of values.
PyObject* call_with_attribute(query& self, PyObject* object) {
  PyObject* source = PyTuple_GET_ITEM(part(self, arguments), 0);
  const reference value(read_slot(self.read[0], object, source));
  PyObject* only = value.get();
  return only ? value_of(self, &only, 1) : nullptr;
}

PyObject* make_record(query& self, PyObject* object) {
  const reference value(call_with_attribute(self, object));
  if (!value) return nullptr;
  auto* record_type = reinterpret_cast<PyTypeObject*>(part(self, type));
  reference record(record_type->tp_alloc(record_type, 0));
  if (!record || !write_slot(self.written, record, part(self, target), value)) return nullptr;
  return record.release();
}

// --- the type --------------------------------------------------------------------------------

query& query_of(PyObject* object) { return *reinterpret_cast<query*>(object); }

PyObject* call(PyObject* object, PyObject* const* args, std::size_t flagged, PyObject* names) {
  query& self = query_of(object);
  if (PyVectorcall_NARGS(flagged) == 1 && !names) return self.answer(self, args[0]);
  return PyObject_Vectorcall(part(self, declaration), args, flagged, names);
}

PyObject* bind(PyObject* self, PyObject* object, PyObject*) {
  return object ? PyMethod_New(self, object) : Py_NewRef(self);
}

// The query has the attributes of its declaration.
PyObject* attribute_of(PyObject* self, PyObject* attribute) {
  PyObject* function = part(query_of(self), declaration);
  if (PyUnicode_CompareWithASCIIString(attribute, "__wrapped__") == 0) return Py_NewRef(function);
  PyObject* own = PyUnicode_CompareWithASCIIString(attribute, "__doc__") == 0
                      ? nullptr
                      : PyObject_GenericGetAttr(self, attribute);
  if (own || (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_AttributeError))) return own;
  PyErr_Clear();
  return PyObject_GetAttr(function, attribute);
}

void destroy(PyObject* object) {
  query& self = query_of(object);
  Py_XDECREF(self.names);
  Py_XDECREF(self.known);
  for (const slot& each : self.read) Py_XDECREF(each.owner);
  Py_XDECREF(self.written.owner);
  Py_DECREF(self.parts);
  PyObject_Free(object);
}

PyTypeObject query_type = {
    .ob_base = {PyObject_HEAD_INIT(nullptr) 0},
    .tp_name = "cuda.bindings._low.query",
    .tp_basicsize = sizeof(query),
    .tp_dealloc = destroy,
    .tp_vectorcall_offset = offsetof(query, call),
    .tp_call = PyVectorcall_Call,
    .tp_getattro = attribute_of,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_doc = "A member that asks a library.",
    .tp_descr_get = bind,
};

bool ready_query_type() {
  engine_lock lock;
  return (query_type.tp_flags & Py_TPFLAGS_READY) || PyType_Ready(&query_type) == 0;
}

PyObject* get_property(PyObject* object, void* closure) {
  query& self = *static_cast<query*>(closure);
  return self.answer(self, object);
}

}  // namespace

PyObject* new_query(PyObject* parts) {
  const bool is_member = PyTuple_GET_SIZE(parts) <= module;
  if (!ready_query_type()) return nullptr;
  auto* self = static_cast<query*>(PyObject_Calloc(1, sizeof(query)));
  if (!self) return PyErr_NoMemory();
  self->call = call;
  self->parts = Py_NewRef(parts);
  self->answer = is_member                                       ? read_member
                 : part(*self, type) != Py_None                  ? make_record
                 : PyTuple_GET_SIZE(part(*self, arguments)) == 1 ? call_with_attribute
                                                                 : call_with_attributes;
  return PyObject_Init(reinterpret_cast<PyObject*>(self), &query_type);
}

PyObject* query_property(PyObject* object, PyObject* cls, PyObject* attribute) {
  if (!Py_IS_TYPE(object, &query_type) || !PyType_Check(cls)) return Py_NewRef(Py_None);
  query& self = query_of(object);
  reference documentation(PyObject_GetAttrString(object, "__doc__"));
  const char* text = documentation ? PyUnicode_AsUTF8(documentation) : nullptr;
  if (!text) return nullptr;
  (void)documentation.release();
  self.property = {PyUnicode_AsUTF8(Py_NewRef(attribute)), get_property, nullptr, text, &self};
  Py_INCREF(object);
  return PyDescr_NewGetSet(reinterpret_cast<PyTypeObject*>(cls), &self.property);
}

}  // namespace halfwarp::bindings
