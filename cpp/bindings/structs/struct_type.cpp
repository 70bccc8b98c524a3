// SPDX-License-Identifier: Apache-2.0
// Struct objects: construction, lifetime, representation, buffer protocol.
#include <cstring>
#include <utility>

#include "bindings/errors/errors.hpp"
#include "bindings/numbers/numbers.hpp"
#include "bindings/objects/class_type.hpp"
#include "bindings/objects/keep_alive.hpp"
#include "bindings/structs/structs.hpp"

namespace halfwarp::bindings {
namespace {

// Frees dormant views. A live view of a field holds a reference to its parent, so a parent that is
// destroyed has only dormant views.
void free_children(struct_object* object) {
  int n = class_of(Py_TYPE(reinterpret_cast<PyObject*>(object))).record->children;
  for (int i = 0; i < n; ++i) {
    PyObject* child = object->children[i];
    if (!child) continue;
    if (as_struct(child)->children) free_children(as_struct(child));
    PyObject_Free(child);
  }
  PyMem_Free(object->children);
}

void* allocate(class_type& type) {
  if (void* spare = pop_spare(type)) return spare;
  void* memory = PyObject_Malloc(std::size_t(type.type.tp_basicsize) + struct_slack);
  return memory ? memory : PyErr_NoMemory();
}

void release(PyObject* self, class_type& type) {
  if (!store_spare(type, self)) PyObject_Free(self);
}

// Creates a zeroed instance of a ready class.
PyObject* make_instance(class_type& type) {
  auto* object = static_cast<struct_object*>(allocate(type));
  if (!object) return nullptr;
  std::memset(static_cast<void*>(&object->data), 0,
              std::size_t(type.type.tp_basicsize) - sizeof(PyObject));
  PyObject_Init(reinterpret_cast<PyObject*>(object), &type.type);
  object->data = storage_of(object, type.record->alignment);
  if (type.record->initial) std::memcpy(object->data, type.record->initial, type.record->size);
  return reinterpret_cast<PyObject*>(object);
}

bool is_foreign(const struct_object* object, const class_record& record) {
  return !object->owner && object->data != storage_of(object, record.alignment);
}

void free_struct(PyObject* self) {
  auto* object = as_struct(self);
  if (object->refs && is_foreign(object, *class_of(Py_TYPE(self)).record)) [[unlikely]]
    clear_owned_arrays(object);
  Py_CLEAR(object->refs);
  PyObject* owner = std::exchange(object->owner, nullptr);
  if (object->child_of_owner) return Py_XDECREF(owner);  // dormant in the owner; this may free it
  if (object->children) free_children(object);
  Py_XDECREF(owner);
  PyTypeObject* type = Py_TYPE(self);
  if (type->tp_flags & Py_TPFLAGS_HEAPTYPE) {
    type->tp_free(self);
  } else {
    release(self, class_of(type));
  }
}

// Sets a field from a keyword of the constructor.
bool set_field(PyObject* self, const class_type& type, PyObject* name, PyObject* value) {
  const char* text = PyUnicode_AsUTF8(name);
  if (!text) return false;
  if (std::strcmp(text, "_ptr") == 0) return true;
  const field* f = find_field(*type.lib, *type.record, text);
  if (f) return write_field(*type.lib, *f, self, value) == 0;
  return raise_error(PyExc_TypeError, "%s() got an unexpected keyword argument '%s'",
                     short_name(type.record->name), text);
}

bool reject_view_only(const class_type& type) {
  PyErr_Format(PyExc_TypeError, "%s is part of another struct; it cannot be created alone",
               short_name(type.record->name));
  return false;
}

bool point_to(PyObject* self, const class_type& type, void* data) {
  if (data) return as_storage(self)->data = static_cast<char*>(data), true;
  return !(type.record->f & view_only) || reject_view_only(type);
}

// Out of line: inlined, it would make the common path save registers.
[[gnu::noinline]] PyObject* construct(class_type& type, PyObject* const* args, Py_ssize_t n,
                                      PyObject* keywords) {
  constructor_arguments arguments;
  if (!arguments.parse(*type.record, args, n, keywords, false)) return nullptr;
  PyObject* self = make_instance(type);
  bool ok = self && point_to(self, type, arguments.data);
  for (Py_ssize_t i = 0; ok && keywords && i < PyTuple_GET_SIZE(keywords); ++i)
    ok = set_field(self, type, PyTuple_GET_ITEM(keywords, i), args[n + i]);
  if (!ok) Py_CLEAR(self);
  return self;
}

PyObject* vectorcall(PyObject* callable, PyObject* const* args, std::size_t flagged,
                     PyObject* keywords) {
  auto& type = *reinterpret_cast<class_type*>(callable);
  Py_ssize_t n = PyVectorcall_NARGS(flagged);
  if (n || keywords || type.record->f & view_only) [[unlikely]]
    return construct(type, args, n, keywords);
  return make_instance(type);
}

// Allocates a block for the C struct of a subclass instance, whose attributes follow the header.
// The block has slack after the struct.
bool allocate_storage(struct_object* object, const class_record& record) {
  std::size_t alignment = record.alignment;
  PyObject* block = new_memory_block(record.size + alignment + struct_slack);
  if (!block) return false;
  object->owner = block;
  object->data = storage_of(as_block(block), alignment);
  if (record.initial) std::memcpy(object->data, record.initial, record.size);
  return true;
}

// Creates an instance of a user's subclass.
PyObject* make(PyTypeObject* subclass, PyObject* args, PyObject* keywords) {
  class_type& type = class_of(subclass);
  constructor_arguments arguments;
  if (!arguments.parse(*type.record, args, keywords, false)) return nullptr;
  PyObject* self = subclass->tp_alloc(subclass, 0);
  if (!self) return nullptr;
  bool ok = (arguments.data || allocate_storage(as_struct(self), *type.record)) &&
            point_to(self, type, arguments.data);
  PyObject *name, *value;
  Py_ssize_t at = 0;
  while (ok && keywords && PyDict_Next(keywords, &at, &name, &value))
    ok = set_field(self, type, name, value);
  if (!ok) Py_CLEAR(self);
  return self;
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  return PyBuffer_FillInfo(view, self, as_storage(self)->data, class_of(Py_TYPE(self)).record->size,
                           0, flags);
}

PyBufferProcs buffer_protocol = {get_buffer, nullptr};

}  // namespace

PyObject* new_struct(const library& lib, int type) {
  class_type* ready = ready_class(lib, type);
  return ready ? make_instance(*ready) : nullptr;
}

PyObject* new_struct_view(const library& lib, int type, char* data, PyObject* owner) {
  PyObject* object = new_struct(lib, type);
  if (!object) return nullptr;
  as_storage(object)->data = data;
  as_storage(object)->owner = Py_XNewRef(owner);
  return object;
}

namespace {

bool set_slots(class_type& type) {
  PyTypeObject& slots = type.type;
  const class_record& record = *type.record;
  int slack = record.alignment > int(alignof(void*)) ? record.alignment : 0;
  slots.tp_basicsize = Py_ssize_t(sizeof(struct_object)) + ((record.size + 7) & ~7) + slack;
  slots.tp_new = make;
  slots.tp_vectorcall = vectorcall;
  slots.tp_dealloc = free_struct;
  slots.tp_repr = represent_struct;
  slots.tp_methods = methods_of(*type.lib, record);
  slots.tp_as_buffer = &buffer_protocol;
  return slots.tp_methods && add_field_properties(type);
}

bool finish(class_type& type) { return replace_property_types(type) && add_struct_notes(type); }

}  // namespace

const class_family struct_family = {set_slots, finish, struct_with_contents};

}  // namespace halfwarp::bindings
