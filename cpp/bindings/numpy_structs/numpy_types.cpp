// SPDX-License-Identifier: Apache-2.0
// Creates NumPy types from field tables.

#include "bindings/arrays/typed_array.hpp"
#include "bindings/errors/errors.hpp"
#include "bindings/numbers/numbers.hpp"
#include "bindings/numpy_structs/numpy_struct_object.hpp"
#include "bindings/objects/keep_alive.hpp"
#include "bindings/threads/shared_objects.hpp"

namespace halfwarp::bindings {
namespace {

const char* code_of(const numpy_field& f) {
  static constexpr const char* codes[] = {"i1",  "u1",  "<i2", "<u2", "<i4",
                                          "<u4", "<i8", "<u8", "<f4", "<f8"};
  if (f.shape == form::text || (f.shape == form::bytes && f.is_array)) return "i1";
  if (f.shape == form::number || f.shape == form::numbers) return codes[int(f.element)];
  return "<i8";  // any kind of address
}

// Returns the NumPy format of a field: a code or a type, and the shape of an array.
PyObject* format_of(const library& lib, const numpy_field& f) {
  PyObject* element =
      f.shape == form::structure ? numpy_type(lib, f.type) : PyUnicode_FromString(code_of(f));
  if (!element || !f.is_array) return element;
  return Py_BuildValue("(N(I))", element, f.count);
}

PyObject* describe(const library& lib, const numpy_record& record) {
  PyObject *names = PyList_New(0), *formats = PyList_New(0), *offsets = PyList_New(0);
  bool ok = names && formats && offsets;
  for (const numpy_field& f : record.fields) {
    ok = ok && append(names, PyUnicode_FromString(f.name)) && append(formats, format_of(lib, f)) &&
         append(offsets, PyLong_FromUnsignedLong(f.offset));
  }
  if (ok)
    return Py_BuildValue("{sNsNsNsI}", "names", names, "formats", formats, "offsets", offsets,
                         "itemsize", record.size);
  Py_XDECREF(names);
  Py_XDECREF(formats);
  Py_XDECREF(offsets);
  return nullptr;
}

PyObject* make_type(const library& lib, int type) {
  const reference constructor{from_numpy("dtype")};
  const reference described{constructor ? describe(lib, *lib.classes[std::size_t(type)].numpy)
                                        : nullptr};
  return described ? PyObject_CallOneArg(constructor, described) : nullptr;
}

bool is_equal_attribute(PyObject* object, const char* name, PyObject* expected) {
  const reference value{PyObject_GetAttrString(object, name)};
  int equal = value ? PyObject_RichCompareBool(value, expected, Py_EQ) : failed;
  return equal == 1;
}

}  // namespace

PyObject* numpy_type(const library& lib, int type) {
  const char* name = lib.classes[std::size_t(type)].numpy->dtype;
  PyObject* dictionary = PyModule_GetDict(lib.state->module);
  const reference key{PyUnicode_InternFromString(name)};
  PyObject* known = key ? item_of(dictionary, key) : nullptr;
  const reference dtype{known || PyErr_Occurred() ? nullptr : make_type(lib, type)};
  if (dtype) known = set_default(dictionary, key, dtype);
  return known;
}

bool has_numpy_types(const library& lib) {
  for (const class_record& record : lib.classes)
    if (record.numpy) return true;
  return false;
}

PyObject* numpy_type_named(const library& lib, PyObject* name) {
  for (std::size_t i = 0; i < lib.classes.size(); ++i) {
    const numpy_record* record = lib.classes[i].numpy;
    if (record && record->dtype && PyUnicode_CompareWithASCIIString(name, record->dtype) == 0)
      return numpy_type(lib, int(i));
  }
  return nullptr;
}

bool make_numpy_types(const library& lib) {
  const reference loaded{loaded_numpy_attribute("dtype")};
  for (std::size_t i = 0; loaded && i < lib.classes.size(); ++i) {
    const numpy_record* record = lib.classes[i].numpy;
    if (!record || !record->dtype) continue;
    const reference dtype{numpy_type(lib, int(i))};
    if (dtype) continue;
    PyErr_Clear();  // reported when the type is used
    return false;
  }
  return loaded.get() != nullptr;
}

int list_numpy_types(const library& lib, PyObject* names) {
  PyObject* dictionary = PyModule_GetDict(lib.state->module);
  for (const class_record& record : lib.classes) {
    if (!record.numpy || !record.numpy->dtype) continue;
    const char* name = record.numpy->dtype;
    if (!PyDict_GetItemString(dictionary, name) && !append(names, PyUnicode_FromString(name)))
      return failed;
  }
  return 0;
}

bool check_numpy_array(const library& lib, int type, PyObject* data) {
  const numpy_record& record = *lib.classes[std::size_t(type)].numpy;
  const reference array_type{from_numpy("ndarray")};
  int is_array = array_type ? PyObject_IsInstance(data, array_type) : failed;
  if (is_array < 0) return false;
  if (!is_array) return raise_expected("a NumPy ndarray", data);
  const reference expected{numpy_type(lib, type)};
  if (!expected) return false;
  bool same = is_equal_attribute(data, "dtype", expected);
  const reference one{PyLong_FromLong(1)};
  bool fits = same && is_equal_attribute(data, record.is_array ? "ndim" : "size", one);
  if (!fits && !PyErr_Occurred())
    PyErr_Format(PyExc_ValueError,
                 same ? record.is_array ? "the array of %s must have one dimension"
                                        : "the array of %s must have one element"
                      : "the array must have the type %s",
                 record.dtype.c_str());
  return fits;
}

}  // namespace halfwarp::bindings
