// SPDX-License-Identifier: Apache-2.0
// Results without a code.
#include "bindings/conventions/raised_results.hpp"

#include <cerrno>
#include <cstring>

#include "bindings/converters/converters.hpp"
#include "bindings/exceptions/exceptions.hpp"

namespace halfwarp::bindings {
namespace {

bool negative_is_error(const library& lib) {
  return lib.raises->details && lib.raises->details->negative_is_error;
}

// A negative number is a status with its sign changed, or says that `errno` has the error.
std::int64_t status_of(std::int64_t number) { return number == -1 && errno ? errno : -number; }

// The return value of a function that returns no code; nullptr for an error. NULL is an empty text.
PyObject* returned(const function& f, word result) {
  if (f.f & returns_number) return PyLong_FromLongLong(std::int64_t(result));
  auto* text = reinterpret_cast<const char*>(result);
  return text_from(text ? text : "", text ? std::strlen(text) : 0);
}

}  // namespace

PyObject* result_or_raise(frame& c, word result) {
  PyObject* values[max_parameters + 1];
  int made = 0;
  if (returns_code(c.f)) {
    int code = int(result);
    auto after = c.lib.body_of(c.f).after;
    if (after && !after(c, code)) return nullptr;
    if (code) return raise_status(c.lib, c.f.name, code, result);
  } else {
    if (PyErr_Occurred()) return nullptr;  // there was nothing to call
    if (c.f.f & returns_number && std::int64_t(result) < 0 && negative_is_error(c.lib))
      return raise_status(c.lib, c.f.name, status_of(std::int64_t(result)), 0);
    if (!(c.f.f & returns_nothing) && !(values[made++] = returned(c.f, result))) return nullptr;
  }
  int outputs = c.f.n ? make_outputs(c, values + made) : 0;
  if (outputs < 0) {
    if (made) Py_DECREF(values[0]);
    return nullptr;
  }
  return unpacked(values, made + outputs);
}

}  // namespace halfwarp::bindings
