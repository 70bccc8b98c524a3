// SPDX-License-Identifier: Apache-2.0
// Converts Python numbers to C words: the general case, with range checks.
#include "bindings/numbers/numbers.hpp"

#include "bindings/errors/errors.hpp"

#include <cstring>

namespace halfwarp::bindings {
namespace {

struct range {
  const char* c_type;
  long long lowest;
  unsigned long long highest;
};

constexpr range ranges[] = {
    {"int8_t", INT8_MIN, INT8_MAX},    {"uint8_t", 0, UINT8_MAX},
    {"int16_t", INT16_MIN, INT16_MAX}, {"uint16_t", 0, UINT16_MAX},
    {"int", INT32_MIN, INT32_MAX},     {"unsigned int", 0, UINT32_MAX},
    {"int64_t", INT64_MIN, INT64_MAX}, {"uint64_t", 0, UINT64_MAX},
};
// enumerators are passed as int, but some headers define them as unsigned
constexpr range enumerators = {"enum", INT32_MIN, UINT32_MAX};

const range& range_of(kind k) { return k == kind::enumeration ? enumerators : ranges[int(k)]; }

bool fits(PyObject* number, const range& r, word& out) {
  int overflow;
  long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow > 0 && r.highest > INT64_MAX) {
    out = PyLong_AsUnsignedLongLong(number);
    if (out != word(-1) || !PyErr_Occurred()) return true;
    PyErr_Clear();
    return false;
  }
  out = word(value);
  if (overflow) return false;
  return value < 0 ? value >= r.lowest : word(value) <= r.highest;
}

bool check_range(PyObject* number, kind k, word& out) {
  const range& r = range_of(k);
  if (fits(number, r, out)) return true;
  return raise_error(PyExc_OverflowError, "%S does not fit %s (%lld to %llu)", number, r.c_type,
                     r.lowest, r.highest);
}

// Whether an object is a NumPy bool, which has `__int__` and `__float__` but no `__index__`.
bool is_numpy_bool(PyObject* object) {
  if (PyFloat_Check(object)) return false;  // the common case
  const reference type{loaded_numpy_attribute("bool_")};
  return type.get() == reinterpret_cast<PyObject*>(Py_TYPE(object));
}

PyObject* as_int(PyObject* object) {
  if (PyIndex_Check(object)) return PyNumber_Index(object);
  if (converts_to_integer(object)) return PyNumber_Long(object);
  return raise_expected("an integer", object);
}

}  // namespace

PyObject* loaded_numpy_attribute(const char* name) {
  PyObject* modules = PyImport_GetModuleDict();  // borrowed
  const reference numpy{modules ? PyMapping_GetItemString(modules, "numpy") : nullptr};
  PyObject* result = numpy ? PyObject_GetAttrString(numpy, name) : nullptr;
  if (!result) PyErr_Clear();  // not loaded, or partially loaded
  return result;
}

bool converts_to_integer(PyObject* object) {
  PyNumberMethods* number = Py_TYPE(object)->tp_as_number;
  if (!number || number->nb_index) return number;
  return number->nb_int && (!number->nb_float || is_numpy_bool(object));
}

bool integer_slow(PyObject* object, kind k, word& out) {
  if (PyLong_Check(object)) return check_range(object, k, out);
  const reference number{as_int(object)};
  if (!number) return false;
  return check_range(number, k, out);
}

bool number_slow(PyObject* object, kind k, word& out) {
  PyNumberMethods* number = Py_TYPE(object)->tp_as_number;
  bool has_digits = number && number->nb_int && !converts_to_integer(object);
  if (!has_digits) return integer_slow(object, k, out);
  const reference whole{PyNumber_Long(object)};
  int is_equal = whole ? PyObject_RichCompareBool(whole, object, Py_EQ) : failed;
  bool ok = is_equal > 0 &&
            PyErr_WarnFormat(PyExc_DeprecationWarning, 1,
                             "expected an integer, got %R: convert it with int()", object) == 0;
  if (!is_equal) raise_expected("an integer", object);
  ok = ok && check_range(whole, k, out);
  return ok;
}

bool enumerator_slow(PyObject* object, const library& lib, int type, word& out) {
  if (type < 0 || PyIndex_Check(object) || converts_to_integer(object))
    return integer_slow(object, kind::enumeration, out);
  const char* name = short_name(lib.enums[std::size_t(type)].name);
  return raise_error(PyExc_TypeError, "expected %s or an integer, got %s", name,
                     Py_TYPE(object)->tp_name);
}

bool float_argument(PyObject* object, kind k, word& out) {
  double value = PyFloat_AsDouble(object);
  if (value == -1.0 && PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
    PyErr_Clear();
    return raise_expected("a number", object);
  }
  out = 0;
  if (k == kind::f64) {
    std::memcpy(&out, &value, sizeof value);
  } else {
    float narrow = float(value);
    std::memcpy(&out, &narrow, sizeof narrow);
  }
  return true;
}

PyObject* read_number(kind k, const void* data) {
  static constexpr PyObject* (*readers[])(const void*) = {
      number_at<std::int8_t>,   number_at<std::uint8_t>,  number_at<std::int16_t>,
      number_at<std::uint16_t>, number_at<std::int32_t>,  number_at<std::uint32_t>,
      number_at<std::int64_t>,  number_at<std::uint64_t>, number_at<float>,
      number_at<double>};
  return readers[int(k)](data);
}

int write_number_slow(kind k, void* data, PyObject* value) {
  word converted;
  if (!(k >= kind::f32 ? float_argument(value, k, converted) : number_slow(value, k, converted)))
    return failed;
  store(data, converted, number_size(k));
  return 0;
}

}  // namespace halfwarp::bindings
