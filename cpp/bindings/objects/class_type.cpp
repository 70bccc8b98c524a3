// SPDX-License-Identifier: Apache-2.0
// Creates the static type objects of handle and struct classes on demand, and parses constructor
// arguments.
#include "bindings/objects/class_type.hpp"

#include <cstring>

#include "bindings/errors/errors.hpp"
#include "bindings/numbers/numbers.hpp"
#include "bindings/threads/shared_objects.hpp"

namespace halfwarp::bindings {
namespace {

// Initial head of a type object; the table's memory is zero.
constexpr PyTypeObject unready = {.ob_base = {PyObject_HEAD_INIT(nullptr) 0}};

bool make_ready(const library& lib, int index, class_type& cls) {
  const class_record& record = lib.classes[index];
  const library* other = lib.extras_of(record).owner_of_base;
  const library& owner = other ? *other : lib;
  class_type* base = record.base >= 0 ? ready_class(owner, record.base) : nullptr;
  if (record.base >= 0 && !base) return false;
  PyTypeObject& type = cls.type;
  type.ob_base = unready.ob_base;
  type.tp_name = record.name;
  type.tp_base = base ? &base->type : nullptr;
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE;
  cls.lib = &lib;
  cls.record = &record;
  const class_family& family = family_of(cls);
  return family.set_slots(cls) && PyType_Ready(&type) == 0 &&
         (!family.finish || family.finish(cls));
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
  if (type == &PyBaseObject_Type) return nullptr;  // a class of the user
  for (const library* lib : libraries) {
    auto* candidate = reinterpret_cast<class_type*>(type);
    if (candidate >= lib->types && candidate < lib->types + lib->classes.size()) return candidate;
  }
  return nullptr;
}

void* address_of(PyObject* object) {
  bool is_handle_object = class_of(Py_TYPE(object)).record->f & is_handle;
  return is_handle_object ? as_handle(object)->data : as_storage(object)->data;
}

bool raise_too_many(const class_record& record, Py_ssize_t most, Py_ssize_t count) {
  return raise_error(PyExc_TypeError, "%s() takes at most %zd positional argument%s (%zd given)",
                     short_name(record.name), most, most == 1 ? "" : "s", count);
}

bool add_argument_context(const class_record& record, const char* name) {
  return add_context("%s() argument '%s': ", short_name(record.name), name);
}

bool constructor_arguments::set_address(const class_record& record, PyObject* object) {
  word address;
  if (!integer_argument<kind::u64>(object, address)) return add_argument_context(record, "_ptr");
  data = reinterpret_cast<void*>(address);
  return true;
}

bool constructor_arguments::set_positional(const class_record& record, PyObject* const* args,
                                           Py_ssize_t n, bool takes_value) {
  Py_ssize_t most = takes_value ? 2 : 1;
  if (n > most) return raise_too_many(record, most, n);
  if (takes_value && n > 0) value = args[0];
  return n < most || set_address(record, args[most - 1]);
}

bool constructor_arguments::set_argument(const class_record& record, PyObject* name,
                                         PyObject* object, bool takes_value) {
  if (PyUnicode_CompareWithASCIIString(name, "_ptr") == 0) return set_address(record, object);
  if (!takes_value) return true;
  if (PyUnicode_CompareWithASCIIString(name, "init_value") == 0 && !value)
    return value = object, true;
  return raise_error(PyExc_TypeError, "%s() got %s argument '%U'", short_name(record.name),
                     value ? "multiple values for" : "an unexpected keyword", name);
}

bool constructor_arguments::parse(const class_record& record, PyObject* const* args, Py_ssize_t n,
                                  PyObject* keywords, bool takes_value) {
  if (!set_positional(record, args, n, takes_value)) return false;
  Py_ssize_t named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  for (Py_ssize_t i = 0; i < named; ++i)
    if (!set_argument(record, PyTuple_GET_ITEM(keywords, i), args[n + i], takes_value))
      return false;
  return true;
}

bool constructor_arguments::parse(const class_record& record, PyObject* args, PyObject* keywords,
                                  bool takes_value) {
  if (!set_positional(record, PySequence_Fast_ITEMS(args), PyTuple_GET_SIZE(args), takes_value))
    return false;
  PyObject *name, *object;
  Py_ssize_t at = 0;
  while (keywords && PyDict_Next(keywords, &at, &name, &object))
    if (!set_argument(record, name, object, takes_value)) return false;
  return true;
}

const field* find_field(const library& lib, const class_record& record, const char* name) {
  for (const class_record* r = &record;; r = &lib.classes[r->base]) {
    for (const field& f : lib.fields_of(*r))
      if (std::strcmp(f.name, name) == 0) return &f;
    if (r->base < 0) return nullptr;
  }
}

}  // namespace halfwarp::bindings
