// SPDX-License-Identifier: Apache-2.0
// Messages of argument errors: converters say what was expected, their callers add where.
#pragma once

#include <concepts>

#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

// What a function returns that has set an error: nullptr, false or -1.
struct raised {
  template <class T>
  operator T*() const {
    return nullptr;
  }
  template <std::signed_integral T>
  operator T() const {
    return -1;
  }
  operator bool() const { return false; }
};

// Sets an error with text as PyUnicode_FromFormat takes it.
raised raise_error(PyObject* type, const char* format, ...);

// TypeError "expected <what>, got <type>".
raised raise_expected(const char* expected, PyObject* got);

// RuntimeError for a list that is shorter than the count that goes with it.
raised raise_short(word length, word count);

// Puts text (as PyUnicode_FromFormat takes it) before the message of the error that is set.
// An error that is not of the kinds that converters raise comes from code of the user, such as an
// `__index__`, and stays as it is.
raised add_context(const char* format, ...);

// The name of a Python parameter.
const char* parameter_name(const function& f, int position);

// Puts `name() argument 'parameter': ` before the message of the error that is set.
PyObject* raise_for_argument(const function& f, const param& p);

}  // namespace halfwarp::bindings
