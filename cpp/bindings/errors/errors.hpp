// SPDX-License-Identifier: Apache-2.0
// Messages of argument errors. Converters raise what they expected; callers add function and
// argument.
#pragma once

#include <concepts>

#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

// Failure result after an error was set; converts to nullptr, false or -1.
struct raised {
  template <class T>
  operator T*() const {
    return nullptr;
  }
  template <std::signed_integral T>
  operator T() const {
    return failed;
  }
  operator bool() const { return false; }
};

// Raises an error; `format` as in PyUnicode_FromFormat.
raised raise_error(PyObject* type, const char* format, ...);

// Raises TypeError "expected <expected>, got <type>".
raised raise_expected(const char* expected, PyObject* got);

// Raises RuntimeError for a list that is shorter than its count argument.
raised raise_short(word length, word count);

// Prepends a text (`format` as in PyUnicode_FromFormat) to the message of the raised error. Leaves
// other error types unchanged: they come from user code, such as an `__index__`.
raised add_context(const char* format, ...);

// Returns the name of a Python parameter.
const char* parameter_name(const function& f, int position);

// Prepends `name() argument 'parameter': ` to the message of the raised error.
PyObject* raise_for_argument(const function& f, const param& p);

}  // namespace halfwarp::bindings
