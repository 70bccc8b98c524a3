// SPDX-License-Identifier: Apache-2.0
// Messages of argument errors.
#include "bindings/errors/errors.hpp"

#include <cstdarg>
#include <cstring>

namespace halfwarp::bindings {
namespace {

bool is_raised_by_converters(PyObject* type) {
  return type == PyExc_TypeError || type == PyExc_OverflowError || type == PyExc_ValueError ||
         type == PyExc_IndexError || type == PyExc_RuntimeError;
}

}  // namespace

raised raise_error(PyObject* type, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  PyErr_FormatV(type, format, arguments);
  va_end(arguments);
  return {};
}

raised raise_expected(const char* expected, PyObject* got) {
  return raise_error(PyExc_TypeError, "expected %s, got %s", expected, Py_TYPE(got)->tp_name);
}

raised raise_short(word length, word count) {
  return raise_error(PyExc_RuntimeError,
                     "List is too small: %llu < %llu; it needs as many elements as the count says",
                     length, count);
}

raised add_context(const char* format, ...) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  if (!is_raised_by_converters(type)) {
    PyErr_Restore(type, value, traceback);
    return {};
  }
  std::va_list arguments;
  va_start(arguments, format);
  const reference context{PyUnicode_FromFormatV(format, arguments)};
  va_end(arguments);
  if (context.get()) PyErr_Format(type, "%U%S", context.get(), value);
  Py_DECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  return {};
}

const char* parameter_name(const function& f, int position) {
  const char* name = f.names;
  while (position-- > 0) name += std::strlen(name) + 1;
  return name;
}

PyObject* raise_for_argument(const function& f, const param& p) {
  if (p.py >= 0) add_context("%s() argument '%s': ", f.name.c_str(), parameter_name(f, p.py));
  return nullptr;
}

}  // namespace halfwarp::bindings
