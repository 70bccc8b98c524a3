// SPDX-License-Identifier: Apache-2.0
// Fields by kind: numbers, enumerators, child objects, addresses; and their properties, which are
// faster than Python's. Arrays are in struct_arrays.cpp.
#include "bindings/structs/structs.hpp"

#include <array>
#include <cstring>

#include "bindings/errors/errors.hpp"
#include "bindings/kernel_params/kernel_params.hpp"
#include "bindings/memory/memory.hpp"
#include "bindings/objects/enum_type.hpp"
#include "bindings/objects/field_properties.hpp"
#include "bindings/objects/keep_alive.hpp"
#include "bindings/objects/object_arguments.hpp"

namespace halfwarp::bindings {
namespace {

// A field is read as a view of its memory; while the view is alive, each read returns the same one.
// The parent's pointer to it is borrowed, so there is no cycle. When its reference count drops to
// zero, the view becomes dormant: its memory waits for the next read, and is freed with the parent.
#ifndef Py_GIL_DISABLED
bool is_dormant(PyObject* child) { return Py_REFCNT(child) == 0; }

PyObject* revive(PyObject* child, PyObject* parent) {
  as_storage(child)->owner = Py_NewRef(parent);
  return PyObject_Init(child, Py_TYPE(child));
}

PyObject** child_slot(const field& f, struct_object* parent) {
  if (!parent->children) {
    int n = class_of(Py_TYPE(reinterpret_cast<PyObject*>(parent))).record->children;
    parent->children = static_cast<PyObject**>(PyMem_Calloc(std::size_t(n), sizeof(PyObject*)));
    if (!parent->children) PyErr_NoMemory();
  }
  return parent->children ? &parent->children[f.child] : nullptr;
}
#endif

PyObject* child_struct(const library& lib, const field& f, PyObject* self) {
  char* data = as_storage(self)->data + f.offset;
#ifndef Py_GIL_DISABLED
  PyObject** slot = child_slot(f, as_struct(self));
  if (!slot) return nullptr;
  if (*slot) return is_dormant(*slot) ? revive(*slot, self) : Py_NewRef(*slot);
  PyObject* child = new_struct_view(lib, f.type, data, self);
  if (child) {
    *slot = child;
    as_struct(child)->child_of_owner = slot;
  }
  return child;
#else
  return new_struct_view(lib, f.type, data, self);
#endif
}

using reader = PyObject* (*)(const library&, const field&, PyObject* self, char* data);
using writer = int (*)(const library&, const field&, PyObject* self, char* data, PyObject* value);

PyObject* read_enum(const library& lib, const field& f, PyObject*, char* data) {
  return enum_member(lib, f.type, load<std::int32_t>(data));
}
PyObject* read_handle(const library& lib, const field& f, PyObject* self, char* data) {
  return new_handle_view(lib, f.type, data, self);
}
PyObject* read_struct(const library& lib, const field& f, PyObject* self, char*) {
  return child_struct(lib, f, self);
}
PyObject* read_address(const library&, const field&, PyObject*, char* data) {
  return PyLong_FromUnsignedLongLong(load<word>(data));
}

int write_enum(const library& lib, const field& f, PyObject*, char* data, PyObject* value) {
  word converted;
  if (!enum_argument(value, lib, f.type, converted)) return failed;
  store(data, converted, f.size);
  return 0;
}

int write_handle(const library& lib, const field& f, PyObject*, char* data, PyObject* value) {
  word converted;
  if (!handle_slow(value, lib, f.type, converted)) return failed;
  store(data, converted, f.size);
  return 0;
}

int write_struct(const library& lib, const field& f, PyObject* self, char* data, PyObject* value) {
  word source;
  if (!structure_argument(value, lib, f.type, false, source)) return failed;
  return copy_struct(as_storage(self), data, as_storage(value), reinterpret_cast<void*>(source),
                     f.size);
}

// Stores an address. The buffer stays exported until the field is written again or the struct is
// destroyed.
int write_address(const library&, const field&, PyObject* self, char* data, PyObject* value) {
  scratch memory;
  word address;
  PyObject* export_ = nullptr;
  if (!retained_address(value, memory, address, export_)) return failed;
  return point_field(self, data, address, export_);
}

int write_kernel_params(const library&, const field&, PyObject* self, char* data, PyObject* value) {
  word address;
  PyObject* block = nullptr;
  if (!kernel_params_block(value, address, block)) return failed;
  return point_field(self, data, address, block);
}

struct accessor {
  reader read;
  writer write;
};

// Indexed by kind; numbers need no entry.
constexpr auto accessors = [] {
  std::array<accessor, std::size_t(kind::field_pointer_list) + 1> all{};
  auto of = [&all](kind k) -> accessor& { return all[std::size_t(k)]; };
  of(kind::enumeration) = {read_enum, write_enum};
  of(kind::handle32) = of(kind::handle64) = {read_handle, write_handle};
  of(kind::structure) = {read_struct, write_struct};
  of(kind::address) = {read_address, write_address};
  of(kind::kernel_params) = {read_address, write_kernel_params};
  of(kind::field_array) = {read_array, write_array};
  of(kind::field_text) = {read_text, write_bytes};
  of(kind::field_bytes) = {read_bytes, write_bytes};
  of(kind::field_pointer_list) = {read_pointer_list, write_pointer_list};
  return all;
}();

const accessor& accessor_of(kind k) { return accessors[std::size_t(k)]; }

int reject_write(PyObject* self, const field& f, PyObject* value) {
  if (value && f.f & is_joint)
    return raise_error(PyExc_AttributeError, "%s.%s shares its count with another list: use %s()",
                       class_name(self), f.name.c_str(), joint_method_of(self));
  return raise_error(PyExc_AttributeError, "%s.%s cannot be %s", class_name(self), f.name.c_str(),
                     value ? "written" : "deleted");
}

int raise_for_field(PyObject* self, const field& f) {
  return add_context("%s.%s: ", class_name(self), f.name.c_str());
}

constexpr getter get_field = get_bound<field, read_field>;
constexpr setter put_field = put_bound<field, write_field>;

// Returns the property definition if the object has such a field. Python's properties search the
// list of bases, in two calls; a class of the engine is found at once, others are left to Python.
const PyGetSetDef* property_of(PyObject* object, PyObject* self) {
  auto* property = reinterpret_cast<PyGetSetDescrObject*>(self);
  PyTypeObject* type = object ? Py_TYPE(object) : nullptr;
  while (type && type != property->d_common.d_type) type = type->tp_base;
  return type ? property->d_getset : nullptr;
}

PyObject* read_property(PyObject* self, PyObject* object, PyObject* type) {
  const PyGetSetDef* own = property_of(object, self);
  if (own) [[likely]]
    return get_field(object, own->closure);
  return PyGetSetDescr_Type.tp_descr_get(self, object, type);
}

int write_property(PyObject* self, PyObject* object, PyObject* value) {
  const PyGetSetDef* own = property_of(object, self);
  if (own && own->set) [[likely]]
    return put_field(object, value, own->closure);
  return PyGetSetDescr_Type.tp_descr_set(self, object, value);
}

PyTypeObject property_type = {
    .ob_base = {PyObject_HEAD_INIT(nullptr) 0},
    .tp_name = "cuda.bindings._low._field",
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_descr_get = read_property,
    .tp_descr_set = write_property,
};

bool ready_property_type() {
  if (property_type.tp_flags & Py_TPFLAGS_READY) return true;
  property_type.tp_base = &PyGetSetDescr_Type;
  return PyType_Ready(&property_type) == 0;
}

}  // namespace

PyObject* read_field(const library& lib, const field& f, PyObject* self) {
  char* data = as_storage(self)->data + f.offset;
  if (f.k <= kind::f64) return read_number(f.k, data);
  return accessor_of(f.k).read(lib, f, self, data);
}

int write_field(const library& lib, const field& f, PyObject* self, PyObject* value) {
  if (!value || f.f & (read_only | is_joint)) [[unlikely]]
    return reject_write(self, f, value);
  return store_field(lib, f, self, value);
}

int store_field(const library& lib, const field& f, PyObject* self, PyObject* value) {
  char* data = as_storage(self)->data + f.offset;
  int status = f.k <= kind::f64 ? write_number(f.k, data, value)
                                : accessor_of(f.k).write(lib, f, self, data, value);
  if (status < 0) [[unlikely]]
    return raise_for_field(self, f);
  return 0;
}

bool add_field_properties(class_type& type) {
  return add_properties(type, type.lib->fields_of(*type.record), [](const field& f) -> PyGetSetDef {
    const char* doc = f.f & is_hidden ? padding_doc : nullptr;
    return {f.name, get_field, f.f & read_only ? nullptr : put_field, doc, nullptr};
  });
}

bool replace_property_types(class_type& type) {
  if (!ready_property_type()) return false;
  PyObject *name, *value;
  Py_ssize_t at = 0;
  while (PyDict_Next(type.type.tp_dict, &at, &name, &value)) {
    if (Py_TYPE(value) != &PyGetSetDescr_Type) continue;
    auto* property = reinterpret_cast<PyGetSetDescrObject*>(value);
    if (property->d_getset->get == get_field) Py_SET_TYPE(value, &property_type);
  }
  return true;
}

}  // namespace halfwarp::bindings
