// SPDX-License-Identifier: Apache-2.0
// Handle objects: construction, the free list, value protocol.
#include <cstring>

#include "bindings/errors/errors.hpp"
#include "bindings/numbers/numbers.hpp"
#include "bindings/objects/class_type.hpp"
#include "bindings/objects/object_arguments.hpp"

namespace halfwarp::bindings {
namespace {

// Free list shared by all handle types, which have the same size; linked through `data`.
struct free_list {
  static constexpr int capacity = 128;
  handle_object* first;
  int length;
};
[[maybe_unused]] free_list recycled;

handle_object* allocate() {
#ifndef Py_GIL_DISABLED
  if (handle_object* object = recycled.first) [[likely]] {
    recycled.first = static_cast<handle_object*>(object->data);
    --recycled.length;
    return object;
  }
#endif
  auto* object = static_cast<handle_object*>(PyObject_Malloc(sizeof(handle_object)));
  if (!object) PyErr_NoMemory();
  return object;
}

void free_handle(PyObject* self) {
  auto* object = as_handle(self);
  if (object->data != &object->value) Py_XDECREF(reinterpret_cast<PyObject*>(object->value));
  PyTypeObject* type = Py_TYPE(self);
  if (type->tp_flags & Py_TPFLAGS_HEAPTYPE) {
    type->tp_free(self);
    return;
  }
#ifndef Py_GIL_DISABLED
  if (recycled.length < free_list::capacity) [[likely]] {
    object->data = recycled.first;
    recycled.first = object;
    ++recycled.length;
    return;
  }
#endif
  PyObject_Free(self);
}

// Creates an instance of a ready class.
PyObject* make_instance(class_type& type) {
  handle_object* object = allocate();
  if (!object) return nullptr;
  PyObject_Init(reinterpret_cast<PyObject*>(object), &type.type);
  object->value = 0;
  object->data = &object->value;
  return reinterpret_cast<PyObject*>(object);
}

const class_record& record_of(PyObject* self) { return *class_of(Py_TYPE(self)).record; }

// Out of line, like all rare paths: inlined, it would make the common path save registers.
[[gnu::noinline]] bool set_value_slow(const class_record& record, PyObject* value, word& out) {
  word converted;
  if (!integer_slow(value, integer_kind_of(record), converted))
    return add_argument_context(record, "init_value");
  out = 0;
  std::memcpy(&out, &converted, record.size);
  return true;
}

bool set_value(const class_record& record, PyObject* value, word& out) {
  if (PyLong_Check(value)) [[likely]] {
    if (digit_value(value, out) || (record.size == 8 && two_digit_value(value, out))) return true;
  }
  return set_value_slow(record, value, out);
}

PyObject* finish(PyObject* self, const constructor_arguments& arguments) {
  if (!self) return nullptr;
  auto* object = as_handle(self);
  object->value = 0;
  object->data = arguments.data ? arguments.data : &object->value;
  if (arguments.value && !arguments.data &&
      !set_value(record_of(self), arguments.value, object->value)) {
    Py_DECREF(self);
    return nullptr;
  }
  return self;
}

[[gnu::noinline]] PyObject* construct(class_type& type, PyObject* const* args, Py_ssize_t n,
                                      PyObject* keywords) {
  constructor_arguments arguments;
  if (!arguments.parse(*type.record, args, n, keywords, true)) return nullptr;
  return finish(make_instance(type), arguments);
}

PyObject* vectorcall(PyObject* callable, PyObject* const* args, std::size_t flagged,
                     PyObject* keywords) {
  auto& type = *reinterpret_cast<class_type*>(callable);
  Py_ssize_t n = PyVectorcall_NARGS(flagged);
  if (n != 1 || keywords) [[unlikely]]
    return construct(type, args, n, keywords);
  PyObject* self = make_instance(type);
  if (self && !set_value(*type.record, args[0], as_handle(self)->value)) Py_CLEAR(self);
  return self;
}

// Creates an instance of a user's subclass, from a tuple and a dictionary.
PyObject* make(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  constructor_arguments arguments;
  if (!arguments.parse(*class_of(type).record, args, keywords, true)) return nullptr;
  return finish(type->tp_alloc(type, 0), arguments);
}

PyObject* as_integer(PyObject* self) {
  const class_record& record = record_of(self);
  word value = load_handle(self, record.size);
  return record.is_signed ? PyLong_FromLong(std::int32_t(value))
                          : PyLong_FromUnsignedLongLong(value);
}

// Returns the class to print: a class derived from a driver class prints the driver's name.
const class_record& root_of(const class_type& type) {
  const library* owner = type.lib->extras_of(*type.record).owner_of_base;
  return owner ? owner->classes[std::size_t(type.record->base)] : *type.record;
}

PyObject* represent(PyObject* self) {
  const class_record& record = record_of(self);
  word value = load_handle(self, record.size);
  const char* name = short_name(root_of(class_of(Py_TYPE(self))).name);
  if (record.f & opaque) return PyUnicode_FromFormat("<%s %s>", name, hexadecimal{value}.text);
  if (record.is_signed) return PyUnicode_FromFormat("<%s %d>", name, std::int32_t(value));
  return PyUnicode_FromFormat("<%s %llu>", name, value);
}

Py_hash_t hash(PyObject* self) {
  PyObject* value = as_integer(self);
  if (!value) return failed;
  Py_hash_t result = PyObject_Hash(value);
  Py_DECREF(value);
  return result;
}

// Compares handles: equal if they have the same class (or a subclass) and value. An int is no
// handle.
PyObject* compare(PyObject* self, PyObject* other, int operation) {
  if (operation != Py_EQ && operation != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  class_type& type = class_of(Py_TYPE(self));
  if (!PyType_IsSubtype(Py_TYPE(other), &type.type)) Py_RETURN_NOTIMPLEMENTED;
  bool equal = load_handle(self, type.record->size) == load_handle(other, type.record->size);
  return PyBool_FromLong(equal == (operation == Py_EQ));
}

PyObject* get_ptr(PyObject* self, PyObject*) { return PyLong_FromVoidPtr(as_handle(self)->data); }

PyObject* reject_pickling(PyObject* self, PyObject*) {
  return raise_error(PyExc_TypeError,
                     "cannot pickle '%s' object: a handle means nothing in another process",
                     Py_TYPE(self)->tp_name);
}

PyObject* stream_protocol(PyObject* self, PyObject*) {
  return Py_BuildValue("(iN)", 0, as_integer(self));
}

PyMethodDef methods[] = {{"getPtr", get_ptr, METH_NOARGS,
                          "getPtr($self)\n--\n\nAddress of the stored handle. Host only."},
                         {"__reduce__", reject_pickling, METH_NOARGS, nullptr},
                         {}};
PyMethodDef stream_methods[] = {
    methods[0],
    methods[1],
    {"__cuda_stream__", stream_protocol, METH_NOARGS,
     "__cuda_stream__($self)\n--\n\nProtocol version and handle, for other libraries. Host only."},
    {}};

PyNumberMethods number_protocol = {.nb_int = as_integer, .nb_index = as_integer};

}  // namespace

PyObject* new_handle(const library& lib, int type) {
  class_type* ready = ready_class(lib, type);
  return ready ? make_instance(*ready) : nullptr;
}

PyObject* new_handle_view(const library& lib, int type, void* data, PyObject* owner) {
  PyObject* object = new_handle(lib, type);
  if (!object) return nullptr;
  as_handle(object)->data = data;
  as_handle(object)->value = reinterpret_cast<word>(Py_XNewRef(owner));
  return object;
}

namespace {

bool set_slots(class_type& type) {
  PyTypeObject& slots = type.type;
  slots.tp_basicsize = sizeof(handle_object);
  slots.tp_new = make;
  slots.tp_vectorcall = vectorcall;
  slots.tp_dealloc = free_handle;
  slots.tp_repr = represent;
  slots.tp_as_number = &number_protocol;
  slots.tp_methods =
      std::strcmp(short_name(type.record->name), "CUstream") == 0 ? stream_methods : methods;
  slots.tp_doc = type.record->doc;
  if (type.record->f & compares) {
    slots.tp_hash = hash;
    slots.tp_richcompare = compare;
  }
  return true;
}

}  // namespace

const class_family handle_family = {set_slots};

}  // namespace halfwarp::bindings
