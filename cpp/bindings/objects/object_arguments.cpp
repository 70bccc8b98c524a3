// SPDX-License-Identifier: Apache-2.0
// Converts Python arguments for handles and structs to C words.
#include "bindings/objects/object_arguments.hpp"

#include "bindings/errors/errors.hpp"

namespace halfwarp::bindings {
namespace {

bool raise_expected_class(const class_record& record, const char* alternatives, PyObject* object) {
  return raise_error(PyExc_TypeError, "expected %s%s, got %s", short_name(record.name),
                     alternatives, Py_TYPE(object)->tp_name);
}

}  // namespace

bool handle_slow(PyObject* object, const library& lib, int type, word& out, bool none_is_null) {
  const class_record& record = lib.classes[type];
  if (none_is_null && object == Py_None) return out = 0, true;
  if (is_accepted(object, lib, type)) return out = load_handle(object, record.size), true;
  if (!converts_to_integer(object))
    return raise_expected_class(record, none_is_null ? ", an integer or None" : " or an integer",
                                object);
  return integer_slow(object, integer_kind_of(record), out);
}

bool structure_slow(PyObject* object, const library& lib, int type, bool none_is_null, word& out) {
  if (none_is_null && object == Py_None) return out = 0, true;
  if (is_instance(object, lib, type)) {
    out = reinterpret_cast<word>(as_storage(object)->data);
    return true;
  }
  return raise_expected_class(lib.classes[type], none_is_null ? " or None" : "", object);
}

bool handle_pointer_argument(PyObject* object, const library& lib, int type, word& out) {
  if (is_accepted(object, lib, type)) return out = reinterpret_cast<word>(address_of(object)), true;
  if (object == Py_None) {
    out = 0;
    return true;
  }
  if (PyLong_Check(object)) return integer_slow(object, kind::u64, out);
  return raise_expected_class(lib.classes[type], ", its address or None", object);
}

}  // namespace halfwarp::bindings
