// SPDX-License-Identifier: Apache-2.0
// Functions shared by both kinds of struct classes: the dictionary from offset to referent in the
// owner of the memory, listed names, pickling.
#include "bindings/objects/keep_alive.hpp"

#include <cstring>

#include "bindings/threads/shared_objects.hpp"

namespace halfwarp::bindings {
namespace {

PyObject* key_of(storage* root, const void* data) {
  return PyLong_FromSsize_t(static_cast<const char*>(data) - root->data);
}

// Returns the dictionary of a root, created on first use.
PyObject* references_of(storage* root) {
  if (PyObject* refs = published(&root->refs)) return refs;
  PyObject* refs = PyDict_New();
  return refs ? publish(&root->refs, refs) : nullptr;
}

void free_block(PyObject* self) {
  Py_XDECREF(as_storage(self)->refs);
  Py_XDECREF(as_storage(self)->owner);
  PyObject_Free(self);
}

PyTypeObject block_type = {
    .ob_base = {PyObject_HEAD_INIT(nullptr) 0},
    .tp_name = "cuda.bindings._low._memory_block",
    .tp_basicsize = sizeof(memory_block),
    .tp_itemsize = 1,
    .tp_dealloc = free_block,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "Memory that struct objects view.",
};

bool ready_block_type() {
  engine_lock lock;
  return (block_type.tp_flags & Py_TPFLAGS_READY) || PyType_Ready(&block_type) == 0;
}

bool is_padding(PyObject* attribute) {
  if (!PyObject_TypeCheck(attribute, &PyGetSetDescr_Type)) return false;
  return reinterpret_cast<PyGetSetDescrObject*>(attribute)->d_getset->doc == padding_doc;
}

bool is_listed(PyTypeObject* type, PyObject* name) {
  const reference value{PyObject_GetAttr(reinterpret_cast<PyObject*>(type), name)};
  if (!value) return PyErr_Clear(), true;                          // an attribute of the instance
  bool is_extra = Py_IS_TYPE(value.get(), &PyMethodDescr_Type) &&  // a method in C
                  (PyUnicode_CompareWithASCIIString(name, "copy") == 0 ||
                   PyUnicode_CompareWithASCIIString(name, "asdict") == 0);
  return !is_extra && !is_padding(value);
}

// Whether no other thread has written the field: a thread that waits, for a dictionary for example,
// releases the lock.
bool is_retained(storage* self, const void* data, PyObject* object) {
#ifndef Py_GIL_DISABLED
  return true;
#endif
  const reference current{retained_for_field(self, data)};
  if (!current) PyErr_Clear();
  return current.get() == object;
}

}  // namespace

storage* root_of(storage* self) {
  while (self->owner && Py_TYPE(self) != &block_type) self = as_storage(self->owner);
  return self;
}

int retain_for_field(storage* self, const void* data, PyObject* object) {
  storage* root = root_of(self);
  if (!object && !published(&root->refs)) return 0;
  PyObject* refs = references_of(root);
  const reference key{refs ? key_of(root, data) : nullptr};
  if (!key) return failed;
  if (object) return PyDict_SetItem(refs, key, object);
  const reference former{pop_item(refs, key)};
  return former || !PyErr_Occurred() ? 0 : failed;
}

PyObject* retained_for_field(storage* self, const void* data) {
  storage* root = root_of(self);
  PyObject* refs = published(&root->refs);
  const reference key{refs ? key_of(root, data) : nullptr};
  return key ? item_of(refs, key) : nullptr;
}

int point_field(PyObject* self, void* data, std::uint64_t address, PyObject* owner) {
  storage* own = as_storage(self);
  const reference ours{owner};
  // Holds the previous referent until the address has changed: destroying it may run any code.
  const reference former{retained_for_field(own, data)};
  if (!former && PyErr_Occurred()) return failed;
  address_lock lock{own};
  do {
    if (retain_for_field(own, data, owner) < 0) return failed;
    std::memcpy(data, &address, sizeof address);
  } while (!is_retained(own, data, owner));
  return 0;
}

int copy_references(storage* target, const void* target_data, storage* source,
                    const void* source_data, std::size_t size) {
  storage* from = root_of(source);
  PyObject* refs = published(&from->refs);
  if (!refs) return 0;
  const reference snapshot{PyDict_Copy(refs)};
  if (!snapshot) return failed;
  auto offset = static_cast<const char*>(source_data) - from->data;
  PyObject *key, *object;
  Py_ssize_t at = 0;
  int status = 0;
  while (status == 0 && PyDict_Next(snapshot, &at, &key, &object)) {
    Py_ssize_t inside = PyLong_AsSsize_t(key) - offset;
    if (inside < 0 || std::size_t(inside) >= size) continue;
    status = retain_for_field(target, static_cast<const char*>(target_data) + inside, object);
  }
  return status;
}

int copy_struct(storage* target, void* target_data, storage* source, const void* source_data,
                std::size_t size) {
  address_lock lock{target};
  if (copy_references(target, target_data, source, source_data, size) < 0) return failed;
  std::memmove(target_data, source_data, size);
  return 0;
}

void clear_owned_arrays(storage* root) {
  PyObject *key, *object;
  Py_ssize_t at = 0;
  while (PyDict_Next(root->refs, &at, &key, &object)) {
    if (!is_memory_block(object)) continue;
    char* data = root->data + PyLong_AsSsize_t(key);
    char *shown, *ours = as_block(object)->data;
    std::memcpy(&shown, data, sizeof shown);
    if (shown != ours) continue;
    shown = nullptr;
    std::memcpy(data, &shown, sizeof shown);
  }
}

bool is_memory_block(PyObject* object) { return Py_TYPE(object) == &block_type; }

PyObject* new_memory_block(std::size_t bytes) {
  if (!ready_block_type()) return nullptr;
  if (bytes > std::size_t(PY_SSIZE_T_MAX) - sizeof(memory_block)) return PyErr_NoMemory();
  auto* block = static_cast<memory_block*>(PyObject_Calloc(1, sizeof(memory_block) + bytes));
  if (!block) return PyErr_NoMemory();
  block->data = storage_of(block);
  block->size = bytes;
  return PyObject_Init(reinterpret_cast<PyObject*>(block), &block_type);
}

PyObject* new_foreign_block(char* data, PyObject* owner) {
  PyObject* block = new_memory_block(0);
  if (!block) return nullptr;
  as_block(block)->data = data;
  as_block(block)->owner = Py_XNewRef(owner);
  return block;
}

const char padding_doc[] = "Padding of the C struct.";

PyObject* list_attributes(PyObject* self, PyObject*) {
  auto* object = reinterpret_cast<PyObject*>(&PyBaseObject_Type);
  const reference all{PyObject_CallMethod(object, "__dir__", "O", self)};
  PyObject* listed = all ? PyList_New(0) : nullptr;
  for (Py_ssize_t i = 0; listed && i < PyList_GET_SIZE(all.get()); ++i) {
    PyObject* name = PyList_GET_ITEM(all.get(), i);
    if (is_listed(Py_TYPE(self), name) && PyList_Append(listed, name) < 0) Py_CLEAR(listed);
  }
  return listed;
}

PyObject* pickled_struct(PyObject* self, PyObject* contents) {
  const reference low{contents ? PyImport_ImportModule("cuda.bindings._low") : nullptr};
  PyObject* restore = low ? PyObject_GetAttrString(low, "struct_from_bytes") : nullptr;
  if (restore) return Py_BuildValue("(N(ON))", restore, Py_TYPE(self), contents);
  Py_XDECREF(contents);
  return nullptr;
}

PyObject* struct_from_bytes(PyObject* type, PyObject* contents) {
  Py_buffer bytes;
  if (PyObject_GetBuffer(contents, &bytes, PyBUF_SIMPLE) < 0) return nullptr;
  class_type* ours =
      PyType_Check(type) ? any_class(reinterpret_cast<PyTypeObject*>(type)) : nullptr;
  auto from_bytes = ours ? family_of(*ours).from_bytes : nullptr;
  PyObject* object = from_bytes ? from_bytes(type, *ours, bytes) : nullptr;
  if (!object && !PyErr_Occurred())
    PyErr_Format(PyExc_ValueError, "%zd bytes are not the contents of %R", bytes.len, type);
  PyBuffer_Release(&bytes);
  return object;
}

PyObject* joined(const char* separator, PyObject* texts) {
  const reference between{texts ? PyUnicode_FromString(separator) : nullptr};
  PyObject* text = between ? PyUnicode_Join(between, texts) : nullptr;
  Py_XDECREF(texts);
  return text;
}

bool append(PyObject* list, PyObject* item) {
  const reference owned{item};
  return list && owned && PyList_Append(list, owned) == 0;
}

}  // namespace halfwarp::bindings
