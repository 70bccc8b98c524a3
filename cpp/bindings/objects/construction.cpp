// SPDX-License-Identifier: Apache-2.0
// Arguments of the constructors of handle and struct classes.
#include "bindings/objects/class_type.hpp"

#include <cstring>

#include "bindings/errors/errors.hpp"
#include "bindings/numbers/numbers.hpp"

namespace halfwarp::bindings {

bool raise_too_many(const class_record& record, Py_ssize_t most, Py_ssize_t given) {
  PyErr_Format(PyExc_TypeError, "%s() takes at most %zd positional argument%s (%zd given)",
               short_name(record.name), most, most == 1 ? "" : "s", given);
  return false;
}

bool name_constructor_argument(const class_record& record, const char* name) {
  return add_context("%s() argument '%s': ", short_name(record.name), name);
}

bool constructor_arguments::set_address(const class_record& record, PyObject* object) {
  word address;
  if (!integer_argument<kind::u64>(object, address))
    return name_constructor_argument(record, "_ptr");
  where = reinterpret_cast<void*>(address);
  return true;
}

bool constructor_arguments::take_positional(const class_record& record, PyObject* const* args,
                                            Py_ssize_t n, bool takes_value) {
  Py_ssize_t most = takes_value ? 2 : 1;
  if (n > most) return raise_too_many(record, most, n);
  if (takes_value && n > 0) value = args[0];
  return n < most || set_address(record, args[most - 1]);
}

bool constructor_arguments::take(const class_record& record, PyObject* name, PyObject* object,
                                 bool takes_value) {
  if (PyUnicode_CompareWithASCIIString(name, "_ptr") == 0) return set_address(record, object);
  if (!takes_value) return true;
  if (PyUnicode_CompareWithASCIIString(name, "init_value") == 0 && !value) {
    value = object;
    return true;
  }
  PyErr_Format(PyExc_TypeError, "%s() got %s argument '%U'", short_name(record.name),
               value ? "multiple values for" : "an unexpected keyword", name);
  return false;
}

bool constructor_arguments::parse(const class_record& record, PyObject* const* args, Py_ssize_t n,
                                  PyObject* keywords, bool takes_value) {
  if (!take_positional(record, args, n, takes_value)) return false;
  Py_ssize_t named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  for (Py_ssize_t i = 0; i < named; ++i)
    if (!take(record, PyTuple_GET_ITEM(keywords, i), args[n + i], takes_value)) return false;
  return true;
}

bool constructor_arguments::parse(const class_record& record, PyObject* args, PyObject* keywords,
                                  bool takes_value) {
  if (!take_positional(record, PySequence_Fast_ITEMS(args), PyTuple_GET_SIZE(args), takes_value))
    return false;
  PyObject *name, *object;
  Py_ssize_t at = 0;
  while (keywords && PyDict_Next(keywords, &at, &name, &object))
    if (!take(record, name, object, takes_value)) return false;
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
