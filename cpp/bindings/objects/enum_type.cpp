// SPDX-License-Identifier: Apache-2.0
// Creates enumeration classes from records, and finds members by value. Also creates classes of
// Python's `enum` for the library whose reference has those.
#include "bindings/objects/enum_type.hpp"

#include "bindings/objects/class_type.hpp"
#include "bindings/threads/shared_objects.hpp"

namespace halfwarp::bindings {
namespace {

constexpr Py_ssize_t largest_span = 4096;

// Creates an int of the class without calling the class.
PyObject* new_member(PyTypeObject* type, std::int64_t value) {
  const reference number{number_of(as_enum(type), value)};
  const reference args{number ? PyTuple_Pack(1, number.get()) : nullptr};
  return args ? PyLong_Type.tp_new(type, args, nullptr) : nullptr;
}

bool grow(enum_type* type) {
  constexpr Py_ssize_t step = 32;
  if (type->count % step) return true;
  auto* entries = static_cast<enum_entry*>(
      PyMem_Realloc(type->entries, std::size_t(type->count + step) * sizeof(enum_entry)));
  if (!entries) return PyErr_NoMemory() != nullptr;
  type->entries = entries;
  return true;
}

// Returns the member with a value: the first declared name creates it, later names are aliases.
PyObject* member_for(enum_type* type, PyObject* name, std::int64_t value, const char* doc) {
  for (Py_ssize_t i = 0; i < type->count; ++i)
    if (type->entries[i].value == value) return type->entries[i].object;
  if (!grow(type)) return nullptr;
  PyObject* object = new_member(&type->heap.ht_type, value);
  if (object) type->entries[type->count++] = {value, object, Py_NewRef(name), doc};
  return object;
}

// Creates a static type. `type` would look up every special method in all bases, which dominates
// the cost of a class, and the garbage collector would traverse all of them at exit.
enum_type* make_class(const enumeration& record) {
  if (!fast_enum()) return nullptr;
  auto* cls = static_cast<enum_type*>(PyMem_Calloc(1, sizeof(enum_type)));
  if (!cls) return PyErr_NoMemory() ? cls : nullptr;
  cls->is_unsigned = record.is_unsigned;
  PyTypeObject& type = cls->heap.ht_type;
  const PyTypeObject unready = {.ob_base = {PyObject_HEAD_INIT(fast_enum_metaclass()) 0}};
  type.ob_base = unready.ob_base;
  type.tp_name = record.name;
  type.tp_base = fast_enum();
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE;
  if (PyType_Ready(&type) == 0) return cls;
  PyMem_Free(cls);
  return nullptr;
}

bool add_members(enum_type* type, const library& lib, const enumeration& record) {
  PyObject* namespace_ = type->heap.ht_type.tp_dict;
  for (const member& m : lib.members_of(record)) {
    const reference name{PyUnicode_InternFromString(m.name)};
    bool ok = name && add_member(type, name, m.value, m.doc ? m.doc.c_str() : nullptr, namespace_);
    if (!ok) return false;
  }
  return finish_members(type);
}

// Returns a dict of name -> plain int, with aliases, in order of declaration.
PyObject* values_by_name(enum_type* type) {
  PyObject *names = names_of(type), *values = names ? PyDict_New() : nullptr, *name, *member;
  Py_ssize_t at = 0;
  while (values && PyDict_Next(names, &at, &name, &member)) {
    const reference value{PyNumber_Index(member)};
    const reference plain{value ? PyLong_FromLongLong(PyLong_AsLongLong(value)) : nullptr};
    if (!plain || PyDict_SetItem(values, name, plain) < 0) Py_CLEAR(values);
  }
  return values;
}

// Calls `enum.IntEnum(name, values, module=module)`.
PyObject* call_functional_form(const char* name, PyObject* values, const char* module) {
  const reference package{PyImport_ImportModule("enum")};
  const reference base{package ? PyObject_GetAttrString(package, "IntEnum") : nullptr};
  const reference args{base ? Py_BuildValue("(sO)", name, values) : nullptr};
  const reference keywords{args ? Py_BuildValue("{ss}", "module", module) : nullptr};
  return keywords ? PyObject_Call(base, args, keywords) : nullptr;
}

PyObject* make(const library& lib, int index, enum_type* from) {
  const reference values{values_by_name(from)};
  if (!values) return nullptr;
  const char* name = short_name(lib.enums[std::size_t(index)].name);
  PyObject* enum_class = call_functional_form(name, values, lib.module);
  auto* as_object = reinterpret_cast<PyObject*>(from);
  const reference doc{enum_class ? PyObject_GetAttrString(as_object, "__doc__") : nullptr};
  if (!doc || PyObject_SetAttrString(enum_class, "__doc__", doc) < 0) Py_CLEAR(enum_class);
  return enum_class;
}

}  // namespace

bool add_member(enum_type* type, PyObject* name, std::int64_t value, const char* doc,
                PyObject* namespace_) {
  PyObject* object = member_for(type, name, value, doc);
  return object && PyDict_SetItem(namespace_, name, object) == 0;
}

// Collects the members from the namespace, in order of declaration.
PyObject* names_of(enum_type* type) {
  engine_lock lock;
  if (type->aliases) return type->aliases;
  const reference all{PyDict_Copy(type->heap.ht_type.tp_dict)};
  PyObject *names = all ? PyDict_New() : nullptr, *name, *value;
  Py_ssize_t at = 0;
  while (names && PyDict_Next(all, &at, &name, &value)) {
    bool is_member = Py_TYPE(value) == &type->heap.ht_type;
    if (is_member && PyDict_SetItem(names, name, value) < 0) Py_CLEAR(names);
  }
  return type->aliases = names;
}

bool finish_members(enum_type* type) {
  type->lowest = INT64_MAX;
  for (Py_ssize_t i = 0; i < type->count; ++i)
    if (type->entries[i].value < type->lowest) type->lowest = type->entries[i].value;
  for (Py_ssize_t i = 0; i < type->count; ++i) {
    auto distance = std::uint64_t(type->entries[i].value) - std::uint64_t(type->lowest);
    if (distance < std::uint64_t(largest_span) && Py_ssize_t(distance) >= type->span)
      type->span = Py_ssize_t(distance) + 1;
  }
  type->dense =
      static_cast<std::int16_t*>(PyMem_Malloc(std::size_t(type->span + 1) * sizeof(std::int16_t)));
  if (!type->dense) return PyErr_NoMemory() != nullptr;
  for (Py_ssize_t i = 0; i < type->span; ++i) type->dense[i] = -1;
  for (Py_ssize_t i = type->count - 1; i >= 0; --i) {
    auto distance = std::uint64_t(type->entries[i].value) - std::uint64_t(type->lowest);
    if (distance < std::uint64_t(type->span)) type->dense[distance] = std::int16_t(i);
  }
  PyType_Modified(&type->heap.ht_type);
  return true;
}

const enum_entry* find_entry(const enum_type* type, std::int64_t value) {
  auto distance = std::uint64_t(value) - std::uint64_t(type->lowest);
  if (distance < std::uint64_t(type->span)) [[likely]] {
    int i = type->dense[distance];
    return i < 0 ? nullptr : &type->entries[i];
  }
  for (Py_ssize_t i = 0; i < type->count; ++i)
    if (type->entries[i].value == value) return &type->entries[i];
  return nullptr;
}

enum_type* ready_enum(const library& lib, int index) {
  enum_type** slot = &lib.enum_types[index];
  if (enum_type* type = __atomic_load_n(slot, __ATOMIC_ACQUIRE)) return type;
  engine_lock lock;
  if (*slot) return *slot;
  const enumeration& record = lib.enums[std::size_t(index)];
  enum_type* type = make_class(record);
  // not freed on failure (no memory): the base class refers to it
  if (!type || !prepare_enum_class(type) || !add_members(type, lib, record)) return nullptr;
  __atomic_store_n(slot, type, __ATOMIC_RELEASE);
  return type;
}

PyObject* enum_member(const library& lib, int index, std::int64_t value) {
  enum_type* type = __atomic_load_n(&lib.enum_types[index], __ATOMIC_ACQUIRE);
  if (!type && !(type = ready_enum(lib, index))) return nullptr;
  // the C value has 32 bits: some headers define values above 2^31 as unsigned
  const enum_entry* entry = find_entry(type, value);
  if (!entry && value < 0) entry = find_entry(type, value & 0xffffffff);
  return entry ? Py_NewRef(entry->object) : new_member(&type->heap.ht_type, value);
}

PyObject* python_enum(const library& lib, int index) {
  enum_type* from = ready_enum(lib, index);
  if (!from) return nullptr;
  engine_lock lock;
  if (!from->shown) from->shown = make(lib, index, from);
  return Py_XNewRef(from->shown);
}

}  // namespace halfwarp::bindings
