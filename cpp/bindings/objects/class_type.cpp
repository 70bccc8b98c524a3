// SPDX-License-Identifier: Apache-2.0
// Makes the static type objects of handle and struct classes on demand.
#include "bindings/objects/class_type.hpp"

#include "bindings/threads/shared_objects.hpp"

namespace halfwarp::bindings {
namespace {

// The head of a type object before it is readied; the table's memory is zero.
constexpr PyTypeObject unmade = {.ob_base = {PyObject_HEAD_INIT(nullptr) 0}};

bool make_ready(const library& lib, int index, class_type& made) {
  const class_record& record = lib.classes[index];
  const library* other = lib.extras_of(record).owner_of_base;
  const library& owner = other ? *other : lib;
  class_type* base = record.base >= 0 ? ready_class(owner, record.base) : nullptr;
  if (record.base >= 0 && !base) return false;
  PyTypeObject& type = made.type;
  type.ob_base = unmade.ob_base;
  type.tp_name = record.name;
  type.tp_base = base ? &base->type : nullptr;
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE;
  made.lib = &lib;
  made.record = &record;
  const class_family& family = family_of(made);
  return family.set_slots(made) && PyType_Ready(&type) == 0 &&
         (!family.finish || family.finish(made));
}

}  // namespace

class_type* make_class(const library& lib, int index) {
  class_type& type = lib.types[index];
  engine_lock lock;
  if (type.is_ready) return &type;
  if (!make_ready(lib, index, type)) return nullptr;
  __atomic_store_n(&type.is_ready, true, __ATOMIC_RELEASE);
  return &type;
}

class_type* any_class(PyTypeObject* type) {
  while (type && (type->tp_flags & Py_TPFLAGS_HEAPTYPE)) type = type->tp_base;
  for (const library* lib : libraries) {
    auto* candidate = reinterpret_cast<class_type*>(type);
    if (candidate >= lib->types && candidate < lib->types + lib->classes.size()) return candidate;
  }
  return nullptr;
}

void* address_of(PyObject* object) {
  bool is_handle_object = class_of(Py_TYPE(object)).record->f & is_handle;
  return is_handle_object ? as_handle(object)->where : as_storage(object)->where;
}

}  // namespace halfwarp::bindings
