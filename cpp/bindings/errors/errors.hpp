// SPDX-License-Identifier: Apache-2.0
// Messages of argument errors: converters say what was expected, their callers add where.
#pragma once

#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

// TypeError "expected <what>, got <type>"; false.
bool raise_expected(const char* what, PyObject* got);

// Puts text (as PyUnicode_FromFormat takes it) before the message of the error that is set; false.
// An error that is not of the kinds that converters raise comes from code of the user, such as an
// `__index__`, and stays as it is.
bool add_context(const char* format, ...);

// The name of a Python parameter.
const char* parameter_name(const function& f, int position);

// Puts `name() argument 'parameter': ` before the message of the error that is set.
PyObject* raise_for_argument(const function& f, const param& p);

}  // namespace halfwarp::bindings
